import { describe, expect, test } from 'vitest';
import { usersFile } from '../service/stand.ts';
import { type ConsoleStand, IAM, startConsole, TENANT, WORKSPACE_DEFINITIONS } from './console-stand.ts';

const TEMPLATES = `${TENANT}/v1alpha3/workspacetemplates`;
const JOE = { kind: 'User', name: 'joe' } as const;

/** Three workspaces. */
async function startWithWorkspaces(
  config: Readonly<Record<string, unknown>> = {},
  users?: string,
): Promise<ConsoleStand> {
  const stand = await startConsole({ config, ...(users && { users }) });
  for (const definition of WORKSPACE_DEFINITIONS) stand.cluster.objects.create('customresourcedefinitions', definition);
  for (const name of ['alpha', 'beta', 'gamma']) stand.workspace(name);
  return stand;
}

describe('workspaces', () => {
  test('CO-04 are an empty list where the cluster has none, for everybody', async () => {
    const stand = await startConsole();
    for (const path of [TEMPLATES, `${TENANT}/v1alpha3/workspaces`, `${TENANT}/v1alpha2/workspaces`]) {
      for (const person of ['ada', 'joe'] as const) {
        const { status, text } = await stand.ask(`${path}?limit=10`, person);
        expect([status, text]).toEqual([200, '{"items":[],"totalItems":0}']);
      }
    }
    const { status, body } = await stand.ask(`${TEMPLATES}/alpha`, 'ada');
    expect([status, body.kind, body.reason]).toEqual([404, 'Status', 'NotFound']);
  });

  test('CO-04 are those of the cluster, filtered, ordered and in pages, with the parameters of every list', async () => {
    const stand = await startWithWorkspaces();
    expect(await stand.names(`${TEMPLATES}?sortBy=name&ascending=true&limit=2`, 'ada')).toEqual(['alpha', 'beta', 3]);
    expect(await stand.names(`${TENANT}/v1alpha2/workspaces?name=amm`, 'ada')).toEqual(['gamma', 1]);
    const { status, body } = await stand.ask(`${TEMPLATES}?limit=x`, 'ada');
    expect([status, body.details.causes[0].field]).toEqual([400, 'limit']);
    const one = await stand.ask(`${TENANT}/v1alpha3/workspaces/beta`, 'ada');
    expect([one.status, one.body.kind, one.body.metadata.name]).toEqual([200, 'Workspace', 'beta']);
    const old = await stand.ask(`${TENANT}/v1alpha2/workspaces/beta`, 'ada');
    expect([old.status, old.body.kind, old.body.apiVersion]).toEqual([
      200,
      'WorkspaceTemplate',
      'tenant.kubesphere.io/v1alpha2',
    ]);
    expect((await stand.ask(`${TEMPLATES}/delta`, 'ada')).status).toBe(404);
  });

  test('CO-04 of somebody without the right to all are those of the bindings that name the caller or a group', async () => {
    const stand = await startWithWorkspaces();
    expect(await stand.names(TEMPLATES)).toEqual([0]);
    const leave = stand.member('alpha', JOE);
    stand.member('beta', { kind: 'Group', name: 'strangers' });
    stand.member('gone', JOE);
    await stand.shows(TEMPLATES, ['alpha', 1]);
    expect((await stand.ask(`${TEMPLATES}/alpha`, 'joe')).status).toBe(200);
    const refused = await stand.ask(`${TEMPLATES}/beta`, 'joe');
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'workspacetemplates.tenant.kubesphere.io "beta" is forbidden: User "joe" cannot get resource "workspacetemplates" in API group "tenant.kubesphere.io" at the cluster scope',
    ]);
    expect((await stand.ask(`${TEMPLATES}/delta`, 'joe')).status).toBe(403);
    expect((await stand.ask(`${TEMPLATES}/gone`, 'joe')).status).toBe(404);
    leave();
    await stand.shows(TEMPLATES, [0]);
  });

  test('CO-04 are also those of a group of the caller, each once, but not of the groups of Kubernetes itself', async () => {
    const users: { users: { name: string; groups: readonly string[] }[] } = JSON.parse(await usersFile());
    for (const user of users.users) if (user.name === 'joe') user.groups = ['shopkeepers', 'keepers'];
    const stand = await startWithWorkspaces({}, JSON.stringify(users));
    for (const group of ['shopkeepers', 'keepers']) stand.member('alpha', { kind: 'Group', name: group });
    stand.member('beta', { kind: 'Group', name: 'system:authenticated' });
    stand.member('gamma', { kind: 'User', name: 'shopkeepers' });
    stand.role('workspaceroles.iam.kubesphere.io', 'alpha-viewer');
    await stand.shows(TEMPLATES, ['alpha', 1]);
    expect((await stand.ask(`${TEMPLATES}/beta`, 'joe')).status).toBe(403);
    const roles = `${IAM}/workspaces/alpha/workspacemembers/joe/workspaceroles`;
    await stand.shows(roles, ['alpha-viewer']);
    expect(await stand.names(roles, 'ada')).toEqual(['alpha-viewer']);
  });

  test('CO-04 go and come again with the workspace, while its binding stays', async () => {
    const stand = await startWithWorkspaces();
    stand.member('alpha', JOE);
    const uidOf = async () => (await stand.ask(`${TEMPLATES}/alpha`, 'joe')).body.metadata.uid;
    await stand.shows(TEMPLATES, ['alpha', 1]);
    const first = await uidOf();
    for (const kind of ['workspaces', 'workspacetemplates'])
      stand.cluster.objects.remove(`${kind}.tenant.kubesphere.io`, 'alpha');
    await stand.shows(TEMPLATES, [0]);
    expect((await stand.ask(`${TEMPLATES}/alpha`, 'joe')).status).toBe(404);
    stand.workspace('alpha');
    await stand.shows(TEMPLATES, ['alpha', 1]);
    expect(await uidOf()).not.toBe(first);
  });

  test('CO-04 have an ETag that names what the caller may see', async () => {
    const stand = await startWithWorkspaces();
    stand.member('alpha', JOE);
    await stand.shows(TEMPLATES, ['alpha', 1]);
    const own = (await stand.ask(TEMPLATES, 'joe')).headers.get('etag') ?? '';
    expect((await stand.ask(TEMPLATES, 'joe', { 'if-none-match': own })).status).toBe(304);
    expect((await stand.ask(TEMPLATES, 'ada', { 'if-none-match': own })).status).toBe(200);
    stand.member('beta', JOE);
    await stand.clock.until(
      async () => (await stand.ask(TEMPLATES, 'joe', { 'if-none-match': own })).status,
      (status) => status === 200,
    );
  });

  test.each([[true], [false]])(
    'CO-04 with tenant.defaultWorkspace have one that exists only in answers, which gives no right (workspaces in the cluster: %s)',
    async (areThere) => {
      const config = { tenant: { defaultWorkspace: 'home' } };
      const stand = areThere ? await startWithWorkspaces(config) : await startConsole({ config });
      stand.namespace('red');
      stand.namespace('blue', 'alpha');
      const all = areThere ? ['home', 'alpha', 'beta', 'gamma', 4] : ['home', 1];
      expect(await stand.names(`${TEMPLATES}?sortBy=name&ascending=true`, 'ada')).toEqual(
        areThere ? ['alpha', 'beta', 'gamma', 'home', 4] : all,
      );
      expect(await stand.names(TEMPLATES)).toEqual(['home', 1]);
      expect(await stand.names(`${TEMPLATES}?name=x`)).toEqual([0]);
      const { status, body } = await stand.ask(`${TEMPLATES}/home`, 'joe');
      expect([status, body]).toMatchObject([200, { kind: 'WorkspaceTemplate', metadata: { name: 'home' } }]);
      const inHome = `${TENANT}/v1alpha2/workspaces/home/namespaces`;
      expect(await stand.names(`${inHome}?names=red,blue`, 'ada')).toEqual(['red', 1]);
      expect(await stand.names(inHome)).toEqual([0]);
    },
  );

  test('CO-04 with tenant.defaultWorkspace show the cluster’s own workspace of that name in place of it', async () => {
    const stand = await startWithWorkspaces({ tenant: { defaultWorkspace: 'beta' } });
    expect(await stand.names(`${TENANT}/v1alpha3/workspaces?sortBy=name`, 'ada')).toEqual([
      'gamma',
      'beta',
      'alpha',
      3,
    ]);
    const { body } = await stand.ask(`${TENANT}/v1alpha3/workspaces/beta`, 'joe');
    expect(body.spec).toEqual({ manager: 'ada' });
  });
});

