import type { SigningKey } from '../keys/loaded-keys.ts';
import { toJwsPart } from './compact-jws.ts';

/** Clients keep a token in a cookie of at most 4,096 bytes. Half of that leaves room for the rest (N-17). */
const LONGEST_ISSUED_TOKEN = 2048;

/**
 * Signs a token that shows the user's groups. They are left out if the token would become too long with them: decisions use
 * the current groups of the user, and userinfo has all of them.
 */
export function signWithGroups(
  key: SigningKey,
  typ: string,
  claims: object,
  groups: readonly string[] | undefined,
): string {
  if (groups === undefined) return signToken(key, typ, claims);
  const input = signingInput(key, typ, { ...claims, groups });
  const fits = input.length + 1 + key.signatureLength <= LONGEST_ISSUED_TOKEN;
  return fits ? `${input}.${key.sign(input)}` : signToken(key, typ, claims);
}

/** A JWS in compact form, signed by RS256 (RFC 7515 7.1). */
export function signToken(key: SigningKey, typ: string, claims: object): string {
  const input = signingInput(key, typ, claims);
  return `${input}.${key.sign(input)}`;
}

const signingInput = (key: SigningKey, typ: string, claims: object): string =>
  `${toJwsPart({ alg: 'RS256', typ, kid: key.kid })}.${toJwsPart(claims)}`;
