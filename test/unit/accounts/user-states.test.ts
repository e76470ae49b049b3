import { describe, expect, test } from 'vitest';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import { createUserStates } from '../../../src/accounts/states/user-states.ts';
import { WriteThrottle } from '../../../src/accounts/states/write-throttle.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { MemoryUserRecords } from '../../support/accounts/memory-user-records.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
const quiet = { info: () => {}, warn: () => {}, debug: () => {} } as never;

function start() {
  const clock = new FakeClock();
  const users = new MemoryUserRecords();
  const objects = new MemoryObjects();
  objects.onChange = (name, object) => (object ? users.putObject(object) : users.delete(name));
  const unlocked: string[] = [];
  const withPassword = new Set(['alice']);
  const states = createUserStates(
    { limit: 5, windowMs: 30 * MINUTE },
    {
      ...{
        users,
        clock,
        logger: quiet,
        patchStatus: createStatusPatch(objects),
        writeThrottle: new WriteThrottle(clock),
      },
      random: { bytes: (length) => Buffer.alloc(length), fraction: () => 0.9 },
      byName: (name) => ({ uid: `uid-${name}`, ...(withPassword.has(name) ? { passwordHash: 'made-up' } : {}) }),
      throttle: { unlock: ({ name }) => void unlocked.push(name) },
    },
  );
  const stop = new AbortController();
  const running = states.run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  const put = (name: string, status: Record<string, string>, metadata: object = {}): void =>
    void objects.put({ metadata: { name, uid: `uid-${name}`, resourceVersion: '', ...metadata }, status });
  const status = (name: string): unknown => objects.peek(name)?.['status'];
  return { clock, objects, states, unlocked, withPassword, put, status };
}

const LIMITED = {
  state: 'AuthLimitExceeded',
  reason: '5 failed sign-ins within 30 min',
  lastTransitionTime: '2026-03-09T10:00:00Z',
};

describe('a user whose bucket is full', () => {
  test('gets AuthLimitExceeded by one write that tells why, and keeps the time of the last sign-in', async () => {
    const { clock, objects, states, put, status } = start();
    put('alice', { state: 'Active', lastLoginTime: '2026-03-01T00:00:00Z' });
    states.limited('alice');
    await clock.advance(5000);
    expect(status('alice')).toEqual({ ...LIMITED, lastLoginTime: '2026-03-01T00:00:00Z' });
    expect(objects.writes).toEqual(['patch alice/status']);
  });

  test.each(['Disabled', 'AuthLimitExceeded'])('stays %s', async (state) => {
    const { clock, objects, states, put } = start();
    put('alice', { state, lastTransitionTime: '2026-03-09T10:00:00Z' });
    states.limited('alice');
    await clock.advance(5000);
    expect(objects.writes).toEqual([]);
  });

  test('is not overruled when somebody disabled it in this moment', async () => {
    const { clock, objects, states, put, status } = start();
    put('alice', { state: 'Active' });
    objects.before = () => {
      objects.before = () => {};
      put('alice', { state: 'Disabled' });
    };
    states.limited('alice');
    await clock.advance(5000);
    expect(status('alice')).toEqual({ state: 'Disabled' });
  });

  test('is Active again when the window is over', async () => {
    const { clock, states, put, status } = start();
    put('alice', { state: 'Active' });
    states.limited('alice');
    await clock.advance(29 * MINUTE);
    expect(status('alice')).toMatchObject({ state: 'AuthLimitExceeded' });
    await clock.advance(MINUTE + 3000);
    expect(status('alice')).toMatchObject({ state: 'Active', reason: 'the time of too many failed sign-ins is over' });
  });

  test('is unlocked on this replica when somebody makes it Active', async () => {
    const { unlocked, put } = start();
    put('alice', LIMITED);
    put('alice', { state: 'Active' });
    put('bob', { state: 'Disabled' });
    put('bob', { state: 'Active' });
    expect(unlocked).toEqual(['alice']);
  });

  test('R-17 costs three writes for 1,000 failures over many users; the others are written down later', async () => {
    const { clock, objects, states, put } = start();
    for (let user = 0; user < 200; user++) put(`u${user}`, { state: 'Active' });
    for (let user = 0; user < 200; user++) states.limited(`u${user}`);
    await clock.advance(0);
    expect(objects.writes).toHaveLength(3);
    await clock.advance(10 * MINUTE);
    expect(objects.writes.length).toBeGreaterThan(50);
  });
});

describe('a user without a state', () => {
  test('is Active within 5 s when there is a password', async () => {
    const { clock, put, status } = start();
    put('alice', {});
    await clock.advance(5000);
    expect(status('alice')).toMatchObject({ state: 'Active', reason: 'the user has a password' });
  });

  test('is left alone without one, while it is made, and while it is deleted', async () => {
    const { clock, objects, withPassword, put, status } = start();
    put('bob', {});
    put('alice', {}, { annotations: { 'iam.gatehouse.io/incomplete': '2026-03-09T10:00:00Z' } });
    put('carol', {}, { deletionTimestamp: '2026-03-09T10:00:00Z' });
    withPassword.add('carol');
    await clock.advance(10_000);
    expect(objects.writes).toEqual([]);
    withPassword.add('bob');
    await clock.advance(3000);
    expect(status('bob')).toMatchObject({ state: 'Active' });
  });

  test('is one of at most twenty that become Active in a second', async () => {
    const { clock, objects, withPassword, put } = start();
    for (let user = 0; user < 50; user++) {
      withPassword.add(`u${user}`);
      put(`u${user}`, {});
    }
    const made: number[] = [];
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000);
      made.push(objects.writes.length);
    }
    expect(made).toEqual([0, 20, 40, 50, 50]);
  });

  test('is tried again while the cluster fails', async () => {
    const { clock, objects, put, status } = start();
    objects.failure = new Error('away');
    put('alice', {});
    await clock.advance(20_000);
    objects.failure = undefined;
    await clock.advance(15_000);
    expect(status('alice')).toMatchObject({ state: 'Active' });
  });
});

describe('the throttle of writes for failed sign-ins', () => {
  test('R-17 gives at most three writes to 1,000 failures in a flood, beyond the first three', () => {
    const writeThrottle = new WriteThrottle(new FakeClock());
    let writes = 0;
    for (let failure = 0; failure < 1_000; failure++) {
      writeThrottle.failed();
      if (writeThrottle.take()) writes++;
    }
    expect(writes).toBeLessThanOrEqual(6);
  });

  test('gives one write in ten seconds in quiet times', async () => {
    const clock = new FakeClock();
    const writeThrottle = new WriteThrottle(clock);
    for (let turn = 0; turn < 3; turn++) expect(writeThrottle.take()).toBe(true);
    expect(writeThrottle.take()).toBe(false);
    await clock.advance(10_000);
    expect([writeThrottle.take(), writeThrottle.take()]).toEqual([true, false]);
  });
});
