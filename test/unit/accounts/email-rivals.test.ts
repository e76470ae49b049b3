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
    expect(await expected.wasTaken('uid-ada', '1')).toBe(false);
  });

  test.each([
    ['in other letters', { email: EMAIL.toUpperCase() }],
    ['while that one is being made', { email: EMAIL, isIncomplete: true }],
  ])('is somebody for the second, %s', async (_, earlier) => {
    const { users, rivals } = start();
    const expected = rivals.expect('ada', EMAIL);
    users.put(userRecord('eva', earlier));
    users.put(userRecord('ada', { email: EMAIL }));
    expect(await expected.wasTaken('uid-ada', '1')).toBe(true);
  });

  test('is nobody where that one is being deleted', async () => {
    const { users, rivals } = start();
    users.put(userRecord('eva', { email: EMAIL, isDeleting: true }));
    const expected = rivals.expect('ada', EMAIL);
    users.put(userRecord('ada', { email: EMAIL }));
    expect(await expected.wasTaken('uid-ada', '1')).toBe(false);
  });

  test('counts from when the user has the address, and for this user alone', async () => {
    const { users, rivals } = start();
    users.put(userRecord('ada', { uid: 'earlier', email: EMAIL, isDeleting: true }));
    const expected = rivals.expect('ada', EMAIL);
    const isTaken = expected.wasTaken('later', '7');
    users.put(userRecord('ada', { uid: 'earlier', resourceVersion: '5', email: EMAIL }));
    users.put(userRecord('eva', { email: EMAIL }));
    users.put(userRecord('ada', { uid: 'later', resourceVersion: '6', email: 'other@example.com' }));
    users.put(userRecord('ada', { uid: 'later', resourceVersion: '7', email: EMAIL }));
    expect(await isTaken).toBe(true);
  });

  test.each(['before', 'after'])(
    'counts from the write, where the mirror has yet to show that the user had the address before, asked %s it does',
    async (when) => {
      const { users, rivals } = start();
      const expected = rivals.expect('ada', EMAIL);
      const asked = when === 'before' ? expected.wasTaken('uid-ada', '12') : undefined;
      users.put(userRecord('ada', { resourceVersion: '9', email: EMAIL }));
      users.put(userRecord('ada', { resourceVersion: '10', email: 'other@example.com' }));
      users.put(userRecord('eva', { resourceVersion: '11', email: EMAIL }));
      users.put(userRecord('ada', { resourceVersion: '12', email: EMAIL }));
      users.delete('eva');
      users.put(userRecord('ada', { resourceVersion: '14', email: EMAIL }));
      expect(await (asked ?? expected.wasTaken('uid-ada', '12'))).toBe(true);
    },
  );

  test.each(['before', 'after'])(
    'counts from a later change, where a new list skips the write, asked %s it',
    async (when) => {
      const { users, rivals } = start();
      const expected = rivals.expect('ada', EMAIL);
      const asked = when === 'before' ? expected.wasTaken('uid-ada', '12') : undefined;
      users.put(userRecord('ada', { resourceVersion: '9', email: EMAIL }));
      users.put(userRecord('eva', { resourceVersion: '13', email: EMAIL }));
      users.put(userRecord('ada', { resourceVersion: '14', email: EMAIL }));
      expect(await (asked ?? expected.wasTaken('uid-ada', '12'))).toBe(true);
    },
  );

  test('cannot be told when the mirror does not show the change within 10 s', async () => {
    const { users, clock, rivals } = start();
    const failure = rivals
      .expect('ada', EMAIL)
      .wasTaken('uid-ada', '1')
      .catch((error: unknown) => String(error));
    users.put(userRecord('ada', { uid: 'later', resourceVersion: '2', email: EMAIL }));
    await clock.advance(10_000);
    expect(await failure).toContain('not seen in the mirror in time');
  });
});
