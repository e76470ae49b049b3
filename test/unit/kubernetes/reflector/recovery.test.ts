import { describe, expect, test } from 'vitest';
import type { Failure, FailureKind } from '../../../../src/kubernetes/reflector/failure.ts';
import { Recovery, type RecoveryStep, type WatchRun } from '../../../../src/kubernetes/reflector/recovery.ts';
import { Backoff } from '../../../../src/runtime/backoff.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const noJitter = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
const create = (clock = new FakeClock()) => new Recovery(new Backoff(clock, noJitter));
const failure = (kind: FailureKind, retryAfterMs = 0): Failure =>
  kind === 'throttled' ? { kind, retryAfterMs } : { kind };
const run = (kind: FailureKind, more: Partial<WatchRun> = {}): WatchRun => ({
  failure: failure(kind),
  livedMs: 0,
  progressed: false,
  resourceVersion: '10',
  ...more,
});
const watch = (waitMs: number): RecoveryStep => ({ kind: 'watch', waitMs });
const fullList = { kind: 'list', from: 'newest', waitMs: 0 } as const;

describe('recovery after a watch', () => {
  test('C-02 watches again at once after a clean close that followed an event, or a second', () => {
    expect(create().afterWatch(run('closed', { progressed: true }))).toEqual(watch(0));
    expect(create().afterWatch(run('closed', { livedMs: 1_000 }))).toEqual(watch(0));
  });

  test('C-03 backs off after a close within a second and without an event', () => {
    const recovery = create();
    const closed = run('closed', { livedMs: 999 });
    expect([recovery.afterWatch(closed), recovery.afterWatch(closed)]).toEqual([watch(800), watch(1_600)]);
  });

  test('I5 backs off from the fourth stream in a row that brings something and ends at once', () => {
    const recovery = create();
    const closed = run('closed', { progressed: true });
    const steps = Array.from({ length: 5 }, () => recovery.afterWatch(closed));
    expect(steps.map((step) => step.waitMs)).toEqual([0, 0, 0, 800, 1_600]);
  });

  test('I5 counts the short streams anew after one that lived for a second', () => {
    const recovery = create();
    const waits = [0, 0, 0, 1_000, 0, 0, 0, 999].map(
      (livedMs) => recovery.afterWatch(run('closed', { progressed: true, livedMs })).waitMs,
    );
    expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 800]);
  });

  test('C-06 watches again at once after silence, and never lists for it', () => {
    expect(create().afterWatch(run('quiet', { livedMs: 75_000 }))).toEqual(watch(0));
  });

  test.each(['refused', 'reset', 'unsupported'] as const)('C-01 backs off and watches again after %s', (kind) => {
    expect(create().afterWatch(run(kind))).toEqual(watch(800));
  });

  test('C-12 waits as long as the server says, or the back-off when that is longer', () => {
    const throttled = (retryAfterMs: number) => run('throttled', { failure: { kind: 'throttled', retryAfterMs } });
    expect(create().afterWatch(throttled(7_000))).toEqual(watch(7_000));
    expect(create().afterWatch(throttled(0))).toEqual(watch(800));
  });

  test('C-07 lists at the last version at once after a 410, and backs off when the next watch gets one too', () => {
    const recovery = create();
    const list = { kind: 'list', from: 'last', reason: 'expired' };
    expect(recovery.afterWatch(run('expired'))).toEqual({ ...list, waitMs: 0 });
    expect(recovery.afterWatch(run('expired'))).toEqual({ ...list, waitMs: 800 });
    expect(recovery.afterWatch(run('expired', { livedMs: 59_999, progressed: true }))).toEqual({
      ...list,
      waitMs: 1_600,
    });
    expect(recovery.afterWatch(run('closed', { livedMs: 30_000 }))).toEqual(watch(0));
    expect(recovery.afterWatch(run('expired', { livedMs: 30_000 }))).toEqual({ ...list, waitMs: 0 });
  });

  test('C-22 lists the newest state once for a version that the server has not reached', () => {
    const step = { kind: 'list', from: 'newest', reason: 'too_large_version', waitMs: 0 };
    expect(create().afterWatch(run('too_large_version'))).toEqual(step);
  });

  test.each(['unreadable', 'stream_error'] as const)('C-11 lists at the third %s in a row at one version', (kind) => {
    const recovery = create();
    const steps = [1, 2, 3, 4].map(() => recovery.afterWatch(run(kind)));
    expect(steps.map((step) => step.kind)).toEqual(['watch', 'watch', 'list', 'watch']);
    expect(steps[2]).toMatchObject({ from: 'last', reason: 'stream_error', waitMs: 0 });
    const more = [5, 6].map(() => recovery.afterWatch(run(kind)).kind); // the fourth is the first of three again
    expect(more).toEqual(['watch', 'list']);
  });

  test('C-15 does not list while each bad stream brought the cache forward', () => {
    const recovery = create();
    const versions = ['11', '12', '13', '14', '15'];
    const steps = versions.map((resourceVersion) => recovery.afterWatch(run('unreadable', { resourceVersion })));
    expect(steps.every((step) => step.kind === 'watch')).toBe(true);
  });
});

