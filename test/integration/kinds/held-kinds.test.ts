import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { KindMetrics } from '../../../src/kinds/metrics.ts';
import { WeighedStore } from '../../../src/kinds/mirrors/first-list.ts';
import { HeldKinds } from '../../../src/kinds/mirrors/held-kinds.ts';
import { PLAIN_WORDS } from '../../../src/kinds/words/kind-words.ts';
import type { ClusterKind } from '../../../src/kubernetes/discovery/cluster-kind.ts';
import { ResourceStore } from '../../../src/resources/entries/store.ts';
import { atOnce, TimeSlices } from '../../../src/runtime/time-slices.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { cases } from '../../support/seed.ts';
import { usedHeap } from '../../support/used-heap.ts';
import { kindValueOf } from '../http/kinds-under-test.ts';
import { connect } from '../reflector/mirror.ts';
import { deploymentObject } from './kinds-stand.ts';

const DEPLOYMENTS: ClusterKind = {
  ...{ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', singularName: 'deployment' },
  ...{ shortNames: [], namespaced: true, verbs: ['get', 'list', 'watch'] },
};

/** The kinds in memory of a simulated cluster with one deployment, both on one clock. */
async function heldKinds() {
  const { server, cluster, clock } = await connect();
  server.objects.create('deployments', deploymentObject('red', 'web'));
  const logger = pino({ level: 'silent' });
  const options = { platform: 'gatehouse', idleMs: 600_000, maxStalenessMs: 720_000, longestPeriodMs: 3_600_000 };
  const mirrors = new HeldKinds(
    { ...options, memoryLimit: () => 2 ** 24 },
    {
      ...{ cluster, clock, logger, slices: new TimeSlices(clock), epoch: 'e1', isSecret: () => false },
      ...{ metrics: new KindMetrics(new Registry()), wordsOf: () => PLAIN_WORDS },
    },
  );
  const ending = new AbortController();
  const running = mirrors.run(ending.signal);
  atEnd(() => {
    ending.abort();
    return running;
  });
  const watches = (): number => server.evidence.openWatches('deployments');
  return { mirrors, server, clock, watches };
}

test('KD-18 a kind that the cluster no longer has is let go at once, with its watches, and is read anew when it is back', async () => {
  const { mirrors, server, watches } = await heldKinds();
  const held = await mirrors.hold(DEPLOYMENTS);
  await server.evidence.until(() => watches() === 1);
  mirrors.removed(DEPLOYMENTS);
  expect([held.stopped.aborted, mirrors.held(DEPLOYMENTS), mirrors.all()]).toEqual([true, undefined, []]);
  await server.evidence.until(() => watches() === 0);
  const again = await mirrors.hold(DEPLOYMENTS);
  expect([again === held, again.store.size]).toEqual([false, 1]);
});

test('KD-20 a kind that is read and let go again and again leaves nothing behind', async () => {
  const { mirrors, server, watches } = await heldKinds();
  const once = async (): Promise<void> => {
    await mirrors.hold(DEPLOYMENTS);
    mirrors.removed(DEPLOYMENTS);
  };
  const heapAfter = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time++) await once();
    await server.evidence.until(() => watches() === 0);
    // The simulated cluster keeps the requests, 2 kB each.
    server.evidence.reset();
    return usedHeap();
  };
  const before = await heapAfter(200);
  // A kind of one object takes 64 kB with its reflector and its watch: 32 MB in the short run if they stayed.
  expect((await heapAfter(cases(2_000, 500))) - before).toBeLessThan(4_000_000);
});

test('KD-20 a first list that passes the limit by a few bytes is too large, which is found when all of it is there', () => {
  const store = new ResourceStore(kindValueOf(DEPLOYMENTS), new TimeSlices(new FakeClock()));
  const told: string[] = [];
  let asked = 0;
  const weighed = new WeighedStore(store, {
    fits: (bytes) => {
      asked = bytes;
      return bytes < 3_000;
    },
    tooLarge: () => told.push('too large'),
    listed: () => told.push('listed'),
  });
  const entries = ['a', 'b', 'c'].map((name, at) => {
    const object = deploymentObject('red', name);
    return weighed.toEntry({ ...object, metadata: { ...object.metadata, uid: name, resourceVersion: `${at + 1}` } });
  });
  expect([told, weighed.arriving > 3_000, asked < 3_000]).toEqual([[], true, true]);
  atOnce(weighed.prepare(entries, { sameHistory: true, resourceVersion: '3' }))();
  expect(told).toEqual(['too large']);
});

test('KD-24 the first list of a kind is taken over in steps of one object, between which other work may run', () => {
  const store = new ResourceStore(kindValueOf(DEPLOYMENTS), new TimeSlices(new FakeClock()));
  const listed = { already: false };
  const weighed = new WeighedStore(store, {
    fits: () => true,
    tooLarge: () => undefined,
    listed: () => {
      listed.already = true;
    },
  });
  const entries = Array.from({ length: 100 }, (_, at) => {
    const object = deploymentObject('red', `web-${at}`);
    return weighed.toEntry({
      ...object,
      metadata: { ...object.metadata, uid: `u-${at}`, resourceVersion: `${at + 1}` },
    });
  });
  const steps = weighed.prepare(entries, { sameHistory: true, resourceVersion: '100' });
  let count = 0;
  for (let step = steps.next(); ; step = steps.next(), count++) {
    if (!step.done) continue;
    expect([store.size, listed.already]).toEqual([0, false]);
    step.value();
    weighed.readable();
    break;
  }
  expect(count).toBeGreaterThanOrEqual(100);
  expect([store.size, listed.already]).toEqual([100, true]);
});
