import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_GROUPS, readCases } from '../support/observed/case.ts';
import { type SimulatedAccounts, startSimulatedAccounts } from '../support/observed/simulated-accounts.ts';

// The cases run in the recorded order, because each changes what the next one sees.
describe('the recorded answers about accounts', { shuffle: false }, () => {
  let running: SimulatedAccounts;

  beforeAll(async () => {
    running = await startSimulatedAccounts();
  });

  afterAll(() => running?.stop());

  // Those of roles and records change nothing that those of users look at.
  describe.each(ACCOUNT_GROUPS)('%s', (group) => {
    test.each(readCases(group))('$id', async (one) => {
      expect(await running.accounts.corpus.problems(one)).toEqual([]);
    });
  });
});