describe('recovery after a list', () => {
  test('C-09 lists the newest state at once when a list at the last version is expired or out of reach', () => {
    const last = { ...fullList, from: 'last', reason: 'expired' } as const;
    const newest = { ...last, from: 'newest' };
    expect(create().afterList(failure('expired'), last)).toEqual(newest);
    expect(create().afterList(failure('too_large_version'), last)).toEqual(newest);
  });

  test('lists at the last version again once a relist has helped, though that was out of reach before', () => {
    const recovery = create();
    const last = { ...fullList, from: 'last', reason: 'expired' } as const;
    recovery.afterWatch(run('expired'));
    recovery.afterList(failure('expired'), last);
    expect(recovery.afterWatch(run('expired', { livedMs: 59_999 }))).toMatchObject({ kind: 'list', from: 'newest' });
    expect(recovery.afterWatch(run('expired', { livedMs: 60_000 }))).toMatchObject({ kind: 'list', from: 'last' });
  });

  test('backs off when the list of the newest state fails in the same way', () => {
    expect(create().afterList(failure('expired'), fullList)).toEqual({ ...fullList, waitMs: 800 });
  });

  test('C-12 makes the same list again after the wait', () => {
    const last = { ...fullList, from: 'last', reason: 'expired' } as const;
    expect(create().afterList(failure('throttled', 7_000), last)).toEqual({ ...last, waitMs: 7_000 });
  });

  test('C-13 backs off and makes the same list again', () => {
    const recovery = create();
    const steps = [1, 2, 3].map(() => recovery.afterList(failure('refused'), fullList));
    expect(steps.map((step) => step.waitMs)).toEqual([800, 1_600, 3_200]);
  });
});

describe('I5 request budget', () => {
  const scenarios: Record<string, (recovery: Recovery, step: RecoveryStep) => RecoveryStep> = {
    'C-03 closed at once': (recovery) => recovery.afterWatch(run('closed')),
    'C-10 410 on every watch': (recovery, step) =>
      step.kind === 'list' ? watch(0) : recovery.afterWatch(run('expired')),
    'C-10 an event, then 410, on every watch': (recovery, step) =>
      step.kind === 'list' ? watch(0) : recovery.afterWatch(run('expired', { progressed: true })),
    'C-13 every request refused': (recovery, step) =>
      step.kind === 'list' ? recovery.afterList(failure('refused'), step) : recovery.afterWatch(run('refused')),
    'C-15 every stream garbage': (recovery, step) =>
      step.kind === 'list' ? watch(0) : recovery.afterWatch(run('unreadable')),
  };

  test.each(Object.entries(scenarios))('%s: at most 8 lists and 8 watches begin in any 60 s', (_name, next) => {
    const recovery = create();
    const starts: Record<RecoveryStep['kind'], number[]> = { watch: [], list: [] };
    let step: RecoveryStep = watch(0);
    for (let now = 0; now < 600_000; now += step.waitMs) {
      starts[step.kind].push(now);
      step = next(recovery, step);
    }
    for (const times of Object.values(starts)) {
      const busiest = times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length);
      expect(Math.max(0, ...busiest)).toBeLessThanOrEqual(8);
    }
  });
});
