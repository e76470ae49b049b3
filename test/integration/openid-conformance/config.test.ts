import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

let party: RelyingParty;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ party, stop } = await startRelyingParty());
});
afterAll(() => stop());

/** What OpenID Connect Discovery 3 demands of every provider. */
const REQUIRED = {
  authorization_endpoint: '/authorize',
  token_endpoint: '/token',
  userinfo_endpoint: '/userinfo',
  jwks_uri: '/keys',
};

describe('Config OP', () => {
  test('oidcc-discovery-endpoint-verification: the document has what is demanded, and tells what is not offered', async () => {
    const answer = await fetch(`${party.issuer}/.well-known/openid-configuration`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^application\/json/),
    ]);
    const metadata = (await answer.json()) as Record<string, readonly string[]>;
    const endpoints = Object.entries(REQUIRED).map(([name, path]) => [name, `${party.issuer}${path}`]);
    expect(metadata).toMatchObject({
      ...{ issuer: party.issuer, ...Object.fromEntries(endpoints) },
      ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
      ...{ request_parameter_supported: false, request_uri_parameter_supported: false },
      claims_parameter_supported: false,
    });
    expect(metadata['id_token_signing_alg_values_supported']).toContain('RS256');
    expect(metadata['grant_types_supported']).toContain('authorization_code');
    expect(metadata['scopes_supported']).toContain('openid');
    expect(metadata['claims_supported']).toContain('sub');
    expect(metadata['code_challenge_methods_supported']).toEqual(['S256']);
    expect(metadata).not.toHaveProperty('registration_endpoint');
    for (const value of Object.values(metadata)) if (Array.isArray(value)) expect(value).not.toEqual([]);
  });

  test('oidcc-discovery-endpoint-verification: the keys are public ones, each with kid, use and alg', async () => {
    const { keys } = (await (await fetch(`${party.issuer}/keys`)).json()) as { keys: Record<string, string>[] };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.any(String) });
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret);
    }
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
  });
});
