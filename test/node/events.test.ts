import { isIP } from 'node:net';
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

const OF_DELETION = {
  user_filter: 'olga',
  verb_filter: 'delete',
  objectref_resource_filter: 'pods',
  objectref_name_filter: POD,
};

interface AuditRecord {
  readonly AuditID: string;
  readonly SourceIPs: readonly string[];
}

/** A collector that finds the store busy asks it again half a minute later. */
const COLLECTED = { timeout: 180_000 };
/** The collector's settings, with the namespace of this release. */
const OF_RELEASE = (blocksOf('conf')[0] ?? '').replace('_gatehouse-system_', '_events_');
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
  await store.collect((folder) => collectorSettings(OF_RELEASE, { folder, url: store.inside.url }));
  ({ access_token: token } = await stand.signIn('olga'));
  olga = await stand.wayThrough('olga', token);
});
afterAll(async () => {
  await stand?.remove();
  await store?.remove();
});

/** Events are those of the cluster itself; audit records are in the store, whose password and CA come from a Secret. */
const valuesWith = ({ certificate }: NodeStore) => ({
  config: {
    events: { live: true },
    log: { auditFormat: 'kubernetes' },
    auditing: { ...SECTIONS.auditing, host: NodeStore.url },
  },
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

  test('AU-03 AU-01 has an audit record of its deletion, from the log of Gatehouse by the collector of docs/events.md, with person, address and request id', async () => {
    const deletion = { ...OF_DELETION, objectref_namespace_filter: olga.namespace };
    await expect.poll(async () => (await search(AUDIT_RECORDS, deletion)).total, COLLECTED).toBe(1);
    const [record] = (await search(AUDIT_RECORDS, deletion)).records as [AuditRecord];
    expect(record).toMatchObject({
      User: { Username: 'olga', Groups: expect.arrayContaining(['system:authenticated']) },
      UserAgent: expect.stringContaining('kubectl/'),
      RequestURI: `/api/v1/namespaces/${olga.namespace}/pods/${POD}`,
      ResponseStatus: { code: 200, status: 'Success' },
      Annotations: { 'gatehouse.io/event': 'cluster_call', 'gatehouse.io/clientId': expect.any(String) },
    });
    const [address = ''] = record.SourceIPs;
    expect(isIP(address)).toBe(4);
    expect(record.AuditID).toMatch(/^[0-9a-f]{16}$/);
    const log = await stand.release.kubectl(['logs', '--selector=app.kubernetes.io/name=gatehouse', '--tail=-1']);
    const logged = log.split('\n').filter((line) => line.includes(`"requestId":"${record.AuditID}"`));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'request', method: 'DELETE', status: 200, user: 'olga', source: address },
    ]);
    expect(await search(AUDIT_RECORDS, { ...deletion, source_ip_search: address })).toMatchObject({ total: 1 });
    expect(await search(AUDIT_RECORDS, { ...deletion, user_filter: 'admin' })).toMatchObject({ total: 0 });
  });
});
