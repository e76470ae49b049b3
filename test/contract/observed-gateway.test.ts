import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GATEWAY_GROUP, readCases } from '../support/observed/case.ts';
import { type SimulatedAccounts, startSimulatedAccounts } from '../support/observed/simulated-accounts.ts';

// The cases run in the recorded order, because each changes what the next one sees.
describe('the recorded answers of the paths of the cluster', { shuffle: false }, () => {
  let running: SimulatedAccounts;

  beforeAll(async () => {
    running = await startSimulatedAccounts();
  });

  afterAll(() => running?.stop());

  test.each(readCases(GATEWAY_GROUP))('$id', async (one) => {
    expect(await running.accounts.corpus.problems(one)).toEqual([]);
  });
});
