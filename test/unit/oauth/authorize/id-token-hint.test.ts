import { describe, expect, test } from 'vitest';
import { createIdTokenHints } from '../../../../src/oauth/authorize/id-token-hint.ts';
import { signToken } from '../../../../src/oauth/tokens/signed-token.ts';
import { testOptions } from '../test-server.ts';
import { newBrowserServer } from './sign-in-flow.ts';

const CLAIMS = { iss: testOptions.issuer, sub: 'alice', aud: 'web', sid: 's~1', exp: 1 };

/** What is read from a token with this type and these claims, which our own key signed. */
async function read(typ: string, change: object = {}) {
  const { keys } = await newBrowserServer();
  const key = keys.signingKey();
  if (!key) throw new Error('there is no key');
  return createIdTokenHints(testOptions, keys)(signToken(key, typ, { ...CLAIMS, ...change }));
}

describe('an ID token that is sent back', () => {
  test('B-13 tells user, client and session, although it has expired', async () => {
    expect(await read('JWT')).toEqual({ user: 'alice', clientId: 'web', sid: 's~1' });
  });

  test.each([
    ['at+jwt', {}],
    ['JWT', { iss: 'https://other.example.com/oauth' }],
    ['JWT', { aud: ['web'] }],
    ['JWT', { sub: 7 }],
    ['JWT', { sid: undefined }],
    ['JWT', { more: 'x'.repeat(9000) }],
  ])('B-13 tells nothing when it is not ours: %s %j', async (typ, change) => {
    expect(await read(typ, change)).toBeUndefined();
  });
});
