import { describe, expect, test } from 'vitest';
import { FailureWatch } from '../../../src/users/password-sign-in.ts';
import type { User } from '../../../src/users/user.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const alice: User = { name: 'alice', uid: '1', groups: [], state: 'Active' };
const ALARM = { event: 'sign_in_failures_many', failures: 100, withinSeconds: 60 };

function newWatch() {
  const clock = new FakeClock();
  const told: object[] = [];
  const watch = new FailureWatch({
    clock,
    events: { report: (event, fields) => void told.push({ event, ...fields }) },
  });
  return { clock, told, watch };
}

describe('the watch over failed sign-ins', () => {
  test('tells of each bucket that a failure made full, without the name of nobody', () => {
    const { told, watch } = newWatch();
    watch.refused({ user: alice, source: '192.0.2.1' }, ['user', 'address']);
    watch.refused({ user: undefined, source: '192.0.2.2' }, ['user']);
    expect(told).toEqual([
      { event: 'sign_in_throttled', user: 'alice', source: '192.0.2.1', bucket: 'user' },
      { event: 'sign_in_throttled', user: 'alice', source: '192.0.2.1', bucket: 'address' },
      { event: 'sign_in_throttled', source: '192.0.2.2', bucket: 'user' },
    ]);
  });

  test.each([
    [
      'a thousand names, once each',
      (watch: FailureWatch) => watch.refused({ user: undefined, source: '192.0.2.1' }, []),
    ],
    ['one name from a thousand addresses', (watch: FailureWatch) => watch.turnedAway()],
  ])('A-43 raises the alarm at the hundredth failure in a minute, and once a minute then: %s', async (_, fail) => {
    const { told, watch, clock } = newWatch();
    for (let failure = 0; failure < 99; failure++) fail(watch);
    expect(told).toEqual([]);
    for (let failure = 99; failure < 1000; failure++) fail(watch);
    expect(told).toEqual([ALARM]);
    await clock.advance(60_000);
    for (let failure = 0; failure < 99; failure++) fail(watch);
    expect(told).toEqual([ALARM]);
    fail(watch);
    expect(told).toEqual([ALARM, ALARM]);
  });

  test('A-43 raises none for a hundred failures that take longer', async () => {
    const { told, watch, clock } = newWatch();
    for (let failure = 0; failure < 200; failure++) {
      watch.turnedAway();
      await clock.advance(610);
    }
    expect(told).toEqual([]);
  });
});
