import { describe, expect, test } from 'vitest';
import { checkAuthorizationRequest } from '../../../../src/oauth/authorize/authorization-request.ts';
import type { Client } from '../../../../src/oauth/options.ts';
import { testOptions } from '../test-server.ts';

const CALLBACK = 'https://app.example.com/callback?tenant=1';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'; // RFC 7636 appendix B

const client = (name: string, more: Partial<Client>): Client => ({
  ...{ name, public: false, secret: 'made-up-secret', grantTypes: ['authorization_code', 'refresh_token'] },
  ...{ redirectURIs: [CALLBACK], postLogoutRedirectURIs: [] },
  ...more,
});

const options = {
  clients: [
    ...testOptions.clients,
    client('web', {}),
    client('cli', { public: true, redirectURIs: ['http://127.0.0.1/cb', 'http://[::1]:8000', 'com.example.app:/cb'] }),
    client('limited', { grantTypes: ['refresh_token'] }),
  ],
};

const check = (parameters: Record<string, string> | string) =>
  checkAuthorizationRequest(
    typeof parameters === 'string' ? parameters : `${new URLSearchParams(parameters)}`,
    options,
  );

const GOOD = { client_id: 'web', redirect_uri: CALLBACK, response_type: 'code', state: 's/1' };
const PUBLIC = { ...GOOD, client_id: 'cli', redirect_uri: 'http://127.0.0.1:40123/cb' };
const PROOF = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

const page = (fault: string) => ({ kind: 'page', fault });
/** An error that goes to the client, with the state. */
const error = (code: string) => ({
  kind: 'error',
  error: { code, description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/) },
  to: { redirectURI: CALLBACK, responseMode: 'query', state: 's/1' },
});

