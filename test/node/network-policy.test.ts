import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { NODE_ADDRESS } from './kubernetes/place.ts';
import type { Caller } from './stand/caller.ts';
import { helm } from './stand/kubectl.ts';
import { namespaceOf, OTHER_DOOR, PolicyStand, podsOf, STORE_PORT } from './stand/policy-stand.ts';

const API_DOOR = 'tcp:9090';
const METRICS_DOOR = 'tcp:9091';
const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';
const GATEWAY = { gateway: { enabled: true, users: ['admin'], groups: ['gatehouse-admins'] } };
const NODE = { ipBlock: { cidr: `${NODE_ADDRESS}/32` } };

/** The usual outcome, and what becomes of the others. */
type Outcomes = Readonly<Record<string, string>>;
const ofPeers = (usual: string, others: Outcomes = {}): Outcomes => ({
  neighbour: usual,
  prometheus: usual,
  controller: usual,
  bystander: usual,
  dns: usual,
  stranger: usual,
  ...others,
});
const DNS_ANSWERED = { 'udp:53': 'answered', 'tcp:53': 'answered' };
const DNS_OF_OPENSHIFT_ANSWERED = { 'udp:5353': 'answered', 'tcp:5353': 'answered' };
const API_SERVER_ANSWERED = { 'tcp:443': 'answered', 'tcp:6443': 'answered' };
const ofDoors = (usual: string, others: Outcomes = {}): Outcomes => ({
  ...{ 'udp:53': usual, 'tcp:53': usual, 'udp:5353': usual, 'tcp:5353': usual, 'tcp:443': usual, 'tcp:6443': usual },
  ...{ 'udp:443': usual, 'tcp:80': usual, 'tcp:8080': usual, 'tcp:9200': usual },
  ...others,
});

let stand: PolicyStand;
beforeAll(async () => {
  stand = await PolicyStand.start();
});
afterAll(() => stand?.remove());

/** Resolves when this port of Gatehouse's pod is open or closed to strangers, which is when the policy of a test is in force. */
const settled = (door: 'tcp:9091' | 'tcp:9090', outcome: string) =>
  eventually(
    () => stand.fromPeers(door),
    ({ stranger }) => stranger === outcome,
  );

/** What an administrator gets: a list, a call of the cluster's API, and a page of logs. */
async function statuses(): Promise<{ list: number; gateway: number; logs: number }> {
  const caller = await stand.release.caller();
  const { access_token: token } = await caller.signIn(await stand.release.password());
  const status = async (path: string): Promise<number> => (await caller.get(path, token)).status;
  const { status: list } = await caller.list(token);
  return { list, gateway: await status('/api/v1/namespaces'), logs: await logsOf(caller, token) };
}

const logsOf = async (caller: Caller, token: string): Promise<number> => (await caller.get(LOGS, token)).status;

describe('the NetworkPolicy, enforced with its default rules', () => {
  beforeAll(async () => {
    await stand.set({ ...GATEWAY, networkPolicy: { enabled: true } });
    await settled(METRICS_DOOR, 'refused');
  });

  test('lets everybody in at the API port, and the namespace of Prometheus alone at the metrics port', async () => {
    expect(await stand.fromPeers(API_DOOR)).toEqual(ofPeers('answered'));
    expect(await stand.fromPeers(METRICS_DOOR)).toEqual(ofPeers('refused', { prometheus: 'answered' }));
  });

  test('lets nobody in at another port, though something listens there', async () => {
    expect(await stand.fromPeers(OTHER_DOOR)).toEqual(ofPeers('refused'));
  });

  test('lets Gatehouse out to DNS by UDP and TCP and to the ports of API servers, and nowhere else', async () => {
    const outcomes = { ...DNS_ANSWERED, ...DNS_OF_OPENSHIFT_ANSWERED, ...API_SERVER_ANSWERED };
    expect(await stand.toPeer('stranger')).toEqual(ofDoors('refused', outcomes));
  });

  test('lets Gatehouse out to the API server on the node, and to no other program there', async () => {
    expect(await stand.toNode('tcp:6443', 'tcp:10250', `tcp:${STORE_PORT}`)).toEqual({
      'tcp:6443': 'answered',
      'tcp:10250': 'refused',
      [`tcp:${STORE_PORT}`]: 'refused',
    });
  });

  test('lets people sign in, list and call the cluster through Gatehouse', async () => {
    expect(await statuses()).toMatchObject({ list: 200, gateway: 200, logs: 404 });
  });
});

