import type { SigningKeys } from '../keys/signing-keys.ts';
import type { OAuthOptions } from '../options.ts';
import { isPlainRs256, isSigned, parseCompactJws } from '../tokens/compact-jws.ts';
import { ID_TYP } from '../tokens/id-token.ts';
import { LONGEST_TOKEN } from '../tokens/token-verifier.ts';

/** What we read from an ID token of ours. */
export interface IdTokenHint {
  readonly user: string;
  readonly clientId: string;
  readonly sid: string;
}

/**
 * Reads an ID token that a client sends back as a hint. It counts although it has expired (OpenID Connect Core 3.1.2.1,
 * RP-Initiated Logout 2). `undefined` if it is not ours, or its key has been removed since.
 */
export type IdTokenHints = (text: string | undefined) => IdTokenHint | undefined;

export const createIdTokenHints =
  ({ issuer }: Pick<OAuthOptions, 'issuer'>, keys: Pick<SigningKeys, 'verificationKey'>): IdTokenHints =>
  (text) => {
    const jws = text !== undefined && text.length <= LONGEST_TOKEN ? parseCompactJws(text) : undefined;
    if (!jws || !isPlainRs256(jws.header) || jws.header['typ'] !== ID_TYP) return undefined;
    const { kid } = jws.header;
    const key = typeof kid === 'string' ? keys.verificationKey(kid) : undefined;
    if (!key || !isSigned(jws, key)) return undefined;
    const { iss, sub, aud, sid } = jws.claims;
    const isOurs = iss === issuer && [sub, aud, sid].every((claim) => typeof claim === 'string');
    return isOurs ? { user: sub as string, clientId: aud as string, sid: sid as string } : undefined;
  };
