/** The claims that both types of token have. Times are whole seconds since 1970. */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly client_id: string;
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly sid: string;
  /** A keyed digest of the password hash at the sign-in. If the current digest differs, the password was changed. */
  readonly pwd?: string;
  readonly scope?: string;
}

export interface RefreshClaims extends TokenClaims {
  readonly gen: number;
  readonly auth_time: number;
}

/** The two types of token, with the header and the claim that distinguish them (RFC 8725 3.11, 3.12). */
export const ACCESS = { typ: 'at+jwt', tokenType: 'access_token' } as const;
export const REFRESH = { typ: 'rt+jwt', tokenType: 'refresh_token' } as const;

export type TokenType = typeof ACCESS | typeof REFRESH;

type RawClaims = Readonly<Record<string, unknown>>;

/** The claims, if all claims that our tokens share are present and have the right types (N-38); else `undefined`. */
export function toTokenClaims(raw: RawClaims): TokenClaims | undefined {
  const { iss, sub, aud, client_id, exp, iat, jti, sid, pwd, scope } = raw;
  const strings = [iss, sub, client_id, jti, sid].every(isText) && [pwd, scope].every(isTextOrAbsent);
  const audience = Array.isArray(aud) && aud.every(isText);
  return strings && audience && isTime(exp) && isTime(iat) && isTimeOrAbsent(raw['nbf'])
    ? (raw as unknown as TokenClaims)
    : undefined;
}

/** The claims, if they are those of a refresh token; else `undefined`. */
export function toRefreshClaims(claims: TokenClaims): RefreshClaims | undefined {
  const { gen, auth_time } = claims as Partial<RefreshClaims>;
  return isTime(gen) && isTime(auth_time) ? (claims as RefreshClaims) : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value);
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTimeOrAbsent = (value: unknown): boolean => value === undefined || isTime(value);
