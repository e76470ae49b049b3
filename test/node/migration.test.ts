import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { V1ClusterRoleBindingList, V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { libraryBcrypt } from '../../src/users/password-hash.ts';
import { eventually } from '../cluster/eventually.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { openWebsocket } from '../support/conformance/websocket-client.ts';
import { ConsoleClient } from '../support/console-client.ts';
import { REPOSITORY } from './image/images.ts';
import { NODE_ADDRESS, NODE_NAME } from './kubernetes/place.ts';
import { installKubeSphere, OLD_SECRETS, removeKubeSphere } from './kubesphere/installation.ts';
import { OLD_NAMES, OLD_PEOPLE, type OldName, type OldPerson } from './kubesphere/people.ts';
import type { Answer, Caller } from './stand/caller.ts';
import { documentedCommands, documentedFile } from './stand/documented-commands.ts';
import { get, kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';
import { Shell } from './stand/shell.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = await readFile(join(ROOT, 'docs', 'migrating-from-kubesphere.md'), 'utf8');
const COMMANDS = documentedCommands(PAGE);
const IAM = '/kapis/iam.kubesphere.io/v1alpha2';
/** The address of the console in browsers. */
const CONSOLE = `http://${NODE_ADDRESS}:30880`;
const PEOPLE: Readonly<Record<OldName, OldPerson>> = OLD_PEOPLE;

const release = new Release('gatehouse-system');
let folder: string;
let shell: Shell;
let caller: Caller;
/** The password that Olivia has by now. */
let ofOlivia: string = OLD_PEOPLE.olivia.password;

/** Runs the commands of a place of the page, with these words in place of what stands for them, and tells what they print. */
async function follow(name: string, placeholders: Readonly<Record<string, string>> = {}): Promise<string> {
  followed.add(name);
  const { text } = COMMANDS.find((commands) => commands.name === name)!;
  for (const placeholder of Object.keys(placeholders)) expect(text).toContain(placeholder);
  return shell.run(Object.entries(placeholders).reduce((all, [word, value]) => all.replaceAll(word, value), text));
}
const followed = new Set<string>();

/** A checkout, in which the person's own files lie. */
async function checkout(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-migration-'));
  const entries = (await readdir(ROOT)).filter((name) => name !== '.git');
  await Promise.all(entries.map((name) => symlink(join(ROOT, name), join(path, name))));
  return path;
}

/** Signs in as the console does. */
const signIn = (username: OldName, password = PEOPLE[username].password ?? ''): Promise<Answer> =>
  caller.token({
    ...{ grant_type: 'password', client_id: 'kubesphere', client_secret: 'kubesphere', encrypt: 'a2V5@@@' },
    ...{ username, password },
  });
const tokenOf = async (name: OldName): Promise<string> => (await signIn(name)).body.access_token;

const SYSTEM = ['-n', 'kubesphere-system'];

interface StoredUser {
  readonly metadata: { readonly name: string; readonly uid: string; readonly finalizers?: readonly string[] };
  readonly spec: { readonly password?: string };
  readonly status: { readonly state: string };
}
const stored = async (): Promise<ReadonlyMap<string, StoredUser>> => {
  const { items } = await get<{ items: StoredUser[] }>('users.iam.kubesphere.io');
  return new Map(items.map((user) => [user.metadata.name, user]));
};

/** A namespace that was deleted may still be on its way out. */
const namespaceIsGone = (): Promise<unknown> =>
  eventually(
    () => kubectl(['get', 'namespace', release.namespace, '--ignore-not-found', '-o', 'name']),
    (name) => name === '',
  );

beforeAll(async () => {
  folder = await checkout();
  const tools = await Promise.all([clusterTool('kubectl'), clusterTool('helm')]);
  const PATH = [...tools.map(dirname), process.env['PATH']].join(':');
  const env = { PATH, KUBECONFIG: inject('kubeconfig'), PASSWORD: OLD_PEOPLE.admin.password };
  shell = new Shell(folder, { ...process.env, ...env });
  await namespaceIsGone();
  await installKubeSphere();
}, 180_000);
afterAll(async () => {
  await shell?.stop();
  await rm(folder, { recursive: true, force: true });
  await release.remove();
  await removeKubeSphere();
  const left = ['clusterrole/platform-admin', 'clusterrole/platform-regular', 'clusterrole/users-manager'];
  const guard = `${release.namespace}.gatehouse.accounts`;
  const guards = ['validatingadmissionpolicybinding', 'validatingadmissionpolicy'].map((kind) => `${kind}/${guard}`);
  await kubectl(['delete', '--ignore-not-found', ...left, ...guards]);
  await kubectl(['delete', 'clusterrolebinding', '-l', 'iam.kubesphere.io/user-ref']);
  await namespaceIsGone();
}, 180_000);

/** Installs it as the page says. */
async function installBeside(): Promise<void> {
  const values = documentedFile(PAGE, 'Beside KubeSphere', 'yaml');
  expect(values).toContain('http://CONSOLE:30880');
  await writeFile(join(folder, 'beside.yaml'), values.replace('http://CONSOLE:30880', CONSOLE));
  const printed = await follow('Beside KubeSphere, 1', { 'REGISTRY/gatehouse': REPOSITORY });
  expect(printed).toContain('Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc');
  expect(printed).not.toContain('config.cors.origins');
  caller = await release.caller();
}

/** Where the console is told that its server is. */
async function serverOfConsole(): Promise<{ readonly url?: string; readonly wsUrl?: string } | undefined> {
  const { data } = await get<V1ConfigMap>(...SYSTEM, 'configmap', 'ks-console-config');
  return parse(data?.['local_config.yaml'] ?? '').server.apiServer;
}

test('the configuration becomes values of the chart', async () => {
  await follow('Moving from KubeSphere’s API server, 1'.replace('’', "'"));
  const printed = await follow('The configuration file, 1');
  for (const secret of Object.values(OLD_SECRETS)) expect(printed).not.toContain(secret);
  const values = parse(printed);
  expect(values).toMatchObject({ platform: 'kubesphere', logging: { username: 'reader' } });
  expect(await readFile(join(folder, 'secrets', 'password'), 'utf8')).toBe(OLD_SECRETS.logStore);
});

test('Gatehouse starts beside KubeSphere', installBeside);

test('those who have a role of 3.4 get the one of that name', async () => {
  await follow('The users, 1');
  const { items } = await get<V1ClusterRoleBindingList>(
    'clusterrolebindings',
    '-l',
    'iam.kubesphere.io/user-ref=olivia',
  );
  expect(items.map(({ metadata, roleRef }) => [metadata?.name, roleRef.name])).toEqual([
    ['olivia-platform-regular', 'platform-regular'],
  ]);
});

test('the admin of KubeSphere signs in with the old password, and sees the users with their states and roles', async () => {
  const shown = async () => {
    const printed = await follow('The users, 2');
    return printed
      .trim()
      .split('\n')
      .map((line) => line.split('\t').join(' '));
  };
  const expected = [
    ...['admin Active platform-admin', 'clara Active platform-regular', 'dora Disabled platform-regular'],
    ...['ivo Active platform-regular', 'olivia Active platform-regular', 'paula Active platform-admin'],
    ...['theo Active platform-regular', 'uma Active -'],
  ];
  expect(await eventually(shown, (lines) => lines.join() === expected.join())).toEqual(expected);
});

const MAY_SIGN_IN = ['admin', 'paula', 'olivia', 'theo', 'uma'] as const;

test.each(MAY_SIGN_IN)('%s signs in with the old password', async (name) => {
  expect((await signIn(name)).status).toBe(200);
  expect((await signIn(name, 'Not-the-password-1')).status).toBe(400);
});

test('who was disabled, has no password or has it in clear text does not sign in', async () => {
  for (const name of ['dora', 'ivo', 'clara'] as const) {
    const { status, body } = await signIn(name, PEOPLE[name].password ?? 'Not-the-password-1');
    expect([name, status, body.error]).toEqual([name, 400, 'invalid_grant']);
  }
});

test('who came from an identity provider signs in once an administrator has set a password', async () => {
  const password = `${OLD_PEOPLE.olivia.password}-of-ivo`;
  const { status } = await caller.send('PUT', `${IAM}/users/ivo/password`, await tokenOf('admin'), { password });
  expect([status, (await signIn('ivo', password)).status]).toEqual([200, 200]);
});

test('a first password is asked for where 3.4 asked for one', async () => {
  const { body } = await signIn('uma');
  const { extra } = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString());
  expect(extra).toMatchObject({ uninitialized: ['true'] });
});

test('the console is pointed to Gatehouse', async () => {
  expect(await serverOfConsole()).toBeUndefined();
  const printed = await follow('The console, 1');
  expect(printed).toContain('successfully rolled out');
  const host = 'gatehouse.gatehouse-system.svc';
  expect(await serverOfConsole()).toEqual({ url: `http://${host}`, wsUrl: `ws://${host}` });
});

/** Every first page, as an administrator or a member of the workspace. */
async function visit(name: OldName, password = PEOPLE[name].password ?? ''): Promise<ConsoleClient> {
  const client = new ConsoleClient(caller.url);
  expect(await client.signIn(name, password)).toBe(200);
  await client.load();
  await client.nodes();
  await client.node(NODE_NAME);
  await client.workspace('shop', 'shop-web');
  await client.others();
  return client;
}

test('CO-21 the console shows its pages to the admin of KubeSphere', async () => {
  const client = await eventually(
    () => visit('admin'),
    (one) => one.failures.length === 0,
  );
  await client.users();
  expect(client.failures).toEqual([]);
  expect(client.bodyOf('/api/v1/nodes').items[0].metadata.name).toBe(NODE_NAME);
  expect(client.bodyOf('v1alpha3/nodes?sortBy=createTime').totalItems).toBe(1);
  expect(client.bodyOf('/workspacetemplates?').totalItems).toBe(1);
  expect(client.bodyOf('/users?').totalItems).toBe(OLD_NAMES.length);
  const [role] = client.bodyOf('/users/admin/globalroles');
  expect(JSON.parse(role.metadata.annotations['iam.kubesphere.io/role-template-rules']).users).toBe('manage');
  const namespaces = client.bodyOf('v1alpha3/namespaces?').items.map((one: StoredUser) => one.metadata.name);
  expect(namespaces).toContain('shop-web');
  expect(await client.refreshAtOnce()).toEqual([200, 200, 200, 200, 200]);
});

test('CO-21 the console shows a member the workspace and its namespace', async () => {
  const client = await eventually(
    () => visit('olivia'),
    (one) => one.failures.length === 0,
  );
  expect(client.bodyOf('shop/namespaces?').items[0].metadata.name).toBe('shop-web');
  expect(client.bodyOf('/members/olivia/roles')).toMatchObject([{ metadata: { name: 'operator' } }]);
  expect(client.bodyOf('/workspacemembers/olivia/workspaceroles')).toMatchObject([
    { metadata: { name: 'shop-viewer' } },
  ]);
  expect(client.statusOf('/api/v1/nodes')).toBe(403);
  expect(client.bodyOf('v1alpha3/namespaces?').totalItems).toBe(1);
});

test('CO-14 the console follows nodes and users from its own address', async () => {
  const target = { url: caller.url, token: await tokenOf('admin') };
  for (const path of ['/api/v1/watch/nodes', '/apis/iam.kubesphere.io/v1alpha2/watch/users']) {
    const { status, events } = await openWebsocket(target, `${path}?timeoutSeconds=1`, { origin: CONSOLE });
    expect([path, status, events[0].type]).toEqual([path, 101, 'ADDED']);
  }
});

test('a person changes the own password, and 3.4 will find it', async () => {
  const password = `${OLD_PEOPLE.olivia.password}-new`;
  const body = { currentPassword: OLD_PEOPLE.olivia.password, password };
  const changed = await caller.send('PUT', `${IAM}/users/olivia/password`, await tokenOf('olivia'), body);
  expect(changed.status).toBe(200);
  ofOlivia = password;
  const hash = (await stored()).get('olivia')?.spec.password ?? '';
  expect(hash).toMatch(/^\$2[ayb]\$.{56}$/);
  expect(await libraryBcrypt.compare(password, hash)).toBe(true);
  // 3.4's webhook saw the write, as each write of a user while it is there.
  const log = await kubectl([...SYSTEM, 'logs', 'deployment/ks-controller-manager']);
  expect(log).toContain('UPDATE olivia by system:serviceaccount:gatehouse-system:gatehouse\n');
});

test('the way back leaves KubeSphere as it was, with the passwords of now', async () => {
  const before = await stored();
  expect(await follow('The way back, 1')).toContain('successfully rolled out');
  expect(await serverOfConsole()).toBeUndefined();
  await follow('The way back, 2');
  const after = await stored();
  expect([...after.keys()].sort()).toEqual([...OLD_NAMES].sort());
  for (const [name, user] of after) {
    expect(user).toMatchObject({ metadata: { uid: before.get(name)?.metadata.uid }, status: before.get(name)?.status });
    expect([name, user.spec.password]).toEqual([name, before.get(name)?.spec.password]);
    // 3.4's own, which its controller completes.
    expect(user.metadata.finalizers).toEqual(['finalizers.kubesphere.io/users']);
  }
  const { items } = await get<V1ClusterRoleBindingList>('clusterrolebindings', '-l', 'iam.kubesphere.io/user-ref');
  expect(items.map(({ metadata }) => metadata?.name)).toEqual(['theo-view']);
  expect(await kubectl(['get', 'clusterrolebinding', 'admin-cluster-admin', '-o', 'name'])).toContain('admin');
  const guards = await kubectl(['get', 'validatingadmissionpolicy', '-o', 'name']);
  expect(guards).not.toContain('gatehouse');
  // Nothing refuses a write of 3.4's account, or of an administrator.
  const account = '--as=system:serviceaccount:kubesphere-system:kubesphere';
  for (const who of [[], [account]])
    await kubectl([...who, 'annotate', 'user.iam.kubesphere.io', 'theo', `looked-at=${who.length}`, '--overwrite']);
});

test('a second move begins where the first one did', async () => {
  await namespaceIsGone();
  await installBeside();
  await follow('The users, 1');
  await follow('The console, 1');
  expect((await signIn('olivia', ofOlivia)).status).toBe(200);
  expect((await signIn('olivia')).status).toBe(400);
});

test('without its webhook’s server the cluster refuses to write users, as the page says', async () => {
  const scale = (replicas: number): Promise<string> =>
    kubectl([...SYSTEM, 'scale', 'deployment/ks-controller-manager', `--replicas=${replicas}`]);
  const write = (): Promise<string> =>
    kubectl(['annotate', 'user.iam.kubesphere.io', 'theo', 'written=yes', '--overwrite']).catch(String);
  await scale(0);
  expect(await eventually(write, (said) => said.includes('Error'))).toContain('failed calling webhook');
  await scale(1);
  await eventually(write, (said) => said.includes('annotated'));
});

test('when KubeSphere’s servers are gone, passwords leave the objects and nobody is signed out', async () => {
  const { access_token: token } = (await signIn('olivia', ofOlivia)).body;
  await follow("When KubeSphere's servers are gone, 1");
  await follow("When KubeSphere's servers are gone, 2");
  caller = await release.caller();
  for (const { metadata, spec } of (await stored()).values())
    expect([metadata.name, spec.password]).toEqual([metadata.name, undefined]);
  expect((await caller.get(`${IAM}/users/olivia`, token)).status).toBe(200);
  expect((await signIn('olivia', ofOlivia)).status).toBe(200);
  // Her password was in clear text.
  expect((await signIn('clara')).status).toBe(200);
  expect((await signIn('dora')).status).toBe(400);
});

test('the definitions of the chart take the place of 3.4’s, with everybody in them', async () => {
  await follow("When KubeSphere's servers are gone, 3");
  caller = await release.caller();
  expect((await stored()).size).toBe(OLD_NAMES.length);
  expect((await visit('admin')).failures).toEqual([]);
  expect((await visit('olivia', ofOlivia)).failures).toEqual([]);
  const token = await tokenOf('admin');
  const uma = await caller.get(`${IAM}/users/uma`, token);
  const removed = await caller.send('DELETE', `${IAM}/users/uma`, token);
  expect([uma.status, removed.status]).toEqual([200, 200]);
  await eventually(stored, (users) => !users.has('uma'));
});

test('each command of the page was followed', () => {
  expect([...followed].sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});
