import { type CompactJws, parseCompactJws } from '../oauth/tokens/compact-jws.ts';
import type { BearerVerifier, TokenVerifier } from '../oauth/tokens/identity.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

export interface BearerVerifierParts {
  /** Verifies tokens that we issued. */
  readonly ours: TokenVerifier;
  /** Verifies tokens that somebody else issued. */
  readonly serviceAccounts: ServiceAccountTokens;
}

/**
 * The issuer that a bearer names decides who verifies it. A token of ours is judged by our verifier alone, so no answer
 * of the cluster can make up for its fault. Our verifier also refuses bearers that name no issuer. The caller has
 * checked the length of the bearer.
 */
export function createBearerVerifier(issuer: string, { ours, serviceAccounts }: BearerVerifierParts): BearerVerifier {
  const beginsAsOurs = createOwnClaimsCheck(issuer);
  return {
    verify(text, source) {
      if (beginsAsOurs(text)) return ours.verify(text);
      const known = serviceAccounts.known(text);
      if (known) return known;
      const jws = parseCompactJws(text);
      return jws && isForeign(jws, issuer) ? serviceAccounts.verify(text, jws, source) : ours.verify(text);
    },
  };
}

function isForeign({ claims }: CompactJws, issuer: string): boolean {
  const { iss } = claims;
  return typeof iss === 'string' && iss !== '' && iss !== issuer;
}

/**
 * The claims of our tokens begin with `iss`, so their text can be compared without decoding or copying it. Base64 turns
 * each three bytes into four characters, so the compared text is cut down to whole groups of three.
 */
function createOwnClaimsCheck(issuer: string): (text: string) => boolean {
  const beginning = Buffer.from(`{"iss":${JSON.stringify(issuer)},"`);
  const whole = beginning.subarray(0, beginning.length - (beginning.length % 3)).toString('base64url');
  return (text) => text.startsWith(whole, text.indexOf('.') + 1);
}
