import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { isFitForRs256 } from '../oauth/keys/rsa-key-fitness.ts';
import type { CompactJws } from '../oauth/tokens/compact-jws.ts';

/** A public key of the cluster. It verifies one algorithm, whatever a token's header asks for (RFC 8725 3.1). */
interface PublishedKey {
  readonly alg: string;
  readonly hash: string;
  readonly input: VerifyKeyObjectInput;
  /** Whether one verification takes longer than all the rest of a request. */
  readonly isSlow: boolean;
}

export interface PublishedKeys {
  /** By `kid`; at least one. */
  readonly keys: ReadonlyMap<string, PublishedKey>;
  /** The names of entries that cannot be used. */
  readonly unfit: readonly string[];
}

type Jwk = Parameters<typeof isFitForRs256>[0];

/** RFC 7518 3.4: one algorithm for each curve. */
const CURVES: Readonly<Record<string, Pick<PublishedKey, 'alg' | 'hash' | 'isSlow'>>> = {
  'P-256': { alg: 'ES256', hash: 'sha256', isSlow: false },
  'P-384': { alg: 'ES384', hash: 'sha384', isSlow: true },
  'P-521': { alg: 'ES512', hash: 'sha512', isSlow: true },
};
/** The cost grows with the square: 4096 bits take 0.1 ms, as P-256 does; P-384 takes 1 ms, P-521 2 ms. */
const MOST_QUICK_BITS = 4096;

/**
 * The keys of a JWK set (RFC 7517 5) that can verify service account tokens: RSA for RS256 and the curves above, which
 * is all that kube-apiserver signs with. `undefined` when the document is no such set, or has no such key.
 */
export function parsePublishedKeys(document: unknown): PublishedKeys | undefined {
  const { keys: entries } = (document ?? {}) as { keys?: unknown };
  if (!Array.isArray(entries)) return undefined;
  const keys = new Map<string, PublishedKey>();
  const unfit: string[] = [];
  for (const entry of entries as unknown[]) {
    const { kid } = (entry ?? {}) as { kid?: unknown };
    const key = typeof kid === 'string' ? toPublishedKey(entry as Jwk) : undefined;
    const known = keys.get(String(kid));
    // With one name for two keys it is unclear which is meant. One key that is listed twice is fine.
    if (!key || (known && !known.input.key.equals(key.input.key))) unfit.push(String(kid).slice(0, 100));
    else keys.set(kid as string, key);
  }
  return keys.size > 0 ? { keys, unfit } : undefined;
}

const verifyInPool = promisify(verify);

/**
 * Whether a token was signed with the key that its header names; `undefined` when no key has that name. For a slow key
 * it returns a function that checks in the thread pool.
 */
export function isSignedByOne(
  { keys }: PublishedKeys,
  { header, signingInput, signature }: CompactJws,
): boolean | (() => Promise<boolean>) | undefined {
  const { kid, alg } = header;
  if (typeof kid !== 'string') return false;
  const key = keys.get(kid);
  if (!key) return undefined;
  if (key.alg !== alg) return false;
  const { hash, input, isSlow } = key;
  if (isSlow) return () => verifyInPool(hash, Buffer.from(signingInput), input, signature);
  return verify(hash, Buffer.from(signingInput), input, signature);
}

function toPublishedKey(jwk: Jwk): PublishedKey | undefined {
  try {
    return jwk.kty === 'RSA' ? toRsaKey(jwk) : jwk.kty === 'EC' ? toCurveKey(jwk) : undefined;
  } catch {
    return undefined; // the members are not a key, or have other types
  }
}

function toRsaKey(jwk: Jwk): PublishedKey | undefined {
  const { n, e } = jwk as { n: string; e: string };
  const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
  if (!isFitForRs256(jwk, key)) return undefined;
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const input = { key, padding: constants.RSA_PKCS1_PADDING };
  return { alg: 'RS256', hash: 'sha256', input, isSlow: modulusLength > MOST_QUICK_BITS };
}

function toCurveKey(jwk: Jwk): PublishedKey | undefined {
  const { crv, x, y, use = 'sig' } = jwk as { crv: string; x: string; y: string; use?: string };
  const curve = CURVES[crv];
  if (!curve || use !== 'sig' || (jwk.alg ?? curve.alg) !== curve.alg) return undefined;
  const key = createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
  // RFC 7518 3.4: the signature is two numbers of the curve's length, one after the other.
  return { ...curve, input: { key, dsaEncoding: 'ieee-p1363' } };
}
