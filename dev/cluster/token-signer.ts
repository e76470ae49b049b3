import { generateKeyPairSync, sign, verify } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import type { Random } from '../../src/random.ts';

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

/** Makes and knows service account tokens: JWTs as the TokenRequest API and the kubelet hand them out. */
export class TokenSigner {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** A token and when it ends, in seconds since 1970: both by one reading of the clock. */
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
    const input = `${part({ alg: 'ES256', kid: 'simulated' })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(input), this.#key('privateKey')).toString('base64url');
    return { token: `${input}.${signature}`, exp: claims.exp };
  }

  /** The claims of a token of ours that is not over. */
  read(token: string): ServiceAccountClaims | undefined {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const input = Buffer.from(`${header}.${payload}`);
    if (!verify('sha256', input, this.#key('publicKey'), Buffer.from(signature, 'base64url'))) return undefined;
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as ServiceAccountClaims;
    return claims.exp > this.#clock.now() / 1000 ? claims : undefined;
  }

  /** RFC 7518 3.4: the two numbers one after the other. */
  #key = (half: 'privateKey' | 'publicKey') => ({ key: this.#keys[half], dsaEncoding: 'ieee-p1363' as const });
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
