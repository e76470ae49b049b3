import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedCluster, startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { logCluster } from '../support/logs/log-people.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { type LogStand, startLogStand } from '../support/logs/log-stand.ts';
import { LOG_GROUPS, readCases } from '../support/observed/case.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';
import { type RealStore, startStore } from './real-store.ts';
import { STORE_NAMES, STORES } from './store-tools.ts';

const { platform } = OBSERVED_CONFIG;
const CASES = LOG_GROUPS.flatMap(readCases).filter(({ needs }) => needs === 'log store');

describe.each(STORE_NAMES)('the recorded answers about logs from %s', (name) => {
  let cluster: SimulatedCluster;
  let store: RealStore;
  let stand: LogStand;

  beforeAll(async () => {
    cluster = await startSimulatedCluster({ platform });
    for (const object of logCluster(platform)) cluster.objects.create(`${object['kind']}s`.toLowerCase(), object);
    const began = performance.now();
    store = await startStore(name);
    const started = performance.now();
    await store.load(logRecords());
    const loaded = performance.now();
    console.log(`${name}: started in ${Math.round(started - began)} ms, loaded in ${Math.round(loaded - started)} ms`);
    // Here Elasticsearch 8 answers `GET /` with 405: what does otherwise is a module that no package has.
    const version = name === 'elasticsearch-8' ? STORES[name].dialect : '';
    stand = await startLogStand({ kubeconfig: cluster.kubeconfig(), logging: { host: store.url, version } });
  });

  afterAll(async () => {
    await stand?.gatehouse.stop();
    await Promise.all([cluster?.stop(), store?.stop()]);
  });

  test.each(CASES)('$id', async (one) => {
    expect(await stand.corpus.problems(one)).toEqual([]);
  });
});
