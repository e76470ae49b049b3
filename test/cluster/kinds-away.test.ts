import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { selfSigned } from '../support/self-signed.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';
import { isReady } from './program.ts';
import { rights, rule, user } from './rights.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
const GROUP = 'away.example.com';
const THINGS = `things.${GROUP}`;
/** An API of which nobody has ever seen anything. */
const NEVER = 'never.example.com';

let cluster: ControlPlane;
let gatehouse: Gatehouse;
let extension: Server;
let token: string;

const create = (...items: readonly object[]): Promise<string> =>
  cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

/** The API server that the cluster's own one passes requests for the group on to. It has one object, which never changes. */
function answerAsExtension({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'https://localhost');
  const apiVersion = `${GROUP}/v1`;
  const thing = {
    kind: 'Thing',
    apiVersion,
    metadata: { namespace: 'default', name: 'one', uid: 'u-1', resourceVersion: '7' },
  };
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (pathname === `/apis/${GROUP}/v1/things` && searchParams.has('watch')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (searchParams.has('sendInitialEvents')) {
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const bookmark = { kind: 'Thing', apiVersion, metadata: { resourceVersion: '7', annotations } };
      for (const [type, object] of [
        ['ADDED', thing],
        ['BOOKMARK', bookmark],
      ])
        response.write(`${JSON.stringify({ type, object })}\n`);
    } else response.flushHeaders();
  } else if (pathname === `/apis/${GROUP}/v1/things`) {
    send(200, { kind: 'ThingList', apiVersion, metadata: { resourceVersion: '7' }, items: [thing] });
  } else if (pathname === `/apis/${GROUP}/v1`) {
    const things = {
      name: 'things',
      singularName: 'thing',
      namespaced: true,
      kind: 'Thing',
      verbs: ['get', 'list', 'watch'],
    };
    send(200, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources: [things] });
  } else
    send(404, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'NotFound', code: 404 });
}

/** The service is a name for a port of this machine. */
const extensionOf = (group: string, port: number): object[] => [
  {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name: group.replaceAll('.', '-') } },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  },
  {
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `v1.${group}` } },
    spec: {
      ...{ group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
      service: { namespace: 'default', name: group.replaceAll('.', '-'), port },
    },
  },
];

beforeAll(async () => {
  cluster = await startControlPlane();
  extension = createServer(selfSigned('localhost'), answerAsExtension).listen(0, 'localhost');
  await new Promise((resolve) => extension.once('listening', resolve));
  await create(
    ...extensionOf(GROUP, (extension.address() as AddressInfo).port),
    ...extensionOf(NEVER, 1), // nothing listens there
    ...rights('test-admin', [rule('*', '*', ['*'])], user('admin')),
    ...rights('test-things', [rule(GROUP, '*', ['get', 'list', 'watch'])], {
      ...{ kind: 'ServiceAccount', namespace: NAMESPACE, name: 'gatehouse' },
    }),
  );
  gatehouse = await startGatehouse(cluster, { admin: [] });
  token = await gatehouse.signIn('admin');
});
afterAll(async () => {
  await gatehouse?.stop();
  extension?.closeAllConnections();
  extension?.close();
  await cluster?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds
async function ask(path: string): Promise<{ readonly status: number; readonly headers: Headers; readonly body: any }> {
  const answer = await fetch(`${gatehouse.url}${ROOT}/${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

const listedKinds = async (): Promise<string[]> => {
  const { body } = await ask('');
  return body.resources.map(({ name, group }: { name: string; group?: string }) => [name, group].join());
};

test('KD-01 KD-03 KD-25 the kinds of an aggregated API that goes away stay, with their objects; one that was never there is 503, and all else is served', async () => {
  await eventually(
    () => ask(THINGS),
    ({ status, body }) => status === 200 && body.totalItems === 1,
  );
  const before = await listedKinds();
  expect(before).toContain(`things,${GROUP}`);
  extension.closeAllConnections();
  extension.close();
  // The cluster finds out when it next asks whether the API is available.
  await eventually(
    () =>
      cluster.kubectl([
        'get',
        'apiservice',
        `v1.${GROUP}`,
        '--output=jsonpath={.status.conditions[?(@.type=="Available")].status}',
      ]),
    (status) => status === 'False',
  );
  const unknown = await eventually(
    () => ask(`nosuch.${GROUP}`),
    ({ status }) => status === 503,
  );
  expect([unknown.body.message, unknown.headers.get('retry-after')]).toEqual([
    `the API group "${GROUP}" of the cluster does not answer`,
    '5',
  ]);
  expect(await listedKinds()).toEqual(before);
  for (const name of ['things', THINGS])
    expect([(await ask(name)).status, (await ask(name)).body.totalItems]).toEqual([200, 1]);
  expect((await ask(`things.${NEVER}`)).status).toBe(503);
  for (const [path, status] of [
    ['pods', 200],
    ['deployments', 200],
    ['search?q=one', 200],
    ['nosuch', 404],
    ['nosuch.apps', 404],
  ] as const)
    expect([path, (await ask(path)).status]).toEqual([path, status]);
  expect(await isReady(gatehouse.url)).toBe(true);
});
