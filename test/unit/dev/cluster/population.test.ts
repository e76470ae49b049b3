import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../../../dev/cluster/object-store.ts';
import { keepChanging, type PopulationOptions, populate } from '../../../../dev/cluster/population/population.ts';
import { seededRandom } from '../../../../dev/cluster/seeded-random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function populated(options: Partial<PopulationOptions> = {}): ObjectStore {
  const store = new ObjectStore({ clock: new FakeClock(), random: seededRandom(1) });
  populate(store, { nodes: 12, podsPerNode: 14, ...options });
  return store;
}

const phaseOf = ({ status }: KubeObject): unknown => status?.['phase'];
const countBy = (objects: readonly KubeObject[], property: (object: KubeObject) => unknown): Map<unknown, number> => {
  const counts = new Map<unknown, number>();
  for (const object of objects) counts.set(property(object), (counts.get(property(object)) ?? 0) + 1);
  return counts;
};

describe('a population', () => {
  test('is the same for the same seed and another for another', () => {
    const text = (seed: number): string => JSON.stringify(populated({ seed, nodes: 4 }).list('pods'));
    expect(text(3)).toBe(text(3));
    expect(text(3)).not.toBe(text(4));
  });

  test('of twelve nodes has three control planes, one cordoned node and one that is not ready', () => {
    const nodes = populated().list('nodes');
    expect(nodes.map(({ metadata }) => metadata.name)).toEqual([
      ...['control-plane-1', 'control-plane-2', 'control-plane-3'],
      ...['worker-a-1', 'worker-a-2', 'worker-a-3'],
      ...['worker-b-1', 'worker-b-2', 'worker-b-3'],
      ...['worker-c-1', 'worker-c-2', 'worker-c-3'],
    ]);
    const unschedulable = nodes.filter(({ spec }) => spec?.['unschedulable']);
    expect(unschedulable.map(({ metadata }) => metadata.name)).toEqual(['worker-c-1']);
    const unknown = nodes.filter(({ status }) => JSON.stringify(status).includes('"type":"Ready","status":"Unknown"'));
    expect(unknown.map(({ metadata }) => metadata.name)).toEqual(['worker-c-3']);
  });

  test('names aliases by the platform', () => {
    const keys = populated({ platform: 'acme' })
      .list('nodes')
      .flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}));
    expect(keys.filter((key) => key.endsWith('alias-name'))).toEqual(Array(3).fill('acme.io/alias-name'));
  });

  test('has exactly the pods that were asked for, nearly all of them running', () => {
    const pods = populated().list('pods');
    expect(pods).toHaveLength(168);
    const phases = countBy(pods, phaseOf);
    expect([...phases.keys()].sort()).toEqual(['Failed', 'Pending', 'Running', 'Succeeded']);
    expect(phases.get('Running')).toBeGreaterThan(150);
    const unscheduled = pods.filter(({ spec }) => !spec?.['nodeName']);
    expect(unscheduled.length).toBe(phases.get('Pending'));
  });

  test('has the namespaces of its pods', () => {
    const store = populated();
    const used = new Set(store.list('pods').map(({ metadata }) => metadata.namespace));
    expect([...used].sort()).toEqual(['kube-system', 'monitoring', 'shop']);
    for (const namespace of used) expect(store.get('namespaces', String(namespace))).toBeDefined();
  });

  test('has pods that a server takes: their owners have a uid, and what they mount is there', () => {
    for (const { metadata, spec } of populated().list('pods')) {
      expect(JSON.stringify(metadata['ownerReferences'])).toMatch(/"uid":"[0-9a-f-]{36}"/);
      const volumes = (spec?.['volumes'] ?? []) as readonly { readonly name: string }[];
      const mounts = JSON.stringify(spec?.['containers']).match(/(?<="volumeMounts":\[\{"name":")[^"]+/g);
      expect(volumes.map(({ name }) => name)).toEqual([...new Set(mounts)]);
    }
  });

  test('makes nodes of about the size that is asked for', () => {
    for (const node of populated({ nodeBytes: 12_000, podsPerNode: 0 }).list('nodes')) {
      expect(JSON.stringify(node).length).toBeGreaterThan(11_500);
      expect(JSON.stringify(node).length).toBeLessThan(12_700);
    }
  });

  test('of hundreds of nodes gives every node its own address and every pod its own name', () => {
    const store = populated({ nodes: 600, podsPerNode: 20 });
    const addresses = new Set(store.list('nodes').map(({ status }) => JSON.stringify(status?.['addresses'])));
    expect([addresses.size, store.list('pods').length]).toEqual([600, 12_000]);
  });
});

describe('a population that keeps changing', () => {
  test('reports a node and replaces a pod each time, until aborted', async () => {
    const store = populated();
    const clock = new FakeClock();
    const stop = new AbortController();
    const before = store.revision;
    const running = keepChanging(store, { everyMs: 5_000, clock, random: seededRandom(2) }, stop.signal);
    await clock.advance(50_000);
    expect(store.revision).toBe(before + 10 * 3); // a node, a pod removed, a pod created
    expect(store.list('pods')).toHaveLength(168);
    expect(store.list('nodes').filter(({ metadata }) => metadata.labels?.['example.test/maintenance'])).toHaveLength(1);
    stop.abort();
    await running;
    await clock.advance(5_000);
    expect(store.revision).toBe(before + 30);
  });

  test('moves the heartbeat of a node to the clock', async () => {
    const store = populated();
    const clock = new FakeClock();
    const stop = new AbortController();
    const running = keepChanging(store, { everyMs: 1_000, clock, random: seededRandom(2) }, stop.signal);
    await clock.advance(1_000);
    const reported = store
      .list('nodes')
      .filter(({ status }) => JSON.stringify(status).includes('2026-03-09T10:00:01Z'));
    expect(reported).toHaveLength(1);
    stop.abort();
    await running;
  });
});
