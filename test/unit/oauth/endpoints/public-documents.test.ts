import { describe, expect, test } from 'vitest';
import { createJwks } from '../../../../src/oauth/endpoints/public-documents.ts';
import { newKeyData } from '../../../../src/oauth/keys/signing-key-data.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { KEYS_SECRET, newTestServer, testOptions, until } from '../test-server.ts';

describe('the JWK Set', () => {
  test('N-45 has public members only', async () => {
    const { server } = await newTestServer();
    const { keys } = JSON.parse(server.keys().body.toString());
    expect(keys).toEqual([
      {
        kty: 'RSA',
        use: 'sig',
        alg: 'RS256',
        kid: expect.stringMatching(/^[\w-]{43}$/),
        n: expect.stringMatching(/^[\w-]{342}$/),
        e: 'AQAB',
      },
    ]);
  });

  test('N-45 is the same bytes under the same tag until the keys change', async () => {
    const { server, secrets } = await newTestServer();
    const before = server.keys();
    expect(server.keys()).toBe(before);
    expect(before.etag).toMatch(/^"[\w-]{22}"$/);
    secrets.put(KEYS_SECRET, await newKeyData(Date.now(), systemRandom));
    await until(() => server.keys() !== before);
    expect(server.keys().etag).not.toBe(before.etag);
  });

  test('N-45 is no empty set while there are no keys, which caches would keep, but a 503', () => {
    const keys = { publicKeys: () => [], fault: () => 'the signing keys are not loaded yet' };
    const read = createJwks(keys);
    expect(() => read()).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ status: 503, code: 'server_error' }) }),
    );
  });
});

describe('the metadata', () => {
  test('N-44 names what works and nothing else', async () => {
    const { server } = await newTestServer();
    expect(server.metadata().body.toString()).toBe(
      JSON.stringify({
        issuer: 'https://gatehouse.example.com/oauth',
        token_endpoint: 'https://gatehouse.example.com/oauth/token',
        userinfo_endpoint: 'https://gatehouse.example.com/oauth/userinfo',
        jwks_uri: 'https://gatehouse.example.com/oauth/keys',
        revocation_endpoint: 'https://gatehouse.example.com/oauth/revoke',
        introspection_endpoint: 'https://gatehouse.example.com/oauth/introspect',
        end_session_endpoint: 'https://gatehouse.example.com/oauth/logout',
        grant_types_supported: ['password', 'refresh_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
        revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
        introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        scopes_supported: ['openid', 'profile', 'email', 'groups', 'offline_access'],
        claims_supported: [
          ...['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'sid', 'at_hash'],
          ...['name', 'email', 'email_verified', 'locale', 'preferred_username', 'groups'],
        ],
      }),
    );
  });

  test('N-44 puts the endpoints under /oauth for an issuer that does not end in it', async () => {
    const { server } = await newTestServer({ issuer: 'https://gatehouse.example.com' });
    expect(JSON.parse(server.metadata().body.toString())).toMatchObject({
      issuer: 'https://gatehouse.example.com',
      token_endpoint: 'https://gatehouse.example.com/oauth/token',
    });
  });

  test('N-44 offers the method none only when there is a public client', async () => {
    const clients = testOptions.clients.filter((client) => !client.public);
    const { server } = await newTestServer({ clients });
    expect(JSON.parse(server.metadata().body.toString())).toMatchObject({
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
  });
});
