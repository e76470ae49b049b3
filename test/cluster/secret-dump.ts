import type { ControlPlane } from '../support/control-plane.ts';
import { NAMESPACE } from './installation.ts';

/** Their content is secret by design: anybody who can read them can sign tokens, or sign in. */
const SECRET_BY_DESIGN = ['gatehouse-signing-keys', 'gatehouse-first-administrator'];

interface Secret {
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** All other Secrets of the namespace, as an administrator of the cluster reads them. */
export async function dumpSecrets({ kubectl }: ControlPlane): Promise<readonly Secret[]> {
  const text = await kubectl(['-n', NAMESPACE, 'get', 'secrets', '-o', 'json', '--show-managed-fields']);
  const { items } = JSON.parse(text) as { items: Secret[] };
  return items.filter(({ metadata }) => !SECRET_BY_DESIGN.includes(metadata.name));
}

/** Every text in which something could be found: the object as it is, and its data decoded. */
export const textsOf = (secret: Secret): string[] => [
  JSON.stringify(secret),
  ...Object.values(secret.data ?? {}).map(decoded),
];

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1');

/** Every single string that the Secret's data holds: values as stored and decoded, and the names and texts of a JSON document. */
export function stringsOf({ data = {} }: Secret): string[] {
  return Object.values(data).flatMap((base64) => [base64, decoded(base64), ...jsonStrings(decoded(base64))]);
}

function jsonStrings(text: string): string[] {
  try {
    return stringsIn(JSON.parse(text));
  } catch {
    return [];
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...stringsIn(inner)]);
}
