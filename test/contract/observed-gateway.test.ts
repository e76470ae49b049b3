import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GATEWAY_GROUP, readCases } from '../support/observed/case.ts';
import { type SimulatedAccounts, startSimulatedAccounts } from '../support/observed/simulated-accounts.ts';

// In their order, always: what one case asks changes what the cases after it are answered, as when they were recorded.
describe('the recorded answers of the paths of the cluster', { shuffle: false }, () => {
  let running: SimulatedAccounts;

  beforeAll(async () => {
    running = await startSimulatedAccounts();
  }, 60_000);

  afterAll(() => running?.stop());

  test.each(readCases(GATEWAY_GROUP))('$id', async (one) => {
    expect(await running.accounts.corpus.problems(one)).toEqual([]);
  });
});
