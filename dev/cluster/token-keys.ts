import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

/** The algorithms with which kube-apiserver signs service account tokens. */
export type TokenAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;
const HASHES = { RS256: 'sha256', ES256: 'sha256', ES384: 'sha384', ES512: 'sha512' } as const;

/** RFC 7518 3.4: the two numbers of an ECDSA signature one after the other. RSA ignores it. */
const RAW = { dsaEncoding: 'ieee-p1363' } as const;

/** One key pair for service account tokens, named and published as a real server does. */
export class TokenKey {
  readonly kid: string;
  readonly alg: TokenAlgorithm;
  readonly #publicKey: KeyObject;
  readonly #privateKey: KeyObject;

  constructor(alg: TokenAlgorithm) {
    const pair =
      alg === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: CURVES[alg] });
    this.alg = alg;
    this.#publicKey = pair.publicKey;
    this.#privateKey = pair.privateKey;
    const der = pair.publicKey.export({ format: 'der', type: 'spki' });
    this.kid = createHash('sha256').update(der).digest('base64url');
  }

  /** A compact JWS over these claims. */
  sign(claims: object): string {
    const input = `${part({ alg: this.alg, kid: this.kid })}.${part(claims)}`;
    const signature = sign(HASHES[this.alg], Buffer.from(input), { key: this.#privateKey, ...RAW });
    return `${input}.${signature.toString('base64url')}`;
  }

  verifies(input: string, signature: string): boolean {
    const key = { key: this.#publicKey, ...RAW };
    return verify(HASHES[this.alg], Buffer.from(input), key, Buffer.from(signature, 'base64url'));
  }

  /** Its entry in the published set, members in a real server's order. */
  get jwk(): object {
    const { kty, crv, ...numbers } = this.#publicKey.export({ format: 'jwk' });
    return { use: 'sig', kty, kid: this.kid, ...(crv && { crv }), alg: this.alg, ...numbers };
  }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
