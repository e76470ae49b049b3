import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GATEWAY_GROUP, readCases } from '../support/observed/case.ts';
import { type ClusterAccounts, startClusterAccounts } from './account-stand.ts';

describe('the recorded answers of the paths of the cluster in front of a real API server', () => {
  let running: ClusterAccounts;

  beforeAll(async () => {
    running = await startClusterAccounts();
  }, 120_000);

  afterAll(() => running?.stop());

  test.each(readCases(GATEWAY_GROUP))('$id', async (one) => {
    expect(await running.accounts.corpus.problems(one)).toEqual([]);
  });
});
