import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOriginTest, isRegistered } from '../../../../src/oauth/authorize/redirect-uris.ts';
import { check } from '../../../support/property.ts';
import { newTestServer, testOptions } from '../test-server.ts';

const REGISTERED = [
  'https://App.example.com:443/callback?tenant=1',
  'https://app.example.com:8443/callback',
  'https://xn--bcher-kva.example/',
  'http://localhost:3000/callback',
  'http://[::1]/callback',
  'com.example.app:/callback',
];

const mayRead = (origin: string, registered: readonly string[] = REGISTERED): boolean =>
  createOriginTest(registered)?.(origin) ?? false;

describe('ID-10 the origins of redirect addresses', () => {
  test.each([
    'https://app.example.com',
    'https://app.example.com:8443',
    'https://xn--bcher-kva.example',
    'http://localhost:3000',
    'http://localhost',
    'http://localhost:5173',
    'http://[::1]:1',
  ])('ID-10 have %s, as browsers send it', (origin) => {
    expect(mayRead(origin)).toBe(true);
  });

  test.each([
    ...['null', '', '*', 'undefined', 'file://', 'com.example.app:', 'com.example.app://'],
    ...['http://app.example.com', 'https://app.example.com:443', 'https://app.example.com:8444'],
    ...['https://APP.example.com', 'HTTPS://app.example.com', 'https://App.example.com', 'http://LOCALHOST:3000'],
    ...['https://app.example.com/', 'https://app.example.com/callback', 'http://localhost:3000/', 'http://localhost/'],
    ...['https://app.example.com.evil.example', 'https://evil-app.example.com', 'https://example.com'],
    ...['https://app.example.com.', 'https://app.example.co', 'https://app.example.com@evil.example'],
    ...['https://evil.example/https://app.example.com', 'https://sub.app.example.com', 'app.example.com'],
    ...['https://bücher.example', 'https://app%2eexample.com', ' https://app.example.com', 'https://app.example.com '],
    ...['https://app.example.com, https://evil.example', 'https://evil.example https://app.example.com'],
    ...['https://localhost:3000', 'http://127.0.0.1:3000', 'http://localhost.evil.example', 'http://localhost:'],
    ...['http://localhost:080', 'http://localhost:80', 'http://localhost:65536', 'http://localhost:3000:1'],
    ...['http://[::1]:0080', 'http://[0:0:0:0:0:0:0:1]:1', 'http://[::2]', 'http://localhost?', 'http://localhost#'],
    ...['http://localhost:3000\n', 'http://localhost:3000\0', 'http://user@localhost:3000'],
  ])('ID-10 do not have %j', (origin) => {
    expect(mayRead(origin)).toBe(false);
  });

  test('ID-10 are none where no address has an origin of its own', () => {
    expect(createOriginTest([])).toBeUndefined();
    expect(createOriginTest(['com.example.app:/callback'])).toBeUndefined();
    expect(mayRead('http://localhost:3000', ['https://app.example.com/callback'])).toBe(false);
  });

  test('ID-10 may read only if the client is public', async () => {
    const client = { grantTypes: ['authorization_code'], postLogoutRedirectURIs: [] };
    const app = { ...client, name: 'spa', public: true, redirectURIs: ['https://app.example.com/callback'] };
    const web = { ...client, name: 'web', public: false, redirectURIs: ['https://web.example.com/callback'] };
    const { server } = await newTestServer({ clients: [...testOptions.clients, app, web] });
    expect(server.mayRead?.('https://app.example.com')).toBe(true);
    expect(server.mayRead?.('https://web.example.com')).toBe(false);
    const { server: withoutPages } = await newTestServer({ clients: [...testOptions.clients, web] });
    expect(withoutPages.mayRead).toBeUndefined();
  });

  test('ID-10 are exactly those where a code may be sent to', () => {
    const hosts = ['app.example.com', 'localhost', '127.0.0.1', '[::1]', 'localhost.example.com'];
    const origins = fc
      .record({
        scheme: fc.constantFrom('https:', 'http:'),
        host: fc.constantFrom(...hosts),
        port: fc.constantFrom('', ':3000', ':8443', ':1', ':65535'),
      })
      .map(({ scheme, host, port }) => `${scheme}//${host}${port}`);
    const registered = fc.tuple(origins, origins).map((two) => two.map((origin) => `${origin}/callback`));
    check(
      fc.property(registered, origins, (addresses, origin) => {
        expect(mayRead(origin, addresses)).toBe(isRegistered(addresses, `${origin}/callback`));
      }),
      { cases: 1_000 },
    );
  });
});
