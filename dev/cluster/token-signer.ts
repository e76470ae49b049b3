import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { type TokenAlgorithm, TokenKey } from './token-keys.ts';

/** Who a service account token was made for. */
export interface TokenAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The claims of a service account token, in a real server's order. Times are seconds. */
export interface ServiceAccountClaims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly iss: string;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
  };
  readonly nbf: number;
  readonly sub: string;
}

interface IssuedToken {
  readonly token: string;
  readonly exp: number;
}

/** `iss` of every token, and the audience of the server itself. */
export const ISSUER = 'https://kubernetes.default.svc';

/** Makes and verifies service account tokens, which are JWTs like those of the TokenRequest API. */
export class TokenSigner {
  /** The last key signs, and all keys verify. */
  #keys: readonly TokenKey[] = [new TokenKey('ES256')];
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Makes a token. Returns it with its expiry in seconds since 1970. */
  issue(account: TokenAccount, { aud, lifeSeconds }: { aud: readonly string[]; lifeSeconds: number }): IssuedToken {
    const { namespace, name, uid } = account;
    const iat = Math.floor(this.#clock.now() / 1000);
    const claims: ServiceAccountClaims = {
      aud,
      exp: iat + lifeSeconds,
      iat,
      iss: ISSUER,
      jti: this.#random.bytes(16).toString('hex'),
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: iat,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const token = this.#keys.at(-1)!.sign(claims);
    return { token, exp: claims.exp };
  }

  /** The claims of a token that this server made and that has not expired. */
  read(token: string): ServiceAccountClaims | undefined {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const { kid } = parsed(header) as { kid?: unknown };
    const key = this.#keys.find((candidate) => candidate.kid === kid);
    if (!key?.verifies(`${header}.${payload}`, signature)) return undefined;
    const claims = parsed(payload) as ServiceAccountClaims;
    return claims.exp > this.#clock.now() / 1000 ? claims : undefined;
  }

  /** Makes a new key, which signs from now on. The others still verify. Returns its `kid`. */
  addKey(alg: TokenAlgorithm): string {
    const key = new TokenKey(alg);
    this.#keys = [...this.#keys, key];
    return key.kid;
  }

  /** Drops all keys except the one that signs. */
  retireKeys(): void {
    this.#keys = this.#keys.slice(-1);
  }

  /** The published part of the keys (RFC 7517 5). */
  jwks = (): object => ({ keys: this.#keys.map(({ jwk }) => jwk) });
}

function parsed(part: string): object {
  try {
    return (JSON.parse(Buffer.from(part, 'base64url').toString()) as object | null) ?? {};
  } catch {
    return {};
  }
}
