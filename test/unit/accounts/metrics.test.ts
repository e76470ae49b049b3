import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createRecordCounter, registerFaultyUsers, registerRoleConflicts } from '../../../src/accounts/metrics.ts';

test('users are counted when they are asked for; login records begin at 0', async () => {
  const registry = new Registry();
  const counts = { conflicts: 1, faulty: 2 };
  registerRoleConflicts(registry, () => counts.conflicts);
  registerFaultyUsers(registry, () => counts.faulty);
  const records = createRecordCounter(registry);
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('gatehouse_'));
  expect(await lines()).toEqual([
    'gatehouse_platform_role_conflicts 1',
    'gatehouse_user_objects_faulty 2',
    'gatehouse_login_records_total{result="written"} 0',
    'gatehouse_login_records_total{result="dropped"} 0',
  ]);
  records.inc({ result: 'dropped' });
  counts.conflicts = 0;
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'gatehouse_platform_role_conflicts 0',
      'gatehouse_login_records_total{result="dropped"} 1',
    ]),
  );
});
