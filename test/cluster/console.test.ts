import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebsocket } from '../support/conformance/websocket-client.ts';
import { ConsoleClient } from '../support/console-client.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';
import { rights, rule, user } from './rights.ts';
import { served } from './served.ts';

const PLATFORM = 'kubesphere';
/** The address of the console in a browser. */
const ORIGIN = 'https://console.example.test';
const LABEL = `${PLATFORM}.io/workspace`;
const [TENANT, IAM] = [`tenant.${PLATFORM}.io`, `iam.${PLATFORM}.io`];

/** The kinds of KubeSphere, taking any object. */
const DEFINED = [
  { plural: 'workspaces', kind: 'Workspace', group: TENANT, version: 'v1alpha1' },
  { plural: 'workspacetemplates', kind: 'WorkspaceTemplate', group: TENANT, version: 'v1alpha2' },
  { plural: 'workspaceroles', kind: 'WorkspaceRole', group: IAM, version: 'v1alpha2' },
  { plural: 'users', kind: 'User', group: IAM, version: 'v1alpha2' },
  { plural: 'loginrecords', kind: 'LoginRecord', group: IAM, version: 'v1alpha2' },
  { plural: 'workspacerolebindings', kind: 'WorkspaceRoleBinding', group: IAM, version: 'v1alpha2' },
];

