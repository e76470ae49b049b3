import { createHash } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import type { SigningKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { createSealedValues, type SealedValues } from './sealed-values.ts';

/** What a code says about the sign-in and the request that it was issued for (RFC 6749 4.1.2). Times are whole seconds. */
export interface AuthorizationCode {
  readonly clientId: string;
  /** `digestOf` the redirect address. */
  readonly redirect: string;
  readonly isRedirectNamed: boolean;
  readonly codeChallenge?: string;
  readonly nonce?: string;
  readonly scope?: string;
  readonly user: string;
  /** A digest of the user's password and state; another one at the redemption means that the user has changed. */
  readonly standing: string;
  /** The session that begins with the redemption. Each code has its own. */
  readonly sid: string;
  readonly issuedAt: number;
  readonly authTime: number;
}

export type AuthorizationCodes = SealedValues<AuthorizationCode>;

/** RFC 6749 4.1.2 recommends at most ten minutes. A browser follows the redirect at once. */
export const CODE_SECONDS = 60;

/** The codes of all replicas, under a key that is derived from the active signing key and goes with it (B-40). */
export const createAuthorizationCodes = (keys: Pick<SigningKeys, 'signingKey'>, clock: Clock): AuthorizationCodes =>
  createSealedValues('code+jwe', {
    clock,
    key: (kid) => {
      const signing = keys.signingKey(kid);
      return signing && { kid: signing.kid, key: keyOfCodes(signing) };
    },
  });

const keyOfCodes = derived((signing: SigningKey) => signing.derivedKey('authorization code'));

/** SHA-256 in base64url, which is also what S256 of a code verifier is (RFC 7636 4.2). */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
