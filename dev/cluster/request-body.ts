import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord } from './kube-object.ts';
import { badRequest, wrongType } from './status.ts';

/** The JSON object in a request body. */
export function parseJson(body: Buffer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    if (isRecord(parsed)) return parsed;
  } catch {
    // It is refused below, because the parser's error text differs from a real server's anyway.
  }
  throw badRequest('the object provided is unrecognized (must be a JSON object)');
}

/** The object in a request body. If it names its type, that must be the type of the path. */
export function parseObject(body: Buffer, kind: ResourceKind): Record<string, unknown> {
  const parsed = parseJson(body);
  const { kind: word = kind.kind, apiVersion = apiVersionOf(kind) } = parsed;
  if (word !== kind.kind || apiVersion !== apiVersionOf(kind)) throw wrongType(kind);
  if (kind.plural === 'secrets' && isRecord(parsed['data'])) Object.values(parsed['data']).forEach(checkBase64);
  return parsed;
}

/** The message gives the position of the first byte that cannot be right, as Go's decoder does. */
function checkBase64(value: unknown): void {
  const text = String(value);
  const right = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/.exec(text)?.[0].length ?? 0;
  if (right === text.length) return;
  const [alphabet = ''] = /^[A-Za-z0-9+/]*/.exec(text) ?? [];
  throw badRequest(
    `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${alphabet.length}`,
  );
}
