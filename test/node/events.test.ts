import type { CoreV1EventList } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../cluster/eventually.ts';
import { blocksOf, collectorSettings } from '../log-stores/documents/collected.ts';
import { tellMeasured } from '../support/measured.ts';
import { GatewayStand } from './stand/gateway-stand.ts';
import { get, kubectl } from './stand/kubectl.ts';
import { NodeStore, STORE_USERS } from './stand/stores/node-store.ts';
import type { Way } from './stand/way.ts';
import { list, pod, shell } from './stand/workload.ts';

const TENANT = '/kapis/tenant.gatehouse.io/v1alpha2';
const EVENTS = `${TENANT}/events`;
const AUDIT_RECORDS = `${TENANT}/auditing/events`;
const POD = 'unpullable';
/** Nothing listens there, so containerd is refused at once. */
const IMAGE = 'localhost/of-nobody:1';
/** Within this time a search finds an event that the cluster has. */
const FOUND_WITHIN_MS = 5_000;

const OF_POD = { involved_object_name_filter: POD, involved_object_kind_filter: 'Pod' };
/** The kubelet has the reason `Failed` for other failures as well. */
const FAILED_PULL = {
  ...OF_POD,
  reason_filter: 'Failed',
  type_filter: 'Warning',
  message_search: 'failed to pull image',
};

type Parameters = Readonly<Record<string, string>>;

interface Found {
  readonly total: number;
  /** The documents as they are stored. */
  readonly records: readonly object[];
}

/** Its log file is one of those that docs/events.md names. */
const EXPORTER = 'audit-exporter-0';
/** A collector that finds the store busy asks it again half a minute later. */
const COLLECTED = { timeout: 180_000 };
const [SETTINGS = ''] = blocksOf('conf');
/** The sections of the configuration in docs/events.md, and the folder of their files there. */
const SECTIONS = parse(blocksOf('yaml')[0] ?? '') as { readonly auditing: object };
const FILES = '/etc/gatehouse/events';

let store: NodeStore;
let stand: GatewayStand;
/** Olga may do everything in the cluster, and works through Gatehouse. */
let olga: Way;
let token: string;

beforeAll(async () => {
  store = await NodeStore.create();
  [stand] = await Promise.all([GatewayStand.start('events', { values: valuesWith(store) }), store.open()]);
  await store.collect((folder) => collectorSettings(SETTINGS, { folder, url: store.inside.url }));
  ({ access_token: token } = await stand.signIn('olga'));
  olga = await stand.wayThrough('olga', token);
});
afterAll(async () => {
  await stand?.remove();
  await store?.remove();
});

/** Events are those of the cluster itself; audit records are in the store, whose password and CA come from a Secret. */
const valuesWith = ({ certificate }: NodeStore) => ({
  config: { events: { live: true }, auditing: { ...SECTIONS.auditing, host: NodeStore.url } },
  extraVolumes: [{ name: 'store', secret: { secretName: 'store' } }],
  extraVolumeMounts: [{ name: 'store', mountPath: FILES, readOnly: true }],
  extraObjects: [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'store' },
      stringData: { password: STORE_USERS.gatehouse, 'ca.pem': certificate },
    },
  ],
});

async function search(path: string, parameters: Parameters): Promise<Found> {
  const { status, body } = await stand.caller.get(`${path}?${new URLSearchParams(parameters)}`, token);
  expect([status, body]).toEqual([200, { query: expect.anything() }]);
  return body.query;
}

const find = (parameters: Parameters): Promise<Found> =>
  search(EVENTS, { involved_object_namespace_filter: olga.namespace, ...parameters });

/** What the API server has of the failed pulls. The administrator of the cluster asks it, not Gatehouse. */
async function failedPulls(): Promise<CoreV1EventList['items']> {
  const selector = `--field-selector=involvedObject.name=${POD},reason=Failed`;
  const { items } = await get<CoreV1EventList>('events', `--namespace=${olga.namespace}`, selector);
  return items.filter(({ message }) => message?.startsWith('Failed to pull image'));
}

const podWithout = (image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: POD },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image, imagePullPolicy: 'Always' }] },
});

describe('a pod whose image cannot be pulled', { shuffle: false }, () => {
  test('E-05 is found by its event within 5 s after the cluster has the event of the kubelet', async () => {
    expect(await find(OF_POD)).toEqual({ total: 0, records: [] });
    await olga.told(['create', '-f', '-'], { input: JSON.stringify(podWithout(IMAGE)) });
    const [event] = await eventually(failedPulls, (events) => events.length > 0);
    const seenAt = performance.now();
    const poll = { timeout: FOUND_WITHIN_MS, interval: 20 };
    await expect.poll(async () => (await find(FAILED_PULL)).total, poll).toBe(1);
    tellMeasured('events', performance.now() - seenAt, 'from the event in the API server to the search that finds it');
    const { name, uid } = event!.metadata;
    const [record] = (await find(FAILED_PULL)).records;
    expect(record).toMatchObject({
      reason: 'Failed',
      message: expect.stringContaining(IMAGE),
      metadata: { name, uid },
      involvedObject: { kind: 'Pod', namespace: olga.namespace, name: POD },
    });
  });

  test('E-05 is still found by its event when a person has deleted it through Gatehouse', async () => {
    expect(await olga.told(['delete', 'pod', POD])).toContain(`pod "${POD}" deleted`);
    const pods = await kubectl(['get', 'pods', `--namespace=${olga.namespace}`, '--output=name']);
    expect(pods).toBe('');
    expect((await find(FAILED_PULL)).total).toBe(1);
  });
});

describe('an audit record that a container prints', () => {
  test('AU-01 is brought into the store by the collector of docs/events.md, and found by person, address and object', async () => {
    const record = recordOf(olga.namespace);
    const exporter = pod(EXPORTER, { command: shell(`echo '${JSON.stringify(record)}'; exec sleep 86400`) });
    await olga.told(['create', '-f', '-'], { input: list(exporter) });
    await olga.untilReady(EXPORTER);
    const readyAt = performance.now();
    const asked = { user_filter: 'ada', source_ip_search: '203.0.113.7', verb_filter: 'delete' };
    const ofObject = { ...asked, objectref_namespace_filter: olga.namespace, objectref_name_filter: 'web-0' };
    await expect.poll(async () => (await search(AUDIT_RECORDS, ofObject)).total, COLLECTED).toBe(1);
    tellMeasured('events', performance.now() - readyAt, 'from the ready pod to the found record that it prints');
    expect(await search(AUDIT_RECORDS, ofObject)).toEqual({ total: 1, records: [record] });
    expect((await search(AUDIT_RECORDS, { ...ofObject, user_filter: 'olga' })).total).toBe(0);
  });
});

/** `AuditID` comes first, by which the collector knows it. */
const recordOf = (namespace: string): object => ({
  AuditID: '6f1c1e5e-0000-4000-8000-000000000001',
  Level: 'Metadata',
  Stage: 'ResponseComplete',
  Verb: 'delete',
  User: { Username: 'ada', Groups: ['developers', 'system:authenticated'] },
  SourceIPs: ['203.0.113.7'],
  ObjectRef: { Resource: 'pods', Namespace: namespace, Name: 'web-0', APIVersion: 'v1' },
  ResponseStatus: { code: 200 },
  RequestReceivedTimestamp: new Date().toISOString(),
});
