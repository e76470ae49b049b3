import { parse } from 'yaml';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord } from './kube-object.ts';
import { checkDecoding } from './metadata.ts';
import type { ApiRequest } from './request.ts';
import { badRequest, unknownFormat, wrongType } from './status.ts';

/** The JSON object in a request body. */
export const parseJson = (body: Buffer): Record<string, unknown> => parseRecord(body, JSON.parse);

/** The YAML object in a request body. */
export const parseYaml = (body: Buffer): Record<string, unknown> => parseRecord(body, parse);

function parseRecord(body: Buffer, read: (text: string) => unknown): Record<string, unknown> {
  try {
    const parsed = read(body.toString());
    if (isRecord(parsed)) return parsed;
  } catch {
    // Refused below: the parser's error text would not be that of a real server anyway.
  }
  throw badRequest('the object provided is unrecognized (must be a JSON object)');
}

/** A body without a type is taken for JSON. Protobuf is not read here. */
function parseAsTyped({ headers, body }: Pick<ApiRequest, 'headers' | 'body'>): Record<string, unknown> {
  switch (mediaTypeOf(headers)) {
    case undefined:
    case 'application/json':
      return parseJson(body);
    case 'application/yaml':
      return parseYaml(body);
    default:
      throw unknownFormat();
  }
}

/** The type of a body, without its parameters. */
export const mediaTypeOf = (headers: ApiRequest['headers']): string | undefined =>
  headers['content-type']?.split(';')[0]?.trim();

/** The object in a request body. If it names its type, that must be the type of the path. Returned as it is stored. */
export function parseObject(
  request: Pick<ApiRequest, 'headers' | 'body'>,
  kind: ResourceKind,
): Record<string, unknown> {
  const parsed = parseAsTyped(request);
  const { kind: word = kind.kind, apiVersion = apiVersionOf(kind) } = parsed;
  if (word !== kind.kind || apiVersion !== apiVersionOf(kind)) throw wrongType(kind);
  checkDecoding(kind, parsed['metadata']);
  if (kind.name === 'secrets' && isRecord(parsed['data'])) Object.values(parsed['data']).forEach(checkBase64);
  return kind.conversion?.toStored(parsed) ?? parsed;
}

/** Throws a 400 with the position of the first invalid byte, like Go's decoder. */
function checkBase64(value: unknown): void {
  const text = String(value);
  const right = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/.exec(text)?.[0].length ?? 0;
  if (right === text.length) return;
  const [alphabet = ''] = /^[A-Za-z0-9+/]*/.exec(text) ?? [];
  throw badRequest(
    `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${alphabet.length}`,
  );
}
