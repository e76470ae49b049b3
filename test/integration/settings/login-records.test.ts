import { describe, expect, test } from 'vitest';
import { record, user } from '../accounts/read-stand.ts';
import { startOdd } from './odd-settings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The ages in hours of the records of Mia that are left when the others have been removed. */
async function leftOf(hours: readonly number[], count: number): Promise<readonly number[]> {
  const { cluster, clock } = await startOdd({ config: { accounts: { enabled: true } } });
  cluster.objects.create('users', user('mia'));
  for (const [index, age] of hours.entries()) {
    const at = new Date(clock.now() - age * HOUR).toISOString().replace(/\.\d+Z$/, 'Z');
    cluster.objects.create('loginrecords', record(`mia-${index}`, 'mia', at));
  }
  const names = await clock.until(
    () => cluster.objects.list('loginrecords').map(({ metadata }) => metadata.name),
    ({ length }) => length <= count,
  );
  return names.map((name) => hours[Number(name.slice('mia-'.length))] ?? -1).sort((a, b) => a - b);
}

describe('configured limits of login records', () => {
  test('authentication.loginHistoryRetentionPeriod: 97 hours of them are kept', async () => {
    expect(await leftOf([1, 96, 98], 2)).toEqual([1, 96]);
  });

  test('authentication.loginHistoryMaximumEntries: eight of a user are kept, the newest', async () => {
    expect(await leftOf([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
