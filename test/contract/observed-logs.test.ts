import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedCluster, startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../dev/log-store/log-store.ts';
import { logCluster } from '../support/logs/log-people.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { type LogStand, startLogStand } from '../support/logs/log-stand.ts';
import { LOG_GROUPS, readCases } from '../support/observed/case.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';

const { platform } = OBSERVED_CONFIG;
const CASES = LOG_GROUPS.flatMap(readCases);

async function startCluster(): Promise<SimulatedCluster> {
  const cluster = await startSimulatedCluster({ platform });
  for (const object of logCluster(platform)) cluster.objects.create(`${object['kind']}s`.toLowerCase(), object);
  return cluster;
}

describe('the recorded answers about logs with a store', () => {
  let cluster: SimulatedCluster;
  let store: SimulatedLogStore;
  let stand: LogStand;

  beforeAll(async () => {
    [cluster, store] = await Promise.all([startCluster(), startSimulatedLogStore()]);
    store.add(logRecords());
    stand = await startLogStand({ kubeconfig: cluster.kubeconfig(), logging: { host: store.url } });
  });

  afterAll(async () => {
    await stand?.gatehouse.stop();
    await Promise.all([cluster?.stop(), store?.stop()]);
  });

  test.each(CASES.filter(({ needs }) => needs === 'log store'))('$id', async (one) => {
    expect(await stand.corpus.problems(one)).toEqual([]);
  });

  test('leave no place open in the store', async () => {
    await expect.poll(() => store.openScrolls()).toBe(0);
  });
});

describe('the recorded answers about logs without a store', () => {
  let cluster: SimulatedCluster;
  let stand: LogStand;

  beforeAll(async () => {
    cluster = await startCluster();
    stand = await startLogStand({ kubeconfig: cluster.kubeconfig(), logging: {} });
  });

  afterAll(async () => {
    await stand?.gatehouse.stop();
    await cluster?.stop();
  });

  test.each(CASES.filter(({ needs }) => needs === undefined))('$id', async (one) => {
    expect(await stand.corpus.problems(one)).toEqual([]);
  });
});
