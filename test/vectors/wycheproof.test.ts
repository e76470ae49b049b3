import { createPublicKey, createSecretKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { JWK } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SigningKeys } from '../../src/oauth/keys/signing-keys.ts';
import type { OAuthOptions } from '../../src/oauth/options.ts';
import { ACCESS } from '../../src/oauth/tokens/claims.ts';
import { toJwsPart } from '../../src/oauth/tokens/compact-jws.ts';
import { createTokenCheck, type TokenCheck } from '../../src/oauth/tokens/token-verifier.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { readVectors, type Vector, wycheproofFolder } from '../support/wycheproof.ts';
import { isTextSignedByHmac, verifyInSteps } from './verification-steps.ts';

const ISSUER = 'https://gatehouse.example.com/oauth';

let folder: string;
beforeAll(async () => {
  folder = await wycheproofFolder();
});

/** How many vectors came to what, as `valid accepted`, `invalid text` and so on. */
async function tally(vectors: readonly Vector[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const vector of vectors) {
    const outcome = `${vector.isValid ? 'valid' : 'invalid'} ${await verifyInSteps(vector)}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

async function invalidAccepted(vectors: readonly Vector[]): Promise<readonly string[]> {
  const accepted = [];
  for (const vector of vectors) {
    if (!vector.isValid && (await verifyInSteps(vector)) === 'accepted')
      accepted.push(`${vector.id} ${vector.comment}`);
  }
  return accepted;
}

/** The whole check of access tokens, for a server that would take any `kid` for this key. */
function wholeCheck(jwk: JWK): TokenCheck {
  const keys = { verificationKey: () => toKey(jwk) } as unknown as SigningKeys;
  const options: OAuthOptions = {
    platform: 'gatehouse',
    issuer: ISSUER,
    accessTokenMaxAgeSeconds: 7200,
    accessTokenInactivityTimeoutSeconds: 7200,
    sessionMaxAgeSeconds: 86_400,
    browserSessionMaxAgeSeconds: 43_200,
    browserSessionIdleSeconds: 7200,
    refreshReplayWindowSeconds: 30,
    maximumClockSkewSeconds: 10,
    multipleLogin: true,
    maxBearerBytes: 8192,
    clients: [{ name: 'console', public: false, grantTypes: [], redirectURIs: [], postLogoutRedirectURIs: [] }],
    clientThrottle: { client: { limit: 10, windowMs: 60_000 }, address: { limit: 60, windowMs: 60_000 } },
  };
  return createTokenCheck(ACCESS, options, { keys, clock: new FakeClock() });
}

/** Without our own reading, which would refuse many; `undefined` for what is no key at all. */
function toKey(jwk: JWK): KeyObject | undefined {
  try {
    const secret = typeof jwk.k === 'string' ? Buffer.from(jwk.k, 'base64url') : undefined;
    return secret ? createSecretKey(secret) : createPublicKey({ key: { ...jwk }, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/**
 * Valid vectors that we refuse: JSON serializations and empty payloads are no text of ours, and RS256 is our only
 * algorithm. The counts are exact, so that a step that stops working, or starts to refuse too much, is seen.
 */
const FILES = {
  json_web_signature_test: {
    'invalid header': 89,
    'invalid key': 3,
    'invalid signature': 216,
    'invalid text': 47,
    'valid accepted': 7,
    'valid header': 31,
    'valid text': 8,
  },
  json_web_key_test: {
    'invalid header': 17,
    'invalid key': 2,
    'invalid text': 2,
    'valid accepted': 1,
    'valid header': 4,
  },
  json_web_crypto_test: {
    'invalid header': 10,
    'invalid key': 1,
    'invalid signature': 3,
    'invalid text': 63,
    'valid accepted': 1,
    'valid header': 3,
    'valid text': 2,
  },
  json_web_encryption_test: { 'invalid text': 74, 'valid text': 65 },
};

describe.each(Object.entries(FILES))('the vectors of %s', (name, expected) => {
  test('N-43 R-13 no invalid one is accepted, without a waiver', async () => {
    expect(await invalidAccepted(await readVectors(folder, name))).toEqual([]);
  });

  test('N-43 each is accepted, or refused at its step', async () => {
    expect(await tally(await readVectors(folder, name))).toEqual(expected);
  });

  test('N-43 none is an access token, whatever its key', async () => {
    for (const { id, text, keys } of await readVectors(folder, name)) {
      for (const key of keys) expect([id, wholeCheck(key)(text)]).toEqual([id, { fault: 'invalid' }]);
    }
  });
});

test('A-21 every encrypted vector is refused by its text, before any key', async () => {
  const files = ['json_web_crypto_test', 'json_web_encryption_test'];
  const vectors = (await Promise.all(files.map((name) => readVectors(folder, name)))).flat();
  const encrypted = vectors.filter(({ text }) => text.split('.').length === 5 || text.includes('"ciphertext"'));
  expect(encrypted.length).toBeGreaterThan(150);
  for (const vector of encrypted) expect([vector.id, await verifyInSteps(vector)]).toEqual([vector.id, 'text']);
});

/** The texts of both are well-formed tokens with good MACs; the padding that their comments speak of is not in them. */
const WAIVED = ['367 invalidBase64Padding', '370 invalidBase64PaddingInPayload'];

test('N-43 N-41 of the vectors with an HMAC, our rules for texts accept no invalid one but the two that are well-formed', async () => {
  const vectors = await readVectors(folder, 'json_web_signature_test');
  const ofKeyForMacs = vectors.filter(({ keys }) => keys[0]?.alg === 'HS256' && keys[0].use === 'sig');
  const accepted = ofKeyForMacs.filter(isTextSignedByHmac);
  expect(accepted.filter(({ isValid }) => isValid).map(({ id }) => id)).toEqual([1, 348, 352, 357, 358, 359, 376, 377]);
  expect(accepted.filter(({ isValid }) => !isValid).map(({ id, comment }) => `${id} ${comment}`)).toEqual(WAIVED);
});

test('a token of our form is accepted by the same steps and the same whole check', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  const now = Math.floor(new FakeClock().now() / 1000);
  const claims = {
    iss: ISSUER,
    sub: 'alice',
    aud: [ISSUER],
    client_id: 'console',
    jti: 'j',
    sid: 's',
    iat: now,
    exp: now + 9,
  };
  const header = toJwsPart({ alg: 'RS256', typ: 'at+jwt', kid: 'k' });
  const input = `${header}.${toJwsPart({ ...claims, token_type: 'access_token' })}`;
  const text = `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
  expect(await verifyInSteps({ text, keys: [jwk] })).toBe('accepted');
  expect(wholeCheck(jwk)(text)).toMatchObject({ claims, kid: 'k' });
});
