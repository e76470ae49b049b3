import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { neverProven } from '../../../src/data-age.ts';
import { KindMetrics } from '../../../src/kinds/metrics.ts';
import { HeldKinds } from '../../../src/kinds/mirrors/held-kinds.ts';
import { PLAIN_WORDS } from '../../../src/kinds/words/kind-words.ts';
import type { Cluster } from '../../../src/kubernetes/cluster.ts';
import type { ClusterKind } from '../../../src/kubernetes/discovery/cluster-kind.ts';
import type { ReflectedStore } from '../../../src/kubernetes/reflector/store.ts';
import type { Entry } from '../../../src/resources/entries/entry.ts';
import { aborted } from '../../../src/runtime/abort.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MIB = 2 ** 20;

const kindOf = (resource: string): ClusterKind => ({
  ...{ group: 'apps', version: 'v1', resource, kind: resource, singularName: resource },
  ...{ shortNames: [], namespaced: true, verbs: ['get', 'list', 'watch'] },
});

/** Kinds whose lists never end: a test passes the objects on. */
function heldKinds(memoryLimit: number) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const running = new Set<string>();
  const stores = new Map<string, ReflectedStore<Entry>>();
  const reflect = ({ name }: { readonly name: string }, store: ReflectedStore<Entry>) => {
    begun.push(name);
    stores.set(name, store);
    return {
      ...{ hasSynced: () => false, proof: neverProven(), stalenessMs: () => 0, idleMs: () => 0 },
      missingRight: () => undefined,
      async run(signal: AbortSignal) {
        running.add(name);
        await aborted(signal);
        running.delete(name);
      },
    };
  };
  const mirrors = new HeldKinds(
    {
      platform: 'gatehouse',
      idleMs: 60_000,
      maxStalenessMs: 720_000,
      longestPeriodMs: 3_600_000,
      memoryLimit: () => memoryLimit,
    },
    {
      ...{ cluster: { reflect: reflect as unknown as Cluster['reflect'] }, clock, logger: pino({ level: 'silent' }) },
      ...{ slices: new TimeSlices(clock), epoch: 'e1', isSecret: () => false, wordsOf: () => PLAIN_WORDS },
      metrics: new KindMetrics(new Registry()),
    },
  );
  const ending = new AbortController();
  const run = mirrors.run(ending.signal);
  atEnd(() => {
    ending.abort();
    return run;
  });
  /** One object of a MiB comes in the first list of the kind. */
  const come = (resource: string, name: string): void => {
    const metadata = { name, namespace: 'red', uid: name, resourceVersion: '1' };
    stores.get(`${resource}.apps`)?.toEntry({ metadata, spec: { large: 'x'.repeat(MIB) } });
  };
  const ask = (resource: string): void => {
    Promise.resolve(mirrors.hold(kindOf(resource))).catch(() => undefined);
  };
  return { mirrors, clock, begun, running, come, ask };
}

test('KD-21 the objects of first lists that are under way count against the memory', async () => {
  const { clock, begun, come, ask } = heldKinds(4 * MIB);
  ask('ones');
  ask('others');
  for (const name of ['a', 'b']) come('ones', name);
  for (const name of ['a', 'b', 'c']) come('others', name);
  await clock.advance(0);
  expect(begun).toEqual(['ones.apps', 'others.apps', 'others.apps']);
});

test('KD-21 a first list that breaks and begins again counts each object once', async () => {
  const { clock, begun, come, ask } = heldKinds(4 * MIB);
  ask('ones');
  for (let attempt = 1; attempt <= 3; attempt++) for (const name of ['a', 'b']) come('ones', name);
  await clock.advance(0);
  expect(begun).toEqual(['ones.apps']);
});

test('a kind whose first list never comes is let go when nobody asks for it any more', async () => {
  const { clock, running, ask } = heldKinds(4 * MIB);
  ask('ones');
  await clock.advance(50_000);
  ask('ones');
  await clock.advance(50_000);
  expect([...running]).toEqual(['ones.apps']);
  await clock.advance(30_000);
  expect([...running]).toEqual([]);
});
