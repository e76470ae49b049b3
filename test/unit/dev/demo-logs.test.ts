import { describe, expect, test } from 'vitest';
import { keyOf } from '../../../dev/cluster/kube-object.ts';
import { PodLogs } from '../../../dev/cluster/logs/pod-logs.ts';
import { ObjectStore } from '../../../dev/cluster/object-store.ts';
import { populate } from '../../../dev/cluster/population/population.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { keepWriting, pastRecords } from '../../../dev/demo-logs.ts';
import { startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { LogDocument } from '../../../dev/log-store/stored-record.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const NOW = Date.parse('2026-03-09T10:00:00Z');
const HOUR_MS = 3_600_000;

const populated = (nodes = 12): ObjectStore => {
  const store = new ObjectStore({ clock: new FakeClock(), random: seededRandom(1) });
  populate(store, { nodes, podsPerNode: 8, seed: 1, now: NOW });
  return store;
};
const past = (objects: ObjectStore): LogDocument[] =>
  pastRecords(objects.list('pods'), { now: NOW, random: seededRandom(1) });

describe('the logs of the demo', () => {
  test('are what the pods of the cluster wrote in the last six hours, and the same each time', () => {
    const objects = populated();
    const records = past(objects);
    expect(records.length).toBeGreaterThan(5_000);
    expect(records).toEqual(past(objects));
    for (const { time, kubernetes } of records) {
      const pod = objects.get('pods', `${kubernetes.namespace_name}/${kubernetes.pod_name}`);
      const writes = Date.parse(time);
      expect(writes).toBeGreaterThanOrEqual(Date.parse(pod!.metadata.creationTimestamp));
      expect([writes > NOW - 6 * HOUR_MS, writes <= NOW]).toEqual([true, true]);
      expect(pod!['spec']).toMatchObject({ nodeName: expect.any(String) });
    }
  });

  test('have a quarter of an hour in which the shop was in trouble', () => {
    const errors = past(populated()).filter(({ log }) => log.startsWith('ERROR'));
    const minutesAgo = errors.map(({ time }) => (NOW - Date.parse(time)) / 60_000);
    expect(errors.length).toBeGreaterThan(5);
    expect([Math.min(...minutesAgo) >= 35, Math.max(...minutesAgo) <= 50]).toEqual([true, true]);
  });

  test('are none in a cluster without nodes', () => {
    expect(past(populated(0))).toEqual([]);
  });

  test('go on while the demo runs', async () => {
    const written: LogDocument[] = [];
    const clock = new FakeClock();
    const stop = new AbortController();
    const store = { add: (records: readonly LogDocument[]) => void written.push(...records) };
    const objects = populated();
    const podLogs = new PodLogs(objects, clock);
    const running = keepWriting(
      { objects, podLogs },
      store,
      { everyMs: 3_000, clock, random: seededRandom(2) },
      stop.signal,
    );
    await clock.advance(9_000);
    expect(written).toHaveLength(12);
    const pod = objects.list('pods').find(({ status }) => status?.['phase'] === 'Running')!;
    podLogs.subscribe(keyOf(pod.metadata), () => undefined);
    await clock.advance(3_000);
    expect(written.slice(12).map(({ kubernetes }) => kubernetes.pod_name)).toContain(pod.metadata.name);
    stop.abort();
    await running;
  });
});

test('a store that keeps ten records has the ten newest', async () => {
  const store = await startSimulatedLogStore({ mostRecords: 10 });
  atEnd(() => store.stop());
  const records = past(populated());
  store.add(records);
  const answer = await fetch(`${store.url}/x*/_search`, {
    method: 'POST',
    body: JSON.stringify({ size: 20, sort: [{ time: { order: 'asc' } }], query: { bool: {} } }),
  });
  const { hits } = (await answer.json()) as { hits: { hits: { _source: LogDocument }[] } };
  const newest = records
    .map(({ time }) => time)
    .toSorted()
    .slice(-10);
  expect(hits.hits.map(({ _source }) => _source.time)).toEqual(newest);
});
