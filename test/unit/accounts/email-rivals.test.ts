import { describe, expect, test } from 'vitest';
import { createEmailRivals } from '../../../src/accounts/users/email-rivals.ts';
import { MemoryUserRecords, userRecord } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const EMAIL = 'ada@example.com';

function start() {
  const users = new MemoryUserRecords();
  const clock = new FakeClock();
  return { users, clock, rivals: createEmailRivals(users, { clock }) };
}

describe('A-41 who had an address before', () => {
  test('is nobody for the first of two, also when the second is there by the time of the question', async () => {
    const { users, rivals } = start();
    const expected = rivals.expect('ada', EMAIL);
    users.put(userRecord('ada', { email: EMAIL }));
    users.put(userRecord('eva', { email: EMAIL }));
    expect(await expected.wasTaken('uid-ada')).toBe(false);
  });

  test.each([
    ['in other letters', { email: EMAIL.toUpperCase() }],
    ['while that one is being made', { email: EMAIL, isIncomplete: true }],
  ])('is somebody for the second, %s', async (_, earlier) => {
    const { users, rivals } = start();
    const expected = rivals.expect('ada', EMAIL);
    users.put(userRecord('eva', earlier));
    users.put(userRecord('ada', { email: EMAIL }));
    expect(await expected.wasTaken('uid-ada')).toBe(true);
  });

  test('is nobody where that one is being deleted', async () => {
    const { users, rivals } = start();
    users.put(userRecord('eva', { email: EMAIL, isDeleting: true }));
    const expected = rivals.expect('ada', EMAIL);
    users.put(userRecord('ada', { email: EMAIL }));
    expect(await expected.wasTaken('uid-ada')).toBe(false);
  });

  test('counts from when the user has the address, and for this user alone', async () => {
    const { users, rivals } = start();
    users.put(userRecord('ada', { uid: 'earlier', email: EMAIL, isDeleting: true }));
    const expected = rivals.expect('ada', EMAIL);
    const isTaken = expected.wasTaken('later');
    users.put(userRecord('ada', { uid: 'earlier', email: EMAIL }));
    users.put(userRecord('eva', { email: EMAIL }));
    users.put(userRecord('ada', { uid: 'later', email: 'other@example.com' }));
    users.put(userRecord('ada', { uid: 'later', email: EMAIL }));
    expect(await isTaken).toBe(true);
  });

  test('cannot be told when the mirror does not show the change within 10 s', async () => {
    const { clock, rivals } = start();
    const failure = rivals
      .expect('ada', EMAIL)
      .wasTaken('uid-ada')
      .catch((error: unknown) => String(error));
    await clock.advance(10_000);
    expect(await failure).toContain('not seen in the mirror in time');
  });
});
