import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { node, pod } from './manifests.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

interface NodeList {
  readonly totalItems: number;
  readonly items: readonly { metadata: { name: string; labels?: object; annotations: Record<string, string> } }[];
}

describe('Gatehouse on a real cluster, with the rights that it is installed with', () => {
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  let token: string;
  beforeAll(async () => {
    cluster = await startControlPlane();
    for (const name of ['node-a', 'node-b', 'node-c']) await cluster.kubectl(['create', '-f', '-'], node(name));
    gatehouse = await startGatehouse(cluster, { ada: ['operators'], joe: [] });
    await cluster.kubectl([
      ...['create', 'clusterrolebinding', 'operators'],
      ...['--clusterrole=gatehouse-system:gatehouse:administrators', '--group=operators'],
    ]);
    token = await gatehouse.signIn('ada');
    await eventually(list, ({ totalItems }) => totalItems === 3); // RBAC sees a new binding a moment later
  });
  afterAll(async () => {
    await gatehouse?.stop();
    await cluster?.stop();
  });

  const list = async (): Promise<NodeList> => (await gatehouse.get(LIST, token)).body as NodeList;
  const labels = (name: string) => (nodes: NodeList) =>
    nodes.items.find(({ metadata }) => metadata.name === name)?.metadata.labels;

  test('lists the nodes for a user whom RBAC lets', async () => {
    const { status, body } = await gatehouse.get(`${LIST}?sortBy=name&ascending=true`, token);
    expect(status).toBe(200);
    expect((body as NodeList).items.map(({ metadata }) => metadata.name)).toEqual(['node-a', 'node-b', 'node-c']);
  });

  test('NE-03 refuses a user without the right', async () => {
    const { status, body } = await gatehouse.get(LIST, await gatehouse.signIn('joe'));
    expect(status).toBe(403);
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'nodes.resources.gatehouse.io is forbidden: User "joe" cannot list resource "nodes" in API group "resources.gatehouse.io" at the cluster scope',
      reason: 'Forbidden',
      details: { group: 'resources.gatehouse.io', kind: 'nodes' },
      code: 403,
    });
  });

  test('shows a label that was changed in the cluster', async () => {
    await cluster.kubectl(['label', 'node', 'node-a', 'tier=new', '--overwrite']);
    await eventually(list, (nodes) => JSON.stringify(labels('node-a')(nodes)).includes('"tier":"new"'));
  });

  test('counts what the pods of a node ask for', async () => {
    await cluster.kubectl(['create', '-f', '-'], pod('node-b'));
    const usage = (nodes: NodeList) =>
      nodes.items.find(({ metadata }) => metadata.name === 'node-b')?.metadata.annotations;
    const nodes = await eventually(list, (seen) => usage(seen)?.['node.gatehouse.io/cpu-requests'] === '1');
    expect(usage(nodes)).toMatchObject({
      'node.gatehouse.io/cpu-requests-fraction': '25%',
      'node.gatehouse.io/memory-requests': '1Gi',
      'node.gatehouse.io/memory-requests-fraction': '12%',
    });
  });

  test('C-01 answers 200 and ready all along while the API server dies and returns, loses nothing, lists at most once more', async () => {
    const lists = (kind: string) => gatehouse.metric(`gatehouse_reflector_lists_total{resource="${kind}",result="ok"}`);
    const before = { nodes: await lists('nodes'), pods: await lists('pods') };
    expect(before.nodes).toBeGreaterThan(0);
    await cluster.kubectl(['label', 'node', 'node-b', 'tier=last-word', '--overwrite']);
    await cluster.killApiServer();
    const answers = new Set<number>();
    const outage = new AbortController();
    const watching = collectAnswers(answers, outage.signal);
    await sleep(1_000); // an outage that has to be served from memory; the restart adds its own seconds
    await cluster.startApiServer();
    await cluster.kubectl(['label', 'node', 'node-c', 'tier=after', '--overwrite']);
    const nodes = await eventually(list, (seen) => JSON.stringify(labels('node-c')(seen)).includes('"tier":"after"'));
    outage.abort();
    await watching;
    expect(labels('node-b')(nodes)).toMatchObject({ tier: 'last-word' });
    expect([...answers]).toEqual([200]);
    expect(await lists('nodes')).toBeLessThanOrEqual(before.nodes + 1);
    expect(await lists('pods')).toBeLessThanOrEqual(before.pods + 1);
  });

  /** Asks for the list and for readiness, over and over, until the signal. */
  async function collectAnswers(answers: Set<number>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      answers.add((await gatehouse.get(LIST, token)).status);
      const ready = await fetch(`${gatehouse.url}/readyz`);
      await ready.text();
      answers.add(ready.status);
      await sleep(20);
    }
  }
});
