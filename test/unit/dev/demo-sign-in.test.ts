import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { loadDemoConfig } from '../../../dev/demo-config.ts';
import { placeOf, signInAt } from '../../../dev/demo-sign-in.ts';
import { atEnd } from '../../support/at-end.ts';
import { selfSigned } from '../../support/self-signed.ts';

const options = {
  nodes: 1,
  podsPerNode: 1,
  podChanges: 0,
  port: 8000,
  platform: 'gatehouse',
  logs: false,
  verbose: false,
  config: 'my.yaml',
};
const TLS = 'tls: {certFile: /tls.crt, keyFile: /tls.key}';

const { cert, key } = selfSigned('gatehouse.example.org');

/** The demo's configuration with this text as the user's `server` section. */
function loaded(server: string) {
  const files = new Map([
    ['my.yaml', `server: {${server}}\n`],
    ['/tls.crt', cert],
    ['/tls.key', key],
  ]);
  return loadDemoConfig(options, { kubeconfig: '/k' }, (path) => files.get(path) ?? '').config;
}
const placeWith = (server: string) => placeOf(loaded(server).server, { port: 8000, metricsPort: 8001 });

async function serve(listener: RequestListener, tls?: { readonly cert: string; readonly key: string }) {
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise((resolve) => server.close(resolve)));
  return { origin: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('the place of the demo', () => {
  test.each([
    ['', 'http://127.0.0.1:8000', 'curl -s'],
    [TLS, 'https://127.0.0.1:8000', 'curl -sk'],
    ['address: 0.0.0.0', 'http://127.0.0.1:8000', 'curl -s'],
    ['address: "::"', 'http://127.0.0.1:8000', 'curl -s'],
    ['address: "::1"', 'http://[::1]:8000', 'curl -s'],
    [`address: localhost, ${TLS}`, 'https://localhost:8000', 'curl -sk'],
  ])('follows the user’s own "server: {%s}"', (server, origin, curl) => {
    expect(placeWith(server)).toEqual({ origin, metricsOrigin: origin.replace('8000', '8001'), curl });
  });

  test.each([
    ['', 'http://127.0.0.1:8000/oauth'],
    [TLS, 'https://127.0.0.1:8000/oauth'],
  ])('is the issuer’s, with "server: {%s}"', (server, issuer) => {
    expect(loaded(server).authentication.oauthOptions.issuer).toBe(issuer);
  });
});

describe('the sign-in of the demo', () => {
  const form = new URLSearchParams({ username: 'admin' });
  const answering =
    (body: string): RequestListener =>
    (_, response) =>
      void response.end(body);

  test('gets a token by plain HTTP, and by TLS whatever certificate there is', async () => {
    const answers = answering('{"access_token":"abc"}');
    expect(await signInAt(await serve(answers), form)).toEqual({ token: 'abc' });
    const tls = selfSigned('another.example.org', { addresses: [] });
    expect(await signInAt(await serve(answers, tls), form)).toEqual({ token: 'abc' });
  });

  test.each(['{"error":"invalid_grant"}', '{"access_token":null}'])('says what it got instead (%s)', async (body) => {
    expect(await signInAt(await serve(answering(body)), form)).toEqual({
      fault: `the answer to the sign-in is ${body}`,
    });
  });

  test('says why it failed, and does not end the demo', async () => {
    const breaks = await serve((request) => void request.socket.destroy());
    expect(await signInAt(breaks, form)).toEqual({ fault: 'the sign-in failed: socket hang up' });
    expect(await signInAt(await serve(answering('<html>')), form)).toEqual({
      fault: expect.stringContaining('the sign-in failed: Unexpected token'),
    });
  });
});