describe('an authorization request', () => {
  test('is what the client asked for', () => {
    expect(check({ ...GOOD, ...PROOF, nonce: 'n', scope: 'openid email openid nonsense', login_hint: 'ada' })).toEqual({
      kind: 'ok',
      client: expect.objectContaining({ name: 'web' }),
      request: {
        ...{ clientId: 'web', redirectURI: CALLBACK, isRedirectNamed: true, responseMode: 'query', state: 's/1' },
        ...{ scope: 'openid email', nonce: 'n', codeChallenge: CHALLENGE },
      },
      prompting: {
        ...{ isSilent: false, wantsPassword: false, wantsAccount: false, wantsConsent: false },
        ...{ loginHint: 'ada', locales: [] },
      },
    });
  });

  test.each([
    ['client_id=web&client_id=web', 'ambiguous'],
    [`client_id=web&redirect_uri=${encodeURIComponent(CALLBACK)}&redirect_uri=x`, 'ambiguous'],
    ['client_id=web&state=%zz', 'malformed'],
    [`client_id=web${'&a'.repeat(64)}`, 'malformed'],
  ])('B-01 is refused by a page when %s', (query, fault) => {
    expect(check(query)).toEqual(page(fault));
  });

  test('B-01 is refused at the client when another parameter comes twice, even an unknown one', () => {
    const query = new URLSearchParams(GOOD).toString();
    expect(check(`${query}&scope=openid&scope=openid`)).toEqual(error('invalid_request'));
    expect(check(`${query}&extra=1&extra=2`)).toEqual(error('invalid_request'));
    expect(check(`${query}&state=other`)).toMatchObject({ to: { redirectURI: CALLBACK } });
    expect(check(`${query}&state=other`)).not.toHaveProperty('to.state');
  });

  test.each([{}, { client_id: '' }, { client_id: 'nobody' }, { client_id: 'console' }])(
    'B-02 is refused by a page without a client that has redirect addresses: %j',
    (change) => {
      const { client_id: _, ...rest } = GOOD;
      expect(check({ ...rest, ...(change as Record<string, string>) })).toEqual(page('unknown_client'));
    },
  );

  test.each([
    'https://app.example.com/callback',
    'https://app.example.com/callback?tenant=1&x=1',
    'https://app.example.com:443/callback?tenant=1',
    'HTTPS://app.example.com/callback?tenant=1',
    'https://app.example.com/callback?tenant=1#f',
    'https://app.example.com/x/../callback?tenant=1',
    'https://app.example.com%2f@evil.example/callback?tenant=1',
    'http://127.0.0.1:8000/cb',
  ])('B-03 is refused by a page with another address: %s', (redirect_uri) => {
    expect(check({ ...GOOD, redirect_uri })).toEqual(page('unknown_redirect'));
  });

  test.each([
    ['http://127.0.0.1:1/cb', true],
    ['http://127.0.0.1/cb', true],
    ['http://[::1]:65000', true],
    ['com.example.app:/cb', true],
    ['http://127.0.0.1:1/cb2', false],
    ['http://127.0.0.1:1/cb?x', false],
    ['http://127.0.0.1:123456/cb', false],
    ['http://127.0.0.1:65536/cb', false],
    ['http://localhost:1/cb', false],
    ['https://127.0.0.1:1/cb', false],
    ['http://127.0.0.1.evil.example/cb', false],
    ['http://127.0.0.1:1@evil.example/cb', false],
    ['com.example.app:1/cb', false],
  ])('B-03 of a native app may have another port on loopback, and nothing else: %s', (redirect_uri, isGood) => {
    expect(check({ ...PUBLIC, ...PROOF, redirect_uri }).kind).toBe(isGood ? 'ok' : 'page');
  });

  test('B-03 may leave the address out when there is one, and no ID token is wanted', () => {
    const { redirect_uri: _, ...rest } = GOOD;
    expect(check(rest)).toMatchObject({ kind: 'ok', request: { redirectURI: CALLBACK, isRedirectNamed: false } });
    expect(check({ ...rest, scope: 'openid' })).toEqual(page('unknown_redirect'));
    expect(check({ ...rest, client_id: 'cli' })).toEqual(page('unknown_redirect'));
  });

  test.each([
    ['B-04', { response_type: '' }, 'invalid_request'],
    ['B-04', { response_type: 'token' }, 'unsupported_response_type'],
    ['B-04', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['B-04', { client_id: 'limited' }, 'unauthorized_client'],
    ['B-05', { response_mode: 'fragment' }, 'invalid_request'],
    ['B-07', { code_challenge: CHALLENGE }, 'invalid_request'],
    ['B-07', { ...PROOF, code_challenge_method: 'plain' }, 'invalid_request'],
    ['B-07', { ...PROOF, code_challenge: `${CHALLENGE}=` }, 'invalid_request'],
    ['B-07', { ...PROOF, code_challenge: CHALLENGE.slice(1) }, 'invalid_request'],
    ['B-07', { code_challenge_method: 'S256' }, 'invalid_request'],
    ['B-10', { request: 'e30.e30.' }, 'request_not_supported'],
    ['B-10', { request_uri: 'https://app.example.com/r' }, 'request_uri_not_supported'],
    ['B-10', { registration: '{}' }, 'registration_not_supported'],
    ['B-11', { prompt: 'none login' }, 'invalid_request'],
    ['B-11', { prompt: 'create' }, 'invalid_request'],
    ['B-12', { max_age: '-1' }, 'invalid_request'],
    ['B-12', { max_age: '1.5' }, 'invalid_request'],
    ['B-14', { nonce: 'n'.repeat(513) }, 'invalid_request'],
    ['B-14', { nonce: 'a\nb' }, 'invalid_request'],
  ])('%s is refused at the client with %j', (_, change, code) => {
    expect(check({ ...GOOD, ...(change as Record<string, string>) })).toEqual(error(code));
  });

  test('B-14 has a state of 2 KiB at most; a longer one is not returned', () => {
    expect(check({ ...GOOD, state: 'ü'.repeat(1024) }).kind).toBe('ok');
    const refused = check({ ...GOOD, state: `${'ü'.repeat(1024)}x` });
    expect(refused).toMatchObject({ kind: 'error', error: { code: 'invalid_request' } });
    expect(refused).not.toHaveProperty('to.state');
  });

  test('B-05 may ask for a form', () => {
    expect(check({ ...GOOD, response_mode: 'form_post' })).toMatchObject({ request: { responseMode: 'form_post' } });
  });

  test('B-06 of a public client needs a challenge, that of a confidential one does not', () => {
    expect(check(PUBLIC)).toMatchObject({ kind: 'error', error: { code: 'invalid_request' } });
    expect([check({ ...PUBLIC, ...PROOF }).kind, check(GOOD).kind]).toEqual(['ok', 'ok']);
  });

  test('B-08 B-09 ignores scopes and parameters that it does not know', () => {
    const unknown = {
      scope: 'nonsense',
      access_type: 'offline',
      connector_id: 'x',
      hd: 'y',
      resource: 'z',
      claims: '{}',
    };
    const checked = check({ ...GOOD, ...unknown, display: 'popup', acr_values: '1', ui_locales: 'zh-CN en' });
    expect(checked).toMatchObject({ kind: 'ok', prompting: { locales: ['zh-CN', 'en'] } });
    expect(checked).not.toHaveProperty('request.scope');
  });

  test('B-11 B-12 may be silent, or want the password, which the page asks for in any case', () => {
    expect(check({ ...GOOD, prompt: 'none' })).toMatchObject({ prompting: { isSilent: true } });
    for (const prompt of ['login', 'consent', 'select_account', 'login consent'])
      expect(check({ ...GOOD, prompt, max_age: '0' })).toMatchObject({ prompting: { isSilent: false } });
  });
});
