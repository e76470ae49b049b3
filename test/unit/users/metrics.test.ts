import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import {
  createPasswordMetrics,
  createReloadCounter,
  registerHashMetric,
  registerUserConflicts,
} from '../../../src/users/metrics.ts';
import { dummyHash } from '../../../src/users/password-hash.ts';
import type { User } from '../../../src/users/user.ts';

const linesOf = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith('gatehouse_'));

test('what may be counted begins at 0', async () => {
  const registry = new Registry();
  const { duration, queueWait } = createPasswordMetrics(registry);
  createReloadCounter(registry);
  const counted = (await linesOf(registry)).filter((line) => !line.includes('_seconds'));
  expect(counted).toEqual([
    'gatehouse_login_throttled_total{bucket="user"} 0',
    'gatehouse_login_throttled_total{bucket="address"} 0',
    'gatehouse_login_throttled_total{bucket="known_good"} 0',
    'gatehouse_password_hash_queue_length 0',
    'gatehouse_password_hashes_in_flight 0',
    'gatehouse_password_hash_rejections_total 0',
    'gatehouse_users_file_reloads_total{result="ok"} 0',
    'gatehouse_users_file_reloads_total{result="invalid"} 0',
  ]);
  duration.observe(0.05);
  queueWait.observe(2);
  const lines = await linesOf(registry);
  expect(lines).toContain('gatehouse_password_hash_duration_seconds_bucket{le="0.05"} 1');
  expect(lines).toContain('gatehouse_password_hash_queue_wait_seconds_bucket{le="1"} 0');
  expect(lines).toContain('gatehouse_password_hash_queue_wait_seconds_bucket{le="2"} 1');
});

test('users are counted by the kind of their hash, anew at each scrape', async () => {
  const registry = new Registry();
  const hashes = [dummyHash(10), dummyHash(10), dummyHash(11), dummyHash(13), 'no hash', undefined];
  let users = hashes.map(
    (passwordHash, index): User => ({
      ...{ name: `u${index}`, uid: '', groups: [], state: 'Active' },
      ...(passwordHash === undefined ? {} : { passwordHash }),
    }),
  );
  registerHashMetric(registry, { cost: 10, maxCost: 12 }, { all: () => users });
  registerUserConflicts(registry, { refused: () => 3, sharedEmails: () => 4 } as never);
  const kinds = (...counts: number[]) => [
    ...['write_cost', 'other_cost', 'unfit', 'none'].map(
      (kind, index) => `gatehouse_users{password_hash="${kind}"} ${counts[index]}`,
    ),
    ...['gatehouse_users_refused 3', 'gatehouse_user_emails_shared 4'],
  ];
  expect(await linesOf(registry)).toEqual(kinds(2, 1, 2, 1));
  users = users.slice(0, 1);
  expect(await linesOf(registry)).toEqual(kinds(1, 0, 0, 0));
});
