import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../dev/fault-proxy/fault-proxy.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes?sortBy=name&ascending=true';

/** Two of the longest waits (one for a server that is back, one for a repeated 410) and the work after them. */
const LIMIT_MS = 75_000;

interface NodeList {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly labels?: { tier?: string } } }[];
}

const node = (name: string): string => JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

const seriesOf = (name: string, label: string): string => `gatehouse_reflector_${name}{resource="nodes",${label}}`;

describe('Gatehouse on a real cluster that goes wrong', () => {
  let folder: string;
  let cluster: ControlPlane;
  let proxy: FaultProxy;
  let gatehouse: Gatehouse;
  let token: string;
  let restore: () => Promise<void>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-chaos-'));
    cluster = await startControlPlane();
    for (const name of ['node-a', 'node-b']) await cluster.kubectl(['create', '-f', '-'], node(name));
    proxy = await startFaultProxy(Number(new URL(cluster.url).port));
    const first = await start(); // makes the signing keys, which belong in the backup
    restore = await cluster.backUp();
    await first.stop();
  });
  // One for each row, so that its back-off does not come from the rows before.
  beforeEach(async () => {
    gatehouse = await start();
    token = await gatehouse.signIn('ada');
  });
  afterEach(() => gatehouse?.stop());
  afterAll(async () => {
    await proxy?.stop();
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (): Promise<Gatehouse> => {
    const config = { authorization: { mode: 'AlwaysAllow' } }; // this test is about the content of the cache
    return startGatehouse(cluster, { ada: [] }, { config, kubeconfig: kubeconfigOfAPod });
  };

  const tokenFile = (): string => join(folder, 'token');

  /** Token and authority in files, as a pod has them; through the proxy. */
  async function kubeconfigOfAPod(first: string): Promise<string> {
    await writeFile(tokenFile(), first);
    const file = join(folder, 'kubeconfig');
    const server = `https://127.0.0.1:${proxy.port}`;
    const config = {
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority': cluster.caFile } }],
      users: [{ name: 'u', user: { tokenFile: tokenFile() } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  /** The label of each node. Also checks that the replica is ready and answers 200 whatever goes on. */
  async function tiers(): Promise<Record<string, string | undefined>> {
    const { status, body } = await gatehouse.get(LIST, token);
    const ready = await fetch(`${gatehouse.url}/readyz`);
    await ready.text();
    expect([status, ready.status]).toEqual([200, 200]);
    return Object.fromEntries((body as NodeList).items.map(({ metadata }) => [metadata.name, metadata.labels?.tier]));
  }

  const label = (name: string, tier: string) => cluster.kubectl(['label', 'node', name, `tier=${tier}`, '--overwrite']);

  /** Waits until the list is exactly this, after the fault of this row, and prints the time that it took. */
  async function converged(wanted: Record<string, string | undefined>, row?: string): Promise<void> {
    const began = performance.now();
    const took = (): number => performance.now() - began;
    for (let seen = await tiers(); JSON.stringify(seen) !== JSON.stringify(wanted); seen = await tiers()) {
      if (took() > LIMIT_MS) expect(seen).toEqual(wanted);
      await sleep(50);
    }
    if (row) console.log(`${row}: ${(took() / 1000).toFixed(1)} s from the end of the fault`);
  }

  /** By how much `during` raises these series. */
  async function added(series: readonly string[], during: () => Promise<void>): Promise<number[]> {
    const read = () => Promise.all(series.map((one) => gatehouse.metric(one)));
    const before = await read();
    await during();
    return (await read()).map((value, index) => value - (before[index] ?? 0));
  }

  /** https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
  async function etcd(path: string, body: object): Promise<{ header: { revision: string } }> {
    const answer = await fetch(`${cluster.etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { header: { revision: string } };
  }

  /** Revisions that have nothing to do with Kubernetes: more than its API server writes while it starts. */
  async function pass(revisions: number): Promise<void> {
    for (let count = 0; count < revisions; count++)
      await etcd('put', { key: btoa('elsewhere'), value: btoa(`${count}`) });
  }

  test('C-23 follows an etcd that was restored from a backup', async () => {
    await pass(500);
    await label('node-a', 'lost');
    await cluster.kubectl(['create', '-f', '-'], node('node-lost'));
    await converged({ 'node-a': 'lost', 'node-b': undefined, 'node-lost': undefined });
    const restored = [seriesOf('relists_total', 'reason="restored"'), 'gatehouse_cache_epoch{resource="nodes"}'];
    const counts = await added(restored, async () => {
      await restore();
      await converged({ 'node-a': undefined, 'node-b': undefined }, 'C-23');
    });
    expect(counts).toEqual([1, 1]);
  });

  test('C-24 finds by its self-check that a restored etcd has written past its version while it was cut off', async () => {
    for (let count = 0; count < 3; count++) await label('node-a', `lost-${count}`);
    await converged({ 'node-a': 'lost-2', 'node-b': undefined });
    const mismatch = 'gatehouse_cache_self_checks_total{resource="nodes",result="mismatch"}';
    const [mismatches] = await added([mismatch], async () => {
      proxy.refuse();
      proxy.reset();
      await restore();
      await label('node-b', 'kept');
      await pass(1_000);
      await proxy.accept();
      await converged({ 'node-a': undefined, 'node-b': 'kept' }, 'C-24');
    });
    expect(mismatches).toBe(1);
  });

  test('C-07 lists once when etcd was compacted past its version while it was cut off', async () => {
    await label('node-a', 'shown');
    await converged({ 'node-a': 'shown', 'node-b': 'kept' });
    const series = [
      seriesOf('relists_total', 'reason="expired"'),
      seriesOf('lists_total', 'result="ok"'),
      'gatehouse_cache_epoch{resource="nodes"}',
    ];
    const counts = await added(series, async () => {
      proxy.refuse();
      proxy.reset();
      await label('node-b', 'missed');
      await cluster.killApiServer(); // its watch cache would still have the history
      const { header } = await etcd('range', { key: btoa('/') });
      await etcd('compaction', { revision: header.revision, physical: true });
      await cluster.startApiServer();
      expect(await tiers()).toEqual({ 'node-a': 'shown', 'node-b': 'kept' });
      await proxy.accept();
      await converged({ 'node-a': 'shown', 'node-b': 'missed' }, 'C-07');
    });
    expect(counts).toEqual([1, 1, 0]);
  });

  test('C-27 reads a rotated token at a 401, and goes on with it', async () => {
    const refused = 'gatehouse_cluster_requests_total{purpose="watch",code="401"}';
    const before = await gatehouse.metric(refused);
    await cluster.kubectl(['delete', 'serviceaccount', 'gatehouse', '--namespace', NAMESPACE]);
    await cluster.kubectl(['create', 'serviceaccount', 'gatehouse', '--namespace', NAMESPACE]);
    // kube-apiserver remembers a token for 10 s; open watches are not asked again.
    for (let attempt = 0; attempt < 5 && (await gatehouse.metric(refused)) === before; attempt++) {
      await sleep(6_000);
      proxy.reset();
      await sleep(2_000); // the first back-off is over
    }
    expect(await gatehouse.metric(refused)).toBeGreaterThan(before);
    await label('node-b', 'rotated');
    await writeFile(tokenFile(), await cluster.serviceAccountToken(NAMESPACE, 'gatehouse'));
    await converged({ 'node-a': 'shown', 'node-b': 'rotated' }, 'C-27');
  });

  test('C-31 follows the API server to a certificate of another authority', async () => {
    const [resets] = await added([seriesOf('watches_total', 'end="reset"')], async () => {
      await cluster.killApiServer();
      for (const name of ['apiserver.crt', 'apiserver.key']) await rm(join(dirname(cluster.caFile), name));
      await cluster.startApiServer(); // makes itself an authority and a certificate where it has none
      await label('node-a', 'anew');
      await converged({ 'node-a': 'anew', 'node-b': 'rotated' }, 'C-31');
    });
    expect(resets).toBeGreaterThan(0);
  });
});
