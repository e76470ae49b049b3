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
 * Chooses the verifier of a bearer token by the issuer that the token names. Our verifier alone judges a token of ours, so
 * the cluster cannot make a faulty one valid. Our verifier also refuses tokens that name no issuer. The caller has checked
 * the length of the token.
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
 * Recognizes a token of ours by the beginning of its claims, which is `iss`, without decoding or copying it. Base64 turns
 * three bytes into four characters, so the compared beginning is cut down to whole groups of three bytes.
 */
function createOwnClaimsCheck(issuer: string): (text: string) => boolean {
  const beginning = Buffer.from(`{"iss":${JSON.stringify(issuer)},"`);
  const whole = beginning.subarray(0, beginning.length - (beginning.length % 3)).toString('base64url');
  return (text) => text.startsWith(whole, text.indexOf('.') + 1);
}
