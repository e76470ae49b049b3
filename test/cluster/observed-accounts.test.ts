import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_GROUPS, readCases } from '../support/observed/case.ts';
import { type ClusterAccounts, startClusterAccounts } from './account-stand.ts';

describe('the recorded answers about accounts in front of a real API server', () => {
  let running: ClusterAccounts;

  beforeAll(async () => {
    running = await startClusterAccounts();
  }, 120_000);

  afterAll(() => running?.stop());

  // Those of roles and records change nothing that those of users look at.
  describe.each(ACCOUNT_GROUPS)('%s', (group) => {
    test.each(readCases(group))('$id', async (one) => {
      expect(await running.accounts.corpus.problems(one)).toEqual([]);
    });
  });
});
