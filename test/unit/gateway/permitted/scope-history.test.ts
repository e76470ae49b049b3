import { beforeEach, describe, expect, test } from 'vitest';
import { ScopeHistory } from '../../../../src/gateway/permitted/scope-history.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KEY = 'ada pods';
const SETTLED_MS = 360_000;

let clock: FakeClock;
let history: ScopeHistory;
beforeEach(() => {
  clock = new FakeClock();
  history = new ScopeHistory(clock);
});

/** Looks at the scope every 10 s, as an open watch does. */
async function watched(scopeId: string, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    history.seen(KEY, scopeId);
    await clock.advance(10_000);
  }
  history.seen(KEY, scopeId);
}

describe('KD-32 a watch may go on from a version', () => {
  test('of a list over the present scope, and from no other', () => {
    history.seen(KEY, 'a');
    history.listed(KEY, 'a', '100');
    expect(['99', '100', '101'].map((version) => history.accepts(KEY, 'a', version))).toEqual([false, true, false]);
    expect(history.accepts(KEY, 'b', '100')).toBe(false);
    expect(history.accepts('bob pods', 'a', '100')).toBe(false);
  });

  test('never if a client may have it of an earlier scope', () => {
    history.seen(KEY, 'a');
    history.listed(KEY, 'a', '100');
    history.told(KEY, 'a', '105');
    history.seen(KEY, 'b');
    for (const version of ['100', '105']) history.listed(KEY, 'b', version);
    expect(['100', '105'].map((version) => history.accepts(KEY, 'b', version))).toEqual([false, false]);
    history.listed(KEY, 'b', '106');
    expect(history.accepts(KEY, 'b', '106')).toBe(true);
    // A watch over the earlier scope tells on until it is ended.
    history.told(KEY, 'a', '106');
    expect(history.accepts(KEY, 'b', '106')).toBe(false);
  });

  test('never if the scope was another one and is this one again', () => {
    history.seen(KEY, 'a');
    history.listed(KEY, 'a', '100');
    history.seen(KEY, 'b');
    history.listed(KEY, 'b', '102');
    history.seen(KEY, 'a');
    expect(['100', '102', '103'].map((version) => history.accepts(KEY, 'a', version))).toEqual([false, false, false]);
  });

  test('that is newer than one that was read when the scope had been the same for six minutes', async () => {
    await watched('a', SETTLED_MS - 10_000);
    expect(history.needsVersion(KEY, 'a')).toBe(false);
    history.settled(KEY, 'a', '200');
    expect(history.accepts(KEY, 'a', '201')).toBe(false);
    await watched('a', 10_000);
    expect(history.needsVersion(KEY, 'a')).toBe(true);
    history.settled(KEY, 'a', '300');
    expect(history.needsVersion(KEY, 'a')).toBe(false);
    expect(['299', '300', '1000'].map((version) => history.accepts(KEY, 'a', version))).toEqual([false, true, true]);
  });

  test('not after half a minute in which nobody has looked at the scope', async () => {
    await watched('a', SETTLED_MS);
    history.settled(KEY, 'a', '300');
    history.listed(KEY, 'a', '290');
    await clock.advance(31_000);
    history.seen(KEY, 'a');
    expect(['290', '300', '301'].map((version) => history.accepts(KEY, 'a', version))).toEqual([false, false, false]);
    expect(history.needsVersion(KEY, 'a')).toBe(false);
  });

  test('of one of the last 32 lists', () => {
    history.seen(KEY, 'a');
    for (let version = 100; version <= 132; version++) history.listed(KEY, 'a', String(version));
    expect(['100', '101', '132'].map((version) => history.accepts(KEY, 'a', version))).toEqual([false, true, true]);
  });
});

describe('what is remembered', () => {
  test('is bounded: the caller and kind that was seen longest ago is forgotten', () => {
    for (let caller = 0; caller <= 2_000; caller++) {
      history.seen(String(caller), 'a');
      history.listed(String(caller), 'a', '1');
    }
    expect(['0', '1', '2000'].map((caller) => history.accepts(caller, 'a', '1'))).toEqual([false, true, true]);
  });

  test('tells open watches that another scope was seen', () => {
    history.seen(KEY, 'a');
    expect(history.hasChanged(KEY, 'a')).toBe(false);
    history.seen(KEY, 'b');
    expect(history.hasChanged(KEY, 'a')).toBe(true);
  });
});
