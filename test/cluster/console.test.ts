import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConsoleClient } from '../support/console-client.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';
import { rights, rule, user } from './rights.ts';
import { served } from './served.ts';

const PLATFORM = 'kubesphere';
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
  const config = { platform: PLATFORM, accounts: { enabled: true }, gateway: { enabled: true } };
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
    await client.workspace('shop', 'shop-web');
    await client.others();
    return client;
  }, isSo);

const workspaces = (client: ConsoleClient): number => client.bodyOf('/workspacetemplates?').totalItems;

test('CO-21 an administrator finds every page', async () => {
  const client = await visited('admin', (one) => workspaces(one) === 2);
  expect(client.failures).toEqual([]);
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
  expect(client.calls.filter(({ status }) => status === 401 || status >= 500)).toEqual([]);
  expect(await client.refreshAtOnce()).toEqual([200, 200, 200, 200, 200]);
});
