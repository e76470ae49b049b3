import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect, Mirror } from './mirror.ts';

const SOMEONE = { username: 'someone', groups: ['system:masters'] };

/** A mirror whose token stands in a file, as a pod's does; the token is `first`. */
async function startWithTokenFile() {
  const connected = await connect({ tokens: { first: SOMEONE } }, async (server, folder) => {
    await writeFile(join(folder, 'token'), 'first\n');
    return server.kubeconfig().replace(/token: .*/, 'tokenFile: token');
  });
  connected.server.objects.create('nodes', { metadata: { name: 'a' } });
  const mirror = new Mirror(connected);
  await mirror.elapse(() => mirror.converged() && mirror.watching());
  connected.server.evidence.reset();
  return { mirror, server: connected.server, token: join(dirname(connected.kubeconfig), 'token') };
}

const sentTokens = ({ server }: Mirror): (string | undefined)[] =>
  server.evidence.requests.map(({ headers }) => headers.authorization);

describe('credential', () => {
  test('C-27 is read again after a 401, and the request is sent once more at once', async () => {
    const { mirror, server, token } = await startWithTokenFile();
    await writeFile(token, 'second\n');
    server.tokens.delete('first');
    server.tokens.set('second', SOMEONE);
    server.evidence.reset();
    await mirror.restart();
    const back = mirror.clock.monotonic();
    await mirror.elapse(mirror.watching);
    // 0.8 s of back-off after the reset; the retry itself waits for nothing.
    expect(mirror.clock.monotonic() - back).toBeLessThanOrEqual(800);
    expect(sentTokens(mirror)).toEqual(['Bearer first', 'Bearer second']);
    expect(await mirror.value('cluster_requests_total', { purpose: 'watch', code: '401' })).toBe(1);
  });

  test('C-27 is not sent again at once when reading it brought the same, so the request budget holds', async () => {
    const { mirror, server } = await startWithTokenFile();
    server.tokens.delete('first');
    await mirror.restart();
    await mirror.outlast(60_000);
    expect([mirror.lists, mirror.watches <= 8, mirror.store.size]).toEqual([0, true, 1]);
    const refused = await mirror.value('cluster_requests_total', { purpose: 'watch', code: '401' });
    expect(refused).toBeGreaterThanOrEqual(mirror.watches - 1);
    server.tokens.set('first', SOMEONE);
    expect(await mirror.elapse(mirror.watching)).toBeLessThanOrEqual(30_000);
  });

  test('C-27 is the last good one when it can no longer be read', async () => {
    const { mirror, server, token } = await startWithTokenFile();
    await rm(token);
    await mirror.clock.advance(20_000);
    await mirror.restart();
    server.objects.create('nodes', { metadata: { name: 'b' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(800);
    expect(sentTokens(mirror)).toEqual(['Bearer first']);
  });

  test('is read again before a request when the last look is 10 s old', async () => {
    const { mirror, server, token } = await startWithTokenFile();
    server.tokens.set('second', SOMEONE);
    await writeFile(token, 'second');
    await mirror.clock.advance(10_000);
    await mirror.cluster.version(AbortSignal.timeout(30_000));
    expect(sentTokens(mirror)).toEqual(['Bearer second']);
  });

  test('that cannot be read at start is told in one sentence', async () => {
    const started = connect({}, (server) => server.kubeconfig().replace(/token: .*/, 'tokenFile: missing'));
    await expect(started).rejects.toThrow(/^cannot read the cluster credential: ENOENT: .*missing'$/);
  });
});
