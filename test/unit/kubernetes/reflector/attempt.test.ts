import { describe, expect, test } from 'vitest';
import { ReflectorRequest } from '../../../../src/kubernetes/reflector/attempt.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const begin = () => {
  const clock = new FakeClock();
  const outer = new AbortController();
  return { clock, outer, attempt: new ReflectorRequest(clock, outer.signal) };
};

describe('attempt', () => {
  test('ends as refused when nothing comes for 30 s', async () => {
    const { clock, attempt } = begin();
    await clock.advance(29_999);
    expect(attempt.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(attempt.signal.aborted).toBe(true);
    expect(attempt.finish({ kind: 'aborted' })).toEqual({ kind: 'refused', detail: 'nothing came for 30 s' });
  });

  test('counts progress, not total time', async () => {
    const { clock, attempt } = begin();
    for (let second = 0; second < 300; second += 20) {
      await clock.advance(20_000);
      attempt.heard();
    }
    expect(attempt.signal.aborted).toBe(false);
    expect(attempt.finish('done')).toBe('done');
  });

  test('C-06 ends as quiet 75 s after the last byte of a stream that may be quiet', async () => {
    const { clock, attempt } = begin();
    attempt.allowQuiet();
    await clock.advance(60_000);
    attempt.heard();
    await clock.advance(74_999);
    expect(attempt.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(attempt.finish({ kind: 'aborted' })).toEqual({ kind: 'quiet' });
  });

  test('ends with the outer signal, and at once when that has aborted before', () => {
    const { clock, outer, attempt } = begin();
    outer.abort();
    expect(attempt.finish({ kind: 'reset' })).toEqual({ kind: 'aborted' });
    expect(new ReflectorRequest(clock, outer.signal).signal.aborted).toBe(true);
  });

  test('I7 leaves no timer behind', () => {
    const { clock, attempt } = begin();
    attempt.allowQuiet();
    attempt.finish({ kind: 'closed' });
    expect(clock.pendingTimers).toBe(0);
  });
});
