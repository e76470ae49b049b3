import { describe, expect, test } from 'vitest';
import { ClientThrottle } from '../../../../src/oauth/endpoints/client-throttle.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const HERE = '192.0.2.1';

function start() {
  const clock = new FakeClock();
  const limits = { client: { limit: 3, windowMs: MINUTE }, address: { limit: 7, windowMs: MINUTE } };
  const throttle = new ClientThrottle(limits, { clock, random: systemRandom });
  const fail = (name: string, source = HERE, times = 3): void => {
    for (let time = 0; time < times; time++) throttle.failed({ name, source });
  };
  const isOpen = (name: string, source = HERE): boolean => throttle.waitMs({ name, source }) === 0;
  return { clock, throttle, fail, isOpen };
}

describe('the throttle of clients', () => {
  test('closes after the limit, for this client at this address only, until the oldest failure leaves the window', async () => {
    const { clock, throttle, fail, isOpen } = start();
    fail('console', HERE, 2);
    expect(isOpen('console')).toBe(true);
    await clock.advance(10_000);
    fail('console', HERE, 1);
    expect(throttle.waitMs({ name: 'console', source: HERE })).toBe(50_000);
    expect([isOpen('other'), isOpen('console', '192.0.2.2')]).toEqual([true, true]);
    await clock.advance(50_000);
    expect(isOpen('console')).toBe(true);
  });

  test('closes an address after failures over several names, for names that have not succeeded there', () => {
    const { throttle, fail, isOpen } = start();
    throttle.succeeded({ name: 'good', source: HERE });
    for (const name of ['a', 'b']) fail(name);
    expect(isOpen('new')).toBe(true);
    fail('c', HERE, 1);
    expect([isOpen('new'), isOpen('good'), isOpen('new', '192.0.2.2')]).toEqual([false, true, true]);
  });

  test('leaves a known good client at an address alone, whatever fails at other addresses', () => {
    const { throttle, fail, isOpen } = start();
    throttle.succeeded({ name: 'console', source: HERE });
    for (const last of [2, 3, 4]) fail('console', `192.0.2.${last}`);
    expect([isOpen('console'), isOpen('console', '192.0.2.2')]).toEqual([true, false]);
  });

  test('counts the failures of a known good client for itself, not for its address', () => {
    const { throttle, fail, isOpen } = start();
    for (const name of ['a', 'b', 'c']) throttle.succeeded({ name, source: HERE });
    for (const name of ['a', 'b', 'c']) fail(name);
    expect([isOpen('a'), isOpen('new')]).toEqual([false, true]);
  });

  test('forgets a success after a day', async () => {
    const { clock, throttle, fail, isOpen } = start();
    throttle.succeeded({ name: 'good', source: HERE });
    await clock.advance(DAY);
    for (const name of ['a', 'b', 'c']) fail(name);
    expect(isOpen('good')).toBe(false);
  });

  test('a success empties the bucket of its client, and not that of its address', () => {
    const { throttle, fail, isOpen } = start();
    fail('console', HERE, 2);
    throttle.succeeded({ name: 'console', source: HERE });
    fail('console', HERE, 2);
    expect(isOpen('console')).toBe(true);
    fail('a');
    fail('b', HERE, 2);
    expect(isOpen('new')).toBe(false);
  });
});