const definition = ({ plural, kind, group, version: name }: (typeof DEFINED)[number]): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: 'Cluster', names: { plural, singular: kind.toLowerCase(), kind } },
    versions: [
      {
        ...{ name, served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

const inShop = { labels: { [LABEL]: 'shop' } };
const OBJECTS: readonly object[] = [
  ...['shop', 'bank'].flatMap((name) => [
    { apiVersion: `${TENANT}/v1alpha1`, kind: 'Workspace', metadata: { name } },
    { apiVersion: `${TENANT}/v1alpha2`, kind: 'WorkspaceTemplate', metadata: { name } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${name}-web`, labels: { [LABEL]: name } } },
  ]),
  { apiVersion: `${IAM}/v1alpha2`, kind: 'WorkspaceRole', metadata: { name: 'shop-viewer', ...inShop } },
  {
    ...{ apiVersion: `${IAM}/v1alpha2`, kind: 'WorkspaceRoleBinding', metadata: { name: 'one', ...inShop } },
    ...{ roleRef: { kind: 'WorkspaceRole', name: 'shop-viewer' }, subjects: [user('one')] },
  },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } },
  ...rights('test-admin', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], user('admin')),
  ...rights('reader', [rule('', 'pods', ['list'])], user('one'), 'shop-web'),
];

let cluster: ControlPlane;
let gatehouse: Gatehouse;

beforeAll(async () => {
  cluster = await startControlPlane();
  // The rights of `deploy/` are those of another platform.
  const account = `--serviceaccount=${NAMESPACE}:gatehouse`;
  await cluster.kubectl(['create', 'clusterrolebinding', 'console', '--clusterrole=cluster-admin', account]);
  const people = { admin: [], one: [], nothing: [] };
  const config = {
    ...{ platform: PLATFORM, accounts: { enabled: true }, gateway: { enabled: true } },
    cors: { origins: [ORIGIN] },
  };
  const apply = (objects: readonly object[]) =>
    cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await apply(DEFINED.map(definition));
  for (const { plural, group } of DEFINED) await served(cluster, `${plural}.${group}`);
  gatehouse = await startGatehouse(cluster, people, { config });
  await apply(OBJECTS);
}, 120_000);

afterAll(async () => {
  await gatehouse?.stop();
  await cluster?.stop();
});

/** A visit of all first pages; again until `isSo`, because rights and definitions show a moment later. */
const visited = (person: string, isSo: (client: ConsoleClient) => boolean): Promise<ConsoleClient> =>
  eventually(async () => {
    const client = new ConsoleClient(gatehouse.url);
    expect(await client.signIn(person, `${person}-password`)).toBe(200);
    await client.load();
    await client.nodes();
    await client.node('node-a');
    if (person !== 'nothing') await client.workspace('shop', 'shop-web');
    await client.others();
    return client;
  }, isSo);

const workspaces = (client: ConsoleClient): number => client.bodyOf('/workspacetemplates?').totalItems;

test('CO-21 an administrator finds every page', async () => {
  const client = await visited('admin', (one) => workspaces(one) === 2);
  await client.users();
  expect(client.failures).toEqual([]);
  expect(client.statusOf('v1alpha3/nodes?sortBy=createTime')).toBe(200);
  expect(client.statusOf('/users?')).toBe(200);
  expect([await client.existsWorkspace('shop'), await client.existsWorkspace('nowhere')]).toEqual([true, false]);
  expect([await client.existsProject('shop-web'), await client.existsProject('nowhere')]).toEqual([true, false]);
  expect(client.bodyOf('/api/v1/nodes').items).toHaveLength(1);
});

test('CO-21 a person with one namespace finds the pages of one workspace', async () => {
  const client = await visited(
    'one',
    (one) => workspaces(one) === 1 && one.bodyOf('shop/namespaces?').totalItems === 1,
  );
  expect(client.failures).toEqual([]);
  expect(client.bodyOf('/workspacemembers/one/workspaceroles')).toMatchObject([{ metadata: { name: 'shop-viewer' } }]);
});

test('CO-21 a person with nothing stays signed in', async () => {
  const client = await visited('nothing', (one) => workspaces(one) === 0);
  expect(client.failures).toEqual([]);
  expect(await client.existsWorkspace('shop')).toBe(false);
  expect(await client.refreshAtOnce()).toEqual([200, 200, 200, 200, 200]);
  expect(await client.signOut()).toEqual([200, 401]);
});

/** What the console opens beside a list, each with an object that is there. It follows users below `/apis`, although it lists them below `/kapis`. */
const LIVE_LISTS = [
  ['/api/v1/watch/nodes', 'Node node-a'],
  [`/apis/${IAM}/v1alpha2/watch/users`, 'User mia'],
  [`/apis/${TENANT}/v1alpha2/watch/workspacetemplates`, 'WorkspaceTemplate shop'],
  ['/api/v1/watch/namespaces/shop-web/pods', undefined],
] as const;

test.each(LIVE_LISTS)('CO-14 %s is a live list by websocket, from the address of the console', async (path, first) => {
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(MIA));
  const token = await signedIn('admin');
  const target = { url: gatehouse.url, token };
  const headers = { origin: ORIGIN };
  const { status, events } = await openWebsocket(target, `${path}?timeoutSeconds=1`, headers);
  expect(status).toBe(101);
  const named = events.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`);
  if (first === undefined) expect(named).toEqual([]);
  else expect(named).toContain(`ADDED ${first}`);
  const refused = await openWebsocket(target, path, { origin: 'https://elsewhere.example.test' });
  expect(refused.status).toBe(403);
});

test('CO-14 the live list of users is 403 to a person without the right, who stays signed in', async () => {
  const target = { url: gatehouse.url, token: await signedIn('one') };
  const { status, text } = await openWebsocket(target, `/apis/${IAM}/v1alpha2/watch/users`, { origin: ORIGIN });
  expect([status, JSON.parse(text).message]).toEqual([
    403,
    `users.${IAM} is forbidden: User "one" cannot watch resource "users" in API group "${IAM}" at the cluster scope`,
  ]);
});

const MIA = { apiVersion: `${IAM}/v1alpha2`, kind: 'User', metadata: { name: 'mia' }, spec: { email: '' } };

async function signedIn(username: string): Promise<string> {
  const form = { grant_type: 'password', client_id: PLATFORM, client_secret: PLATFORM, username };
  const answer = await fetch(`${gatehouse.url}/oauth/token`, {
    ...{ method: 'POST', body: new URLSearchParams({ ...form, password: `${username}-password` }) },
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}
