import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../support/fake-clock.ts';
import { eventsIn, lineCount, startTestCluster, type TestCluster, WATCH_NODES } from './test-cluster.ts';

const NODES = '/api/v1/nodes';
const node = (name: string) => ({ metadata: { name } });

const listed = async (cluster: TestCluster, query: string): Promise<string[]> =>
  (await cluster.call(`${NODES}?${query}`)).body.items.map((item: ReturnType<typeof node>) => item.metadata.name);

describe('a read at version 0 of the simulated cluster', () => {
  test('sees nothing that is written while the watch cache is held, and says which version it has seen', async () => {
    const cluster = await startTestCluster();
    const { metadata } = cluster.objects.create('nodes', node('a'));
    const letGo = cluster.holdWatchCache();
    cluster.objects.create('nodes', node('b'));
    cluster.objects.remove('nodes', 'a');
    expect(await listed(cluster, 'resourceVersion=0')).toEqual(['a']);
    const { body } = await cluster.call(`${NODES}?resourceVersion=0`);
    expect(body.metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(await listed(cluster, '')).toEqual(['b']);
    expect(await listed(cluster, 'limit=1')).toEqual(['b']);
    letGo();
  });

  test('of one object is from there, too', async () => {
    const cluster = await startTestCluster();
    cluster.objects.create('nodes', node('a'));
    cluster.holdWatchCache();
    cluster.objects.create('nodes', node('b'));
    cluster.objects.remove('nodes', 'a');
    const statusOf = async (path: string): Promise<number> => (await cluster.call(`${NODES}/${path}`)).status;
    expect([await statusOf('a?resourceVersion=0'), await statusOf('a')]).toEqual([200, 404]);
    expect([await statusOf('b?resourceVersion=0'), await statusOf('b')]).toEqual([404, 200]);
  });

  test('that is a watch begins there, and has what came later after it', async () => {
    const cluster = await startTestCluster();
    cluster.objects.create('nodes', node('a'));
    cluster.holdWatchCache();
    cluster.objects.create('nodes', node('b'));
    cluster.objects.remove('nodes', 'a');
    const seen = async (query: string, count: number) => {
      const watch = await cluster.stream(`${WATCH_NODES}${query}&timeoutSeconds=60`);
      const text = await watch.until((so) => lineCount(so) >= count);
      watch.leave();
      return eventsIn(text).map(({ type, object }) => `${type} ${object.metadata.name}`);
    };
    expect(await seen('0', 3)).toEqual(['ADDED a', 'ADDED b', 'DELETED a']);
    expect(await seen('', 1)).toEqual(['ADDED b']);
  });

  test('is behind by a part of the lag that the seed chooses, does not go back, and is new when the lag has passed', async () => {
    const ages = async (seed: number): Promise<readonly (readonly string[])[]> => {
      const clock = new FakeClock();
      const cluster = await startTestCluster({ clock, seed, lagMs: 100 });
      for (let at = 0; at < 10; at++) {
        await clock.advance(10);
        cluster.objects.create('nodes', node(`n${at}`));
      }
      const reads = [];
      for (let read = 0; read < 5; read++) reads.push(await listed(cluster, 'resourceVersion=0'));
      await clock.advance(100);
      return [...reads, await listed(cluster, 'resourceVersion=0')];
    };
    const [some, same, others] = [await ages(1), await ages(1), await ages(2)];
    expect(some).toEqual(same);
    expect(some).not.toEqual(others);
    for (const reads of [some, others]) {
      const counts = reads.map(({ length }) => length);
      expect(counts.slice(0, -1).some((count) => count < 10)).toBe(true);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(counts.at(-1)).toBe(10);
    }
  });

  test('is never old without a lag', async () => {
    const clock = new FakeClock();
    const cluster = await startTestCluster({ clock, lagMs: 0 });
    cluster.objects.create('nodes', node('a'));
    expect(await listed(cluster, 'resourceVersion=0')).toEqual(['a']);
  });

  test('goes back with the store that is restored', async () => {
    const cluster = await startTestCluster({ lagMs: 0 });
    const before = cluster.objects.resourceVersion;
    cluster.objects.create('nodes', node('a'));
    expect(await listed(cluster, 'resourceVersion=0')).toEqual(['a']);
    cluster.objects.restore(Number(before));
    expect(await listed(cluster, 'resourceVersion=0')).toEqual([]);
  });
});
