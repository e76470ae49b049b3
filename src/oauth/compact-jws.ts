import { parseStrictObject } from './strict-json.ts';

/** A JWS in compact form, taken apart but not verified. */
export interface CompactJws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** RFC 7515 5.1: what the signature is over. */
  readonly signingInput: string;
  readonly signature: Buffer;
}

/** RFC 6750 2.1 allows more characters; a JWT has these. */
const THREE_PARTS = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/**
 * Takes exactly the texts that we could have made: three base64url parts that encode back to themselves, so no other
 * text stands for the same token (F5, N-41), with header and claims as JSON objects without repeated names (N-42).
 */
export function parseCompactJws(text: string): CompactJws | undefined {
  const parts = THREE_PARTS.exec(text)?.slice(1).map(decodePart);
  const [header, claims, signature] = parts ?? [];
  if (!header || !claims || !signature) return undefined;
  const headerObject = parseStrictObject(header);
  const claimsObject = parseStrictObject(claims);
  if (!headerObject || !claimsObject) return undefined;
  return { header: headerObject, claims: claimsObject, signingInput: text.slice(0, text.lastIndexOf('.')), signature };
}

function decodePart(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

export const toJwsPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
