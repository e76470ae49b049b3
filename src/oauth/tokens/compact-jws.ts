import { constants, type KeyObject, verify } from 'node:crypto';
import { parseStrictObject } from '../../runtime/text/strict-json.ts';

/** The signed text and its signature (RFC 7515 5.1). */
export interface Signed {
  readonly signingInput: string;
  readonly signature: Buffer;
}

/** A JWS in compact form, decoded; neither parsed nor verified. */
export interface DecodedJws extends Signed {
  readonly header: Buffer;
  readonly payload: Buffer;
}

/** A JWS in compact form that holds claims: parsed, not verified. */
export interface CompactJws extends Signed {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Only the characters of base64url; RFC 6750 2.1 allows more in a bearer token, but a JWT has no others. */
const THREE_PARTS = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/**
 * Parses a JWS. It must have three base64url parts that encode back to the same text, so that no token has a second spelling
 * (N-41). Header and claims must be JSON objects without repeated names (N-42).
 */
export function parseCompactJws(text: string): CompactJws | undefined {
  const parts = splitCompactJws(text);
  const header = parts && parseStrictObject(parts.header);
  const claims = parts && parseStrictObject(parts.payload);
  return header && claims
    ? { header, claims, signingInput: parts.signingInput, signature: parts.signature }
    : undefined;
}

/** Splits a text into three base64url parts; `undefined` if one is empty or is not the canonical encoding of its bytes. */
export function splitCompactJws(text: string): DecodedJws | undefined {
  const parts = THREE_PARTS.exec(text)?.slice(1).map(fromJwsPart);
  const [header, payload, signature] = parts ?? [];
  if (!header || !payload || !signature) return undefined;
  return { header, payload, signingInput: text.slice(0, text.lastIndexOf('.')), signature };
}

/** The bytes of a base64url part; `undefined` if it is not their canonical encoding. */
export function fromJwsPart(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

export const toJwsPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const MEMBERS: readonly string[] = ['alg', 'typ', 'kid'];

/**
 * Whether the algorithm is RS256 and the header has only the members `alg`, `typ` and `kid`. A header with any other member, such
 * as `jku` or `crit`, is refused, so no key is fetched from a URL in it (N-34, N-39, N-40).
 */
export const isPlainRs256 = (header: CompactJws['header']): boolean =>
  header['alg'] === 'RS256' && Object.keys(header).every((name) => MEMBERS.includes(name));

/** Verifies the signature. Always uses RS256 and not the algorithm of the header; the key has no other use (RFC 8725 3.1). */
export const isSigned = ({ signingInput, signature }: Signed, key: KeyObject): boolean =>
  verify('sha256', Buffer.from(signingInput), { key, padding: constants.RSA_PKCS1_PADDING }, signature);
