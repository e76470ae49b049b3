import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { aborted, onAbort, unlessAborted } from '../../src/runtime/abort.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('what follows an abort', () => {
  test('is done once, at the abort', () => {
    const controller = new AbortController();
    const act = vi.fn();
    onAbort(controller.signal, act);
    expect(act).not.toHaveBeenCalled();
    controller.abort();
    controller.abort();
    expect([act.mock.calls.length, listeners(controller.signal)]).toEqual([1, 0]);
  });

  test('is done at once for a signal that has aborted before', () => {
    const act = vi.fn();
    onAbort(AbortSignal.abort(), act)();
    expect(act).toHaveBeenCalledTimes(1);
  });

  test('is not done, and leaves no listener, after letting go', () => {
    const controller = new AbortController();
    const act = vi.fn();
    onAbort(controller.signal, act)();
    expect(listeners(controller.signal)).toBe(0);
    controller.abort();
    expect(act).not.toHaveBeenCalled();
  });

  test('may be the same for two, each of which lets go for itself', () => {
    const controller = new AbortController();
    const act = vi.fn();
    onAbort(controller.signal, act);
    onAbort(controller.signal, act)();
    controller.abort();
    expect(act).toHaveBeenCalledTimes(1);
  });

  test.each([true, false])('can be waited for (before the abort: %s)', async (isBefore) => {
    const controller = new AbortController();
    if (!isBefore) controller.abort();
    const waited = aborted(controller.signal);
    controller.abort();
    await expect(waited).resolves.toBeUndefined();
  });
});

describe('a promise that is not waited for after an abort', () => {
  test.each([
    ['a value', async () => 7, { status: 'fulfilled', value: 7 }],
    ['an error', () => Promise.reject(new Error('gone')), { status: 'rejected', reason: new Error('gone') }],
  ])('settles with %s, and leaves no listener', async (_, run, outcome) => {
    const { signal } = new AbortController();
    expect(await Promise.allSettled([unlessAborted<unknown>(run(), signal)])).toEqual([outcome]);
    expect(listeners(signal)).toBe(0);
  });

  test.each([true, false])('rejects at the abort (before the call: %s)', async (isBefore) => {
    const controller = new AbortController();
    if (isBefore) controller.abort();
    const waiting = unlessAborted(new Promise(() => {}), controller.signal);
    controller.abort();
    await expect(waiting).rejects.toThrow('aborted');
  });
});