test.each([
  [undefined, ['large-1', 'large-2', 2]],
  ['home', ['home', 'large-1', 'large-2', 3]],
] as const)(
  'CO-04 that do not fit into memory are read from the cluster, each only for who may see it (default workspace: %s)',
  async (defaultWorkspace, seen) => {
    const stand = await startConsole({ config: { kinds: { memory: '2Mi' }, tenant: { defaultWorkspace } } });
    for (const definition of WORKSPACE_DEFINITIONS)
      stand.cluster.objects.create('customresourcedefinitions', definition);
    const large = 'x'.repeat(650_000);
    for (let number = 1; number <= 6; number++) {
      const metadata = { name: `large-${number}` };
      stand.cluster.objects.create('workspacetemplates.tenant.kubesphere.io', { metadata, spec: { large } });
    }
    for (const name of ['large-1', 'large-2']) stand.member(name, JOE);
    await stand.shows(`${TEMPLATES}?sortBy=name&ascending=true`, seen);
    const page = await stand.ask(`${TEMPLATES}?sortBy=name&limit=1`, 'joe');
    expect([page.body.items[0].metadata.name, page.body.items[0].spec.large.length]).toEqual(['large-2', large.length]);
    const statuses = ['large-1', 'large-3', 'home'].map((name) => stand.ask(`${TEMPLATES}/${name}`, 'joe'));
    const home = defaultWorkspace === undefined ? 403 : 200;
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 403, home]);
  },
);

