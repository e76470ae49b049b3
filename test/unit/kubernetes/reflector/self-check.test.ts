import { afterEach, describe, expect, test } from 'vitest';
import { isOfServerThatChecks } from '../../../../src/kubernetes/cluster.ts';
import { CacheWriter, type CompleteList } from '../../../../src/kubernetes/reflector/cache-writer.ts';
import type { ListerWatcher } from '../../../../src/kubernetes/reflector/lister-watcher.ts';
import { type CheckPlan, SelfCheck } from '../../../../src/kubernetes/reflector/self-check.ts';
import { atOnce, type Steps, TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type MapEntry, MapStore } from '../../../support/map-store.ts';
import { measured, node, silent } from '../objects.ts';
import { page } from './scripted-source.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** One more than are checked at the same period whatever is found. */
const LARGE = 20_001;

/** A store that counts more objects than it holds: the plan goes by their number. */
class CountedStore extends MapStore {
  count: number | undefined;

  override get size(): number {
    return this.count ?? super.size;
  }
}

/** Counts what was done in how many steps. */
class CountedSlices extends TimeSlices {
  steps = 0;

  override run<Result>(steps: Steps<Result>): Result | Promise<Result> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      this.steps++;
    }
  }
}

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

/** A synced cache of so many nodes beside a cluster that has the same, or another set; `spread` from 0 to 1. */
async function start(count: number, plan: CheckPlan = { longestPeriodMs: HOUR }, spread = 0) {
  const clock = new FakeClock();
  const store = new CountedStore();
  const { metrics } = measured();
  const writer = new CacheWriter({ store, clock, metrics, logger: silent });
  const objects = Array.from({ length: Math.min(count, 200) }, (_, index) => node(`n${index}`, '10'));
  function* taking(list: CompleteList<MapEntry>) {
    return yield* writer.replace(list, yield* writer.compare(list), false);
  }
  atOnce(taking({ entries: objects.map((object) => store.toEntry(object)), resourceVersion: '10' }));
  store.count = count;
  const cluster = { objects, checkedAtMinute: [] as number[] };
  const source: Pick<ListerWatcher, 'list'> = {
    list: async () => {
      cluster.checkedAtMinute.push(clock.monotonic() / MINUTE);
      return page(cluster.objects, '10');
    },
  };
  const slices = new CountedSlices(clock);
  const check = new SelfCheck({
    source: source as ListerWatcher,
    ...{ store, writer, clock, metrics, plan },
    random: { bytes: (length) => Buffer.alloc(length), fraction: () => spread },
    slices,
    onMismatch: () => undefined,
  });
  const controller = new AbortController();
  const running = check.run(controller.signal);
  stops.push(() => {
    controller.abort();
    return running;
  });
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) await clock.advance(MINUTE);
  };
  return { check, cluster, slices, pass };
}

describe('regular checks of a cache', () => {
  test('of few objects come each five minutes, however often they agree', async () => {
    const { cluster, pass } = await start(10);
    await pass(30);
    expect(cluster.checkedAtMinute).toEqual([5, 10, 15, 20, 25, 30]);
  });

  test('of as many objects as the largest supported cluster has nodes come each five minutes still', async () => {
    const { cluster, pass } = await start(LARGE - 1);
    await pass(20);
    expect(cluster.checkedAtMinute).toEqual([5, 10, 15, 20]);
  });

  test('make way for other work, a step for each 64 objects', async () => {
    const { slices, pass } = await start(200);
    await pass(5);
    expect(slices.steps).toBe(4);
  });

  test('of many objects begin a period later, and come half as often each time they agree, down to the longest period', async () => {
    const { cluster, pass } = await start(LARGE);
    await pass(240);
    expect(cluster.checkedAtMinute).toEqual([10, 20, 40, 80, 120, 160, 200, 240]);
  });

  test('are never further apart than the longest period, spread included', async () => {
    const { cluster, pass } = await start(LARGE, { longestPeriodMs: 20 * MINUTE }, 0.999);
    await pass(120);
    const { checkedAtMinute } = cluster;
    const gaps = checkedAtMinute.map((at, index) => at - (checkedAtMinute[index - 1] ?? 0));
    expect(Math.max(...gaps.slice(1))).toBeGreaterThan(19);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(20);
  });

  test('come at the shortest period again after one that found a difference', async () => {
    const { cluster, pass } = await start(LARGE);
    await pass(39);
    cluster.objects = cluster.objects.slice(1);
    await pass(1);
    cluster.checkedAtMinute.length = 0;
    await pass(5);
    expect(cluster.checkedAtMinute[0]).toBe(45);
  });

  test('are not made where they are not wanted, but after a reconnect and a sign of a restore', async () => {
    const { check, cluster, pass } = await start(10, { longestPeriodMs: HOUR, isWanted: async () => false });
    await pass(60);
    expect(cluster.checkedAtMinute).toEqual([]);
    check.reconnected();
    await pass(1);
    expect(cluster.checkedAtMinute.length).toBe(1);
    check.now();
    await pass(1);
    expect(cluster.checkedAtMinute.length).toBe(2);
    await pass(60);
    expect(cluster.checkedAtMinute.length).toBe(2);
  });

  test('are asked about each time: a cluster may be upgraded', async () => {
    const server = { isWanted: false };
    const { cluster, pass } = await start(10, { longestPeriodMs: HOUR, isWanted: async () => server.isWanted });
    await pass(12);
    server.isWanted = true;
    await pass(8);
    expect(cluster.checkedAtMinute).toEqual([15, 20]);
  });
});

test.each([
  [{ major: '1', minor: '33' }, false],
  [{ major: '1', minor: '34' }, true],
  [{ major: '1', minor: '34+' }, true],
  [{ major: '1', minor: '35', emulationMajor: '1', emulationMinor: '33' }, false],
  [{ major: '1', minor: '35', emulationMajor: '', emulationMinor: '' }, true],
  [{ major: '2', minor: '0' }, true],
  [{ major: '0', minor: '99' }, false],
  [{ gitVersion: 'v1.35.0' }, false],
  [{ major: 'one', minor: null }, false],
])('a server of version %j compares its own cache with etcd: %s', (version, checks) => {
  expect(isOfServerThatChecks(version)).toBe(checks);
});
