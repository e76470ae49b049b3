import { describe, expect, test } from 'vitest';
import { userRef } from '../../../src/accounts/names.ts';
import { type LearnedSuccess, RecordMirror } from '../../../src/accounts/records/record-mirror.ts';
import { createRetention } from '../../../src/accounts/records/retention.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { atOnce } from '../../../src/runtime/time-slices.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const NOW = Date.parse('2026-03-09T10:00:00Z');
const HOUR = 3_600_000;
const quiet = { info: () => {}, warn: () => {}, debug: () => {} } as never;

let version = 0;
const record = (user: string, agoMs: number, spec: object = {}): KubernetesObject => ({
  metadata: {
    name: `${user}-${(++version).toString(16).padStart(10, '0')}`,
    uid: `uid-${version}`,
    resourceVersion: String(version),
    creationTimestamp: new Date(NOW - agoMs).toISOString(),
    labels: { [NAMES.userRef]: userRef(user) },
  },
  spec: { success: true, sourceIP: '192.0.2.1', ...spec },
});

function mirrorOf(...objects: readonly KubernetesObject[]) {
  const learned: LearnedSuccess[] = [];
  const mirror = new RecordMirror(NAMES, (success) => learned.push(success));
  const list = (listed: readonly KubernetesObject[]): void =>
    atOnce(mirror.prepare(listed.map((object) => mirror.toEntry(object))))();
  list(objects);
  return { mirror, learned, list };
}

describe('the mirror of login records', () => {
  test('learns each success once, and no failure', () => {
    const [first, second] = [record('alice', HOUR), record('alice', 0, { sourceIP: '2001:db8::5' })];
    const { mirror, learned, list } = mirrorOf(first, record('bob', HOUR, { success: false }));
    mirror.put(mirror.toEntry(second));
    mirror.put(mirror.toEntry(second));
    list([first, second]);
    expect(learned).toEqual([
      { user: 'alice', source: '192.0.2.1', createdAtMs: NOW - HOUR },
      { user: 'alice', source: '2001:db8::5', createdAtMs: NOW },
    ]);
    expect([mirror.size, [...mirror.refs()]]).toEqual([2, ['alice']]);
  });

  test('knows the user of a long name by the name of the record', () => {
    const name = `${'long-'.repeat(14)}name`;
    expect(mirrorOf(record(name, 0)).learned).toMatchObject([{ user: name }]);
  });

  test('learns nothing of a record whose label and name differ', () => {
    const odd = record('alice', 0);
    expect(mirrorOf({ ...odd, metadata: { ...odd.metadata, labels: { [NAMES.userRef]: 'bob' } } }).learned).toEqual([]);
  });

  test('forgets what is removed', () => {
    const one = record('alice', 0);
    const { mirror } = mirrorOf(one);
    mirror.remove('never-seen');
    expect(mirror.size).toBe(1);
    mirror.remove(one.metadata.name);
    expect([mirror.size, [...mirror.refs()], [...mirror.of('alice')]]).toEqual([0, [], []]);
  });
});

describe('the retention of login records', () => {
  function start(objects: readonly KubernetesObject[], users: readonly string[] = ['alice']) {
    const clock = new FakeClock(NOW);
    const { mirror } = mirrorOf(...objects);
    const records = new MemoryObjects();
    for (const object of objects) records.put(object);
    records.onChange = (name) => mirror.remove(name);
    const state = { isHolder: true, isKnown: true };
    const retention = createRetention(
      { periodMs: 168 * HOUR, maximumEntries: 3 },
      {
        ...{ mirror, records, clock, logger: quiet, hasUser: (name: string) => users.includes(name) },
        isKnown: () => state.isKnown,
        isHolder: () => state.isHolder,
      },
    );
    const stop = new AbortController();
    const running = retention.run(stop.signal);
    atEnd(async () => {
      stop.abort();
      await running;
    });
    const left = () => records.all().map(({ metadata }) => metadata.name);
    return { clock, records, state, left };
  }

  test('keeps the newest of the period', async () => {
    const [old, ...recent] = [169, 5, 4, 3, 2].map((hours) => record('alice', hours * HOUR));
    const { clock, left } = start([old, ...recent] as KubernetesObject[]);
    await clock.advance(61_000);
    expect(left()).toEqual(recent.slice(1).map(({ metadata }) => metadata.name));
  });

  test('removes those of nobody', async () => {
    const mine = record('alice', HOUR);
    const { clock, left } = start([mine, record('gone', HOUR)]);
    await clock.advance(61_000);
    expect(left()).toEqual([mine.metadata.name]);
  });

  test('keeps what another tool named, and what has no label until it is too old', async () => {
    const named = record('alice', HOUR);
    const [recent, old] = [record('x', HOUR), record('x', 169 * HOUR)].map((one) => ({
      ...one,
      metadata: { ...one.metadata, labels: {} },
    })) as [KubernetesObject, KubernetesObject];
    const other = { ...named, metadata: { ...named.metadata, name: 'odd', uid: 'odd' } };
    const { clock, left } = start([other, recent, old]);
    await clock.advance(61_000);
    expect(left()).toEqual(['odd', recent.metadata.name]);
  });

  test.each(['isHolder', 'isKnown'] as const)('does nothing unless %s', async (condition) => {
    const { clock, records, state } = start([record('gone', HOUR)]);
    state[condition] = false;
    await clock.advance(300_000);
    expect(records.writes).toEqual([]);
  });

  test('stops at once when another replica takes it over', async () => {
    const { clock, records, state } = start(Array.from({ length: 40 }, () => record('gone', HOUR)));
    records.before = () => {
      state.isHolder = records.writes.length < 9;
    };
    await clock.advance(300_000);
    expect(records.writes).toHaveLength(10);
  });

  test('goes on in batches, and again after a failure of the cluster', async () => {
    const { clock, records, left } = start(Array.from({ length: 250 }, () => record('gone', HOUR)));
    records.failure = new Error('away');
    await clock.advance(61_000);
    records.failure = undefined;
    await clock.advance(60_000);
    expect(records.writes).toHaveLength(150);
    await clock.advance(5_000);
    expect(left()).toEqual([]);
  });
});