test('CO-04 CO-05 where everything is allowed to everybody, each sees all workspaces and namespaces, and a member sees them too', async () => {
  const stand = await startWithWorkspaces({ authorization: { mode: 'AlwaysAllow' } });
  stand.namespace('red', 'alpha');
  stand.namespace('blue', 'beta');
  await stand.shows(`${TEMPLATES}?sortBy=name&ascending=true`, ['alpha', 'beta', 'gamma', 3]);
  const { status, body } = await stand.ask(`${TENANT}/v1alpha3/workspaces/beta`, 'joe');
  expect([status, body.metadata.name]).toEqual([200, 'beta']);
  expect((await stand.ask(`${TEMPLATES}/delta`, 'joe')).status).toBe(404);
  const alpha = `${TENANT}/v1alpha2/workspaces/alpha`;
  await stand.shows(`${alpha}/namespaces`, ['red', 1]);
  expect((await stand.ask(`${alpha}/namespaces`, 'joe')).headers.get('kubesphere-scope')).toBeNull();
  expect((await stand.ask(`${alpha}/namespaces/red`, 'joe')).status).toBe(200);
  expect(await stand.names(`${alpha}/workspacemembers/ada/namespaces`)).toEqual(['red', 1]);
  stand.role('workspaceroles.iam.kubesphere.io', 'alpha-viewer');
  stand.member('alpha', { kind: 'User', name: 'ada' });
  await stand.shows(`${IAM}/workspaces/alpha/workspacemembers/ada/workspaceroles`, ['alpha-viewer']);
});

