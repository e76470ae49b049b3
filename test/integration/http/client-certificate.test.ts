import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfSigned } from '../../support/self-signed.ts';
import { REVIEW, startTls, statusOf, type TlsUnderTest } from './tls-under-test.ts';

const server = selfSigned('localhost');
/** Each its own authority. */
const caller = selfSigned('kube-apiserver');
const stranger = selfSigned('kube-apiserver');

let under: TlsUnderTest;
beforeAll(async () => {
  under = await startTls({ ...server, clientCA: caller.cert });
});
afterAll(() => under.stop());

/** What the webhook is told of the caller on this connection. */
async function isVouchedFor(socket: TLSSocket): Promise<boolean | undefined> {
  expect(await statusOf(socket, REVIEW)).toBe('HTTP/1.1 200');
  return under.heads.at(-1)?.hasClientCertificate;
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
  });

  test('N-61 is asked for, and who has none is served everything else', async () => {
    const socket = await under.secure(only);
    expect(await statusOf(socket)).toBe('HTTP/1.1 200');
    expect(await isVouchedFor(socket)).toBe(false);
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
