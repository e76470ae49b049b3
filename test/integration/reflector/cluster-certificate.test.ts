import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { tellMeasured } from '../../support/measured.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { startTlsFront, type TlsFront } from '../../support/tls-front.ts';
import { connect, Mirror } from './mirror.ts';

const old = selfSigned('old-authority');
const next = selfSigned('next-authority');

let front: TlsFront | undefined;
afterEach(() => front?.stop());

/** A mirror of a cluster behind TLS, whose authority stands in a file, as a pod's does; it trusts the old one. */
async function startBehindTls() {
  const connected = await connect({}, async (server, folder) => {
    front = await startTlsFront(Number(new URL(server.url).port), old);
    await writeFile(join(folder, 'ca.crt'), old.cert);
    return server
      .kubeconfig()
      .replace(server.url, front.url)
      .replace('server:', 'certificate-authority: ca.crt\n      server:');
  });
  connected.server.objects.create('nodes', { metadata: { name: 'a' } });
  const mirror = new Mirror(connected);
  // The client has its answer, too: a reset before that would be a request that failed.
  await mirror.elapse(async () => mirror.converged() && mirror.watching() && (await accepted(mirror)) === 1);
  connected.server.evidence.reset();
  const authority = join(dirname(connected.kubeconfig), 'ca.crt');
  return { mirror, server: connected.server, front: front as TlsFront, authority };
}

const failed = (mirror: Mirror, purpose: string) => mirror.value('cluster_requests_total', { purpose, code: 'error' });

/** Watches so far that the cluster took. */
const accepted = (mirror: Mirror) => mirror.value('cluster_requests_total', { purpose: 'watch', code: '200' });

describe('the certificate of the cluster', () => {
  test('C-31 is taken from another authority as soon as the file names it: no request fails, the watch is dialled again', async () => {
    const { mirror, server, front, authority } = await startBehindTls();
    await writeFile(authority, old.cert + next.cert);
    await mirror.clock.advance(10_000);
    await mirror.cluster.version(AbortSignal.timeout(30_000)); // any request looks at the file
    await mirror.elapse(async () => (await accepted(mirror)) === 2);
    front.use(next);
    front.reset();
    await mirror.elapse(async () => (await accepted(mirror)) === 3);
    await mirror.cluster.version(AbortSignal.timeout(30_000));
    server.objects.create('nodes', { metadata: { name: 'b' } });
    await mirror.elapse(mirror.converged);
    expect([await failed(mirror, 'version'), await failed(mirror, 'watch'), mirror.lists]).toEqual([0, 0, 0]);
  });

  test('C-31 makes the file be read again at once when nobody vouches for it', async () => {
    const { mirror, server, front, authority } = await startBehindTls();
    await writeFile(authority, next.cert);
    front.use(next);
    front.reset();
    server.objects.create('nodes', { metadata: { name: 'b' } });
    // 0.8 s of back-off after the reset; the retry itself waits for nothing.
    const took = await mirror.elapse(mirror.converged);
    expect(took).toBeLessThanOrEqual(800);
    tellMeasured('C-31', took, 'from the new certificate until the change is in the cache, by the clock of the test');
    expect([mirror.lists, await failed(mirror, 'watch')]).toEqual([0, 1]);
  });

  test('C-31 is refused while the file does not name its authority, inside the request budget', async () => {
    const { mirror, server, front, authority } = await startBehindTls();
    front.use(next);
    front.reset();
    await mirror.outlast(60_000);
    expect([mirror.store.size, mirror.watches, (await failed(mirror, 'watch')) <= 8]).toEqual([1, 0, true]);
    await writeFile(authority, next.cert);
    server.objects.create('nodes', { metadata: { name: 'b' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(60_000);
    expect(mirror.lists).toBe(0);
  });
});
