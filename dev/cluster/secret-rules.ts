import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject } from './kube-object.ts';
import { badRequest, invalid } from './status.ts';

/** What a real server asks of a Secret: data in base64, and a type that stays. Other kinds pass. */
export function checkSecret(kind: ResourceKind, body: Record<string, unknown>, stored?: KubeObject): void {
  if (kind.plural !== 'secrets') return;
  for (const value of Object.values(isRecord(body['data']) ? body['data'] : {})) checkBase64(String(value));
  if (!stored || body['type'] === stored['type']) return;
  const message = `Invalid value: ${JSON.stringify(body['type'])}: field is immutable`;
  throw invalid({ ...kind, name: stored.metadata.name }, [{ field: 'type', reason: 'FieldValueInvalid', message }]);
}

/** The message counts to the first byte that cannot be right, as Go's decoder does. */
function checkBase64(text: string): void {
  const right = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/.exec(text)?.[0].length ?? 0;
  if (right === text.length) return;
  const [alphabet = ''] = /^[A-Za-z0-9+/]*/.exec(text) ?? [];
  throw badRequest(
    `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${alphabet.length}`,
  );
}
