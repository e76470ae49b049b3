import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { inNamespace, unique } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const KEYS = '/openid/v1/jwks';
const JWK_SET = 'application/jwk-set+json';

export function describeIssuerKeys(suite: Suite): void {
  const read = async (accept = JWK_SET) => {
    const { status, headers, text } = await suite.api.get(KEYS, { headers: { accept } });
    return { status, headers, text, set: JSON.parse(text) as { keys: JWK[] } };
  };
  const newToken = async (): Promise<string> => {
    const accounts = inNamespace(await suite.api.newNamespace(), 'serviceaccounts');
    const name = unique('robot');
    await suite.api.create(accounts, { metadata: { name } });
    return (await suite.api.post(`${accounts}/${name}/token`, { spec: { audiences: ['ours'] } })).body.status.token;
  };

  describe('the keys of service account tokens', () => {
    test('are a JWK set that caches may keep for an hour', async () => {
      const { status, headers, set } = await read();
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        JWK_SET,
        'public, max-age=3600',
      ]);
      expect(Object.keys(set)).toEqual(['keys']);
      for (const { use, kid, alg } of set.keys)
        expect({ use, kid, alg }).toEqual({
          use: 'sig',
          kid: expect.stringMatching(/^[\w-]{43}$/),
          alg: expect.stringMatching(/^(RS256|ES256|ES384|ES512)$/),
        });
    });

    test('verify a new token, whose header has the name and the algorithm of one and nothing more', async () => {
      const token = await newToken();
      const { set } = await read();
      const header = decodeProtectedHeader(token);
      const key = set.keys.find(({ kid }) => kid === header.kid);
      expect(header).toEqual({ alg: key?.alg, kid: key?.kid });
      await expect(jwtVerify(token, createLocalJWKSet(set), { audience: 'ours' })).resolves.toBeDefined();
    });

    test('are given in their own media type alone', async () => {
      expect((await read('*/*')).headers['content-type']).toBe(JWK_SET);
      const { status, set } = await read('application/json');
      const message = `406: Not Acceptable\n\nAvailable representations: ${JWK_SET}`;
      expect([status, set]).toEqual([406, failure(406, 'NotAcceptable', message, {})]);
    });

    test('are not for everybody', async () => {
      const { status, body } = await suite.api.get(KEYS, { token: suite.target.powerlessToken });
      const message = `forbidden: User "nobody" cannot get path "${KEYS}"`;
      expect([status, body]).toEqual([403, failure(403, 'Forbidden', message, {})]);
    });

    test('are only read', async () => {
      const message = 'the server does not allow this method on the requested resource';
      const { status, body } = await suite.api.post(KEYS, {});
      expect([status, body]).toEqual([405, failure(405, 'MethodNotAllowed', message, {})]);
    });
  });
}
