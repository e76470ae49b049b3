import type { TokenFault } from '../oauth/tokens/identity.ts';

type RawClaims = Readonly<Record<string, unknown>>;

/** Exactly four parts. The cluster checks the last two. */
const SUBJECT = /^system:serviceaccount:[^:]+:[^:]+$/;

/**
 * Faults in the unverified claims of a token that are enough to refuse it without asking the cluster: it is not a
 * service account's, was not made for us, has expired, or never expires (like the old tokens in Secrets, which name no
 * audience either). No skew is allowed: whoever mounts a projected token replaces it when 80 % of its life is over.
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
