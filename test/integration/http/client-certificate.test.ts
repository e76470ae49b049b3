import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenReviewWebhook } from '../../../src/oauth/endpoints/token-review.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { newTestServer } from '../../unit/oauth/test-server.ts';
import { REVIEW, send, startTls, statusOf, type TlsUnderTest } from './tls-under-test.ts';

const server = selfSigned('localhost');
/** Each its own authority. */
const caller = selfSigned('kube-apiserver');
const stranger = selfSigned('kube-apiserver');

let under: TlsUnderTest;
beforeAll(async () => {
  under = await startTls({ ...server, clientCA: caller.cert });
});
afterAll(() => under.stop());

/** Whether the webhook is told names of the caller on this connection. */
async function isVouchedFor(socket: TLSSocket): Promise<boolean> {
  expect(await statusOf(socket, REVIEW)).toBe('HTTP/1.1 200');
  const names = under.heads.at(-1)?.certificateNames;
  if (names?.length) expect(names).toEqual(['kube-apiserver', 'kube-apiserver']);
  return names?.length !== 0;
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a client certificate over %s', (version) => {
  const only = { minVersion: version, maxVersion: version };

  test('N-61 of the authority vouches for the caller', async () => {
    expect(await isVouchedFor(await under.secure({ ...only, cert: caller.cert, key: caller.key }))).toBe(true);
  });

  test('N-61 of another authority vouches for nobody, and everything else is served', async () => {
    const socket = await under.secure({ ...only, cert: stranger.cert, key: stranger.key });
    expect(await statusOf(socket)).toBe('HTTP/1.1 200');
    expect(await isVouchedFor(socket)).toBe(false);
    expect(under.heads.at(-1)?.hasShownCertificate).toBe(true);
  });

  test('N-61 is asked for, and who has none is served everything else', async () => {
    const socket = await under.secure(only);
    expect(await statusOf(socket)).toBe('HTTP/1.1 200');
    expect(await isVouchedFor(socket)).toBe(false);
    expect(under.heads.at(-1)?.hasShownCertificate).toBe(false);
  });

  test.each([
    ['without one vouches for nobody', {}, false],
    ['with that of a stranger vouches for nobody', { cert: stranger.cert, key: stranger.key }, false],
    ['with one of the authority vouches for the caller still', { cert: caller.cert, key: caller.key }, true],
  ])('N-61 a session that is resumed %s', async (_, credentials, expected) => {
    const first = await under.secure({ ...only, ...credentials });
    // TLS 1.3 sends its tickets after the handshake, TLS 1.2 during it.
    const session = version === 'TLSv1.3' ? once(first, 'session').then(([ticket]) => ticket as Buffer) : undefined;
    await statusOf(first);
    const again = await under.secure({ ...only, session: session ? await session : first.getSession() });
    expect(again.isSessionReused()).toBe(true);
    expect(await isVouchedFor(again)).toBe(expected);
  });
});

/** Each is its own authority, so each has another subject; the file of authorities holds them all. */
const callers = {
  byCommonName: selfSigned('kube-apiserver', { dns: [] }),
  byDnsName: selfSigned('one', { dns: ['other.example.com', 'front.example.com'] }),
  byUri: selfSigned('another one', { dns: [], uris: ['spiffe://cluster.local/ns/kube-system/sa/front'] }),
  another: selfSigned('kubelet', {
    dns: ['worker-1.example.com'],
    uris: ['spiffe://cluster.local/ns/kube-system/sa/x'],
  }),
  inOtherCase: selfSigned('upper', { dns: ['KUBE-APISERVER', 'FRONT.example.com'] }),
  beginning: selfSigned('kube-apiserver.example.com', { dns: ['front.example.com.evil.example'] }),
  ofTwoNames: selfSigned('two', { commonNames: ['kube-apiserver', 'kubelet'], dns: [] }),
  quotedInName: selfSigned('x, DNS:front.example.com', { dns: [] }),
  quotedInDns: selfSigned('y', { dns: ['x, DNS:front.example.com', 'x,DNS:kube-apiserver', '"front.example.com"'] }),
  quotedInUri: selfSigned('z', {
    dns: [],
    uris: ['spiffe://x, DNS:front.example.com', 'urn:x\nDNS:front.example.com'],
  }),
  asEmail: selfSigned('e', { dns: [], emails: ['front.example.com', 'x@y, DNS:front.example.com'] }),
  nameless: selfSigned('x', { commonNames: [], dns: [] }),
};

describe('the names of callers', () => {
  let listed: TlsUnderTest;
  beforeAll(async () => {
    const oauth = await newTestServer();
    const clientNames = ['kube-apiserver', 'front.example.com', 'spiffe://cluster.local/ns/kube-system/sa/front'];
    const parts = { ...oauth, callerToken: () => 'made-up', random: systemRandom };
    const tokenReviews = createTokenReviewWebhook(
      { platform: 'gatehouse', callerAuth: 'required', clientNames },
      parts,
    );
    const clientCA = Object.values(callers)
      .map((one) => one.cert)
      .join('');
    listed = await startTls({ ...server, clientCA }, { tokenReviews });
  });
  afterAll(() => listed.stop());

  const BODY = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } });
  const ask = async (credentials: object, more = ''): Promise<string> => {
    const head = `POST /oauth/authenticate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${more}`;
    const socket = await listed.secure(credentials);
    return send(socket, `${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`);
  };
  const REFUSED =
    /^HTTP\/1\.1 401 [\s\S]*{"error":"invalid_client","error_description":"caller authentication failed"}$/;

  test.each(['byCommonName', 'byDnsName', 'byUri'] as const)('N-61 let in a listed one %s', async (name) => {
    const { cert, key } = callers[name];
    expect(await ask({ cert, key })).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each<[keyof typeof callers, readonly string[]]>([
    ['another', ['kubelet', 'worker-1.example.com', 'spiffe://cluster.local/ns/kube-system/sa/x']],
    ['inOtherCase', ['upper', 'KUBE-APISERVER', 'FRONT.example.com']],
    ['beginning', ['kube-apiserver.example.com', 'front.example.com.evil.example']],
    ['ofTwoNames', []],
    ['quotedInName', ['x, DNS:front.example.com']],
    ['quotedInDns', ['y']],
    ['quotedInUri', ['z']],
    ['asEmail', ['e']],
    ['nameless', []],
  ])('N-61 refuse what is vouched for and not listed: %s', async (name, names) => {
    const { cert, key } = callers[name];
    expect(await ask({ cert, key })).toMatch(REFUSED);
    expect(listed.heads.at(-1)?.certificateNames).toEqual(names);
    expect(await ask({ cert, key }, 'Authorization: Bearer made-up\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('N-61 let in no listed name that nobody vouches for, and nobody without a certificate', async () => {
    expect(await ask({ cert: stranger.cert, key: stranger.key })).toMatch(REFUSED);
    expect(await ask({})).toMatch(REFUSED);
  });
});