test('CO-17 the home page of a person with one workspace is answered, with a blank after the comma of a selector', async () => {
  const stand = await startWithWorkspaces();
  stand.role('workspaceroles.iam.kubesphere.io', 'alpha-viewer');
  stand.member('alpha', JOE);
  stand.namespace('red', 'alpha');
  stand.admit('red');
  await stand.shows(TEMPLATES, ['alpha', 1]);
  const selector = 'labelSelector=kubefed.io/managed!=true,%20kubesphere.io/kubefed-host-namespace!=true';
  await stand.shows(`${TENANT}/v1alpha2/workspaces/alpha/namespaces?${selector}&sortBy=createTime&limit=10`, [
    'red',
    1,
  ]);
  expect((await stand.ask(`${TEMPLATES}/alpha`, 'joe')).status).toBe(200);
  const roles = `${IAM}/workspaces/alpha/workspacemembers/joe/workspaceroles`;
  expect(await stand.names(roles)).toEqual(['alpha-viewer']);
});

describe('the namespaces of a workspace', () => {
  const inAlpha = `${TENANT}/v1alpha2/workspaces/alpha/namespaces`;

  async function startWithNamespaces(): Promise<ConsoleStand> {
    const stand = await startConsole();
    stand.namespace('red', 'alpha');
    stand.namespace('green', 'alpha');
    stand.namespace('blue', 'beta');
    stand.namespace('grey');
    await stand.shows(`${inAlpha}?sortBy=name`, ['red', 'green', 2], 'ada');
    return stand;
  }

  test('CO-05 are those with its label that the caller may see, with a blank after the comma of a selector', async () => {
    const stand = await startWithNamespaces();
    stand.admit('red');
    stand.admit('blue');
    await stand.shows(`${TENANT}/v1alpha2/namespaces?sortBy=name`, ['red', 'blue', 2]);
    const selector = encodeURIComponent('kubefed.io/managed!=true, kubesphere.io/kubefed-host-namespace!=true');
    expect(await stand.names(`${inAlpha}?labelSelector=${selector}&sortBy=createTime&limit=10`)).toEqual(['red', 1]);
    const { headers } = await stand.ask(inAlpha, 'joe');
    expect(headers.get('kubesphere-scope')).toBe('permitted; namespaces=2');
    expect((await stand.ask(`${inAlpha}/red`, 'joe')).body.metadata.name).toBe('red');
    const statuses = ['green', 'blue', 'never'].map((name) => stand.ask(`${inAlpha}/${name}`, 'joe'));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([403, 404, 403]);
  });

  test('CO-05 leave out a namespace that has just gone, and the list goes on', async () => {
    const stand = await startWithNamespaces();
    stand.admit('red');
    stand.admit('green');
    await stand.shows(`${inAlpha}?sortBy=name`, ['red', 'green', 2]);
    stand.cluster.objects.remove('namespaces', 'red');
    await stand.shows(inAlpha, ['green', 1]);
  });

  test('CO-05 of a member are what that member may see: for oneself, and for who may list all', async () => {
    const stand = await startWithNamespaces();
    stand.admit('red');
    const ofMember = (member: string) => `${TENANT}/v1alpha2/workspaces/alpha/workspacemembers/${member}/namespaces`;
    await stand.shows(ofMember('joe'), ['red', 1]);
    expect(await stand.names(ofMember('joe'), 'ada')).toEqual(['red', 1]);
    expect(await stand.names(`${ofMember('ada')}?sortBy=name`, 'ada')).toEqual(['red', 'green', 2]);
    expect(await stand.names(ofMember('ada'))).toBe(403);
    expect(await stand.names(ofMember('nobody'), 'ada')).toEqual([0]);
  });

  test('CO-06 there are no other clusters', async () => {
    const stand = await startConsole();
    for (const path of ['clusters', 'workspaces/alpha/clusters'])
      expect(await stand.names(`${TENANT}/v1alpha2/${path}`)).toEqual([0]);
  });
});