describe('the NetworkPolicy, enforced with a log store whose Service has another port than its pods', () => {
  const values = async (logStore: object) => ({
    ...GATEWAY,
    logging: { host: await stand.storeHost() },
    networkPolicy: { enabled: true, egress: { logStore } },
  });

  test('lets Gatehouse out to the port of logging.host, which is not enough', async () => {
    await stand.set(await values({}));
    await settled(METRICS_DOOR, 'refused');
    expect(await stand.toPeer('stranger')).toMatchObject({ 'tcp:9200': 'answered', 'tcp:8080': 'refused' });
    expect(await stand.toNode(`tcp:${STORE_PORT}`)).toEqual({ [`tcp:${STORE_PORT}`]: 'refused' });
    expect(await statuses()).toMatchObject({ list: 200, logs: 503 });
  });

  test('lets Gatehouse search logs once egress.logStore names the port and the address of the pods', async () => {
    await stand.set(await values({ ports: [STORE_PORT], to: [NODE] }));
    await expect.poll(() => statuses()).toEqual({ list: 200, gateway: 200, logs: 200 });
    expect(await stand.toPeer('stranger')).toMatchObject({ 'tcp:9200': 'refused' });
  });
});

describe('the NetworkPolicy, enforced with rules as narrow as they can be', () => {
  beforeAll(async () => {
    await stand.set({
      ...GATEWAY,
      logging: { host: await stand.storeHost() },
      networkPolicy: {
        enabled: true,
        from: [podsOf('controller')],
        metricsNamespace: namespaceOf('stranger'),
        egress: {
          dnsPorts: [53],
          dnsTo: [podsOf('dns')],
          ports: [6443],
          to: [NODE],
          logStore: { ports: [STORE_PORT], to: [NODE] },
          extraRules: [{ ports: [{ port: 8080, protocol: 'TCP' }], to: [podsOf('stranger')] }],
        },
      },
    });
    await settled(API_DOOR, 'refused');
  });

  test('lets the pods of "from" in at the API port, and no other pod of their namespace', async () => {
    expect(await stand.fromPeers(API_DOOR)).toEqual(ofPeers('refused', { controller: 'answered' }));
  });

  test('lets the namespace in at the metrics port that is named instead', async () => {
    expect(await stand.fromPeers(METRICS_DOOR)).toEqual(ofPeers('refused', { stranger: 'answered' }));
  });

  test('lets Gatehouse out to the peers that are named for each port, and to nobody else', async () => {
    expect(await stand.toPeer('dns')).toEqual(ofDoors('refused', DNS_ANSWERED));
    expect(await stand.toPeer('stranger')).toEqual(ofDoors('refused', { 'tcp:8080': 'answered' }));
    expect(await stand.toNode('tcp:6443', 'tcp:10250')).toEqual({ 'tcp:6443': 'answered', 'tcp:10250': 'refused' });
  });

  test('lets people sign in at the node’s port, list, call the cluster and search logs', async () => {
    expect(await statuses()).toEqual({ list: 200, gateway: 200, logs: 200 });
  });

  test('lets helm test in, which "from" does not name', async () => {
    expect(await helm(['-n', stand.release.namespace, 'test', stand.release.name])).toMatch(/Phase:\s+Succeeded/);
  });

  test('lets the kubelet’s probes in: a pod that starts under it becomes ready', async () => {
    await stand.restart();
    expect(await statuses()).toMatchObject({ list: 200 });
  });
});

test('without a NetworkPolicy the enforcer lets everything through that it refused before', async () => {
  await stand.set(GATEWAY);
  await settled(METRICS_DOOR, 'answered');
  expect(await stand.fromPeers(METRICS_DOOR)).toEqual(ofPeers('answered'));
  expect(await stand.fromPeers(OTHER_DOOR)).toEqual(ofPeers('answered'));
  expect(await stand.toPeer('stranger')).toEqual(ofDoors('answered'));
  expect(await stand.toPeer('dns')).toEqual(ofDoors('answered'));
});
