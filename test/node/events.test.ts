import type { CoreV1EventList } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { tellMeasured } from '../support/measured.ts';
import { GatewayStand } from './stand/gateway-stand.ts';
import { get, kubectl } from './stand/kubectl.ts';
import type { Way } from './stand/way.ts';

const EVENTS = '/kapis/tenant.gatehouse.io/v1alpha2/events';
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

interface FoundEvents {
  readonly total: number;
  readonly records: readonly { readonly reason: string; readonly message: string; readonly metadata: object }[];
}

let stand: GatewayStand;
/** Olga may do everything in the cluster, and works through Gatehouse. */
let olga: Way;
let token: string;

beforeAll(async () => {
  stand = await GatewayStand.start('events', { values: { config: { events: { live: true } } } });
  ({ access_token: token } = await stand.signIn('olga'));
  olga = await stand.wayThrough('olga', token);
});
afterAll(() => stand?.remove());

async function find(parameters: Parameters): Promise<FoundEvents> {
  const query = new URLSearchParams({ involved_object_namespace_filter: olga.namespace, ...parameters });
  const { status, body } = await stand.caller.get(`${EVENTS}?${query}`, token);
  expect([status, body]).toEqual([200, { query: expect.anything() }]);
  return body.query;
}

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
