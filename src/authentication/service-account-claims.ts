import type { TokenFault } from '../oauth/tokens/identity.ts';

type RawClaims = Readonly<Record<string, unknown>>;

/** Exactly four parts, of which the cluster judges the last two. */
const SUBJECT = /^system:serviceaccount:[^:]+:[^:]+$/;

/**
 * What a token says of itself, unverified, and is enough to refuse it without asking the cluster: not a service account's,
 * not made for us, over, or without an end (the tokens in Secrets of old, which name no audience either). No skew is
 * allowed: whoever mounts a projected token replaces it when 80 % of its life is over.
 */
export function claimsFault(
  claims: RawClaims,
  expected: { readonly audience: string; readonly nowMs: number },
): TokenFault | undefined {
  const { sub, aud, exp } = claims;
  const isForUs = Array.isArray(aud) ? aud.includes(expected.audience) : aud === expected.audience;
  if (typeof sub !== 'string' || !SUBJECT.test(sub) || !isForUs || !Number.isSafeInteger(exp)) return 'invalid';
  return expiresAtOf(claims) <= expected.nowMs ? 'expired' : undefined;
}

/** Wall-clock milliseconds; for claims without fault. */
export const expiresAtOf = ({ exp }: RawClaims): number => (exp as number) * 1000;
