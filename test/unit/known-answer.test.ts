import { describe, expect, test } from 'vitest';
import { orKnown } from '../../src/runtime/known-answer.ts';
import { TooManyCalls } from '../../src/runtime/limits/bounded-calls.ts';

const AWAY = new Error('the cluster is away');
const FULL = new TooManyCalls('all seats are taken', false);
const rejected = (cause: Error): Promise<string> => {
  const call = Promise.reject(cause);
  call.catch(() => undefined);
  return call;
};
const given = (known: string | undefined) => ({
  answered: (answer: string) => answer,
  known: () => known,
  failed: (cause: unknown) => cause,
});

describe('a question to which an answer is known', () => {
  test('gets the new one', async () => {
    expect(await orKnown(Promise.resolve('new'), false, given('old'))).toBe('new');
  });

  test('gets the known one at once while calls are paused', () => {
    expect(orKnown(new Promise<string>(() => {}), true, given('old'))).toBe('old');
  });

  test('gets the known one when the call fails', async () => {
    expect(await orKnown(rejected(AWAY), false, given('old'))).toBe('old');
  });

  test('fails for want of our own seats, whatever is known', async () => {
    await expect(orKnown(rejected(FULL), false, given('old'))).rejects.toBe(FULL);
  });
});

describe('a question to which none is known', () => {
  test('gets an answer while calls are paused, by the probe', async () => {
    expect(await orKnown(Promise.resolve('new'), true, given(undefined))).toBe('new');
  });

  test.each([AWAY, FULL])('fails as the call does: %s', async (cause) => {
    await expect(orKnown(rejected(cause), false, given(undefined))).rejects.toBe(cause);
  });
});
