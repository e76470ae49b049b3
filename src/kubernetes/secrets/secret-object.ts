import type { StoredSecret } from '../../secret-store.ts';
import { isKubernetesObject } from '../checked-object.ts';
import type { KubernetesObject } from '../object.ts';

export function toStoredSecret(object: KubernetesObject): StoredSecret {
  const data = (object['data'] ?? {}) as Record<string, unknown>;
  const decoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(String(text), 'base64')] as const);
  return { data: Object.fromEntries(decoded), version: object.metadata.resourceVersion };
}

/** Throws for anything but a Secret. The message never quotes its content. */
export function toSecretObject(value: unknown): KubernetesObject {
  if (!isKubernetesObject(value)) throw new Error('the API server answered with something that is no Secret');
  return value;
}

export function encodeData(data: Readonly<Record<string, Buffer>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, bytes.toString('base64')]));
}
