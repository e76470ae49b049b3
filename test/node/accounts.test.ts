import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { V1SecretList } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { tellMeasured } from '../support/measured.ts';
import { operationsText } from '../support/operations-pages.ts';
import { Caller } from './stand/caller.ts';
import { documentedCommands, documentedFile } from './stand/documented-commands.ts';
import { helm, kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';
import { Shell } from './stand/shell.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const readPage = (name: string): Promise<string> => readFile(join(ROOT, 'docs', name), 'utf8');
const PAGE = await readPage('accounts.md');
const COMMANDS = [...documentedCommands(PAGE), ...documentedCommands(operationsText())];
const ROLE = documentedFile(PAGE, 'Roles, and who may give which', 'yaml');

const VALUES = { accounts: { enabled: true }, replicaCount: 2, sessions: { store: 'kubernetes' } };
const PORT = 9090;
const FIRST_PASSWORD = 'First-of-alice-1';
/** A decision about rights is kept for 10 s by a replica that did not change them. */
const ROLE_REACHES_MS = 15_000;
const DISABLED_REACHES_MS = 5_000;

const release = new Release('accounts');
let folder: string;
let shell: Shell;
let caller: Caller;
let replicas: Caller[];
/** Alice's, from before whatever was done to her last. */
let token: string;

/** The block of the page, by heading and place; with `part`, its command that has these words. */
function commands(name: string, part = ''): string {
  const { text } = COMMANDS.find((block) => block.name === name)!;
  return part === '' ? text : `${text.split('\n').find((line) => line.includes(part))!}\n`;
}

/** A person at a shell, with the password that Helm's notes tell how to read, signs in as docs/accounts.md says. */
async function sitDown(): Promise<void> {
  const args = ['--namespace', release.namespace, 'get', 'notes', release.name];
  const reading = (await helm(args)).split('\n').find((line) => line.includes('.data.password'))!;
  caller = await release.caller();
  replicas = (await release.pods()).map(({ status }) => new Caller(`http://${status!.podIP}:${PORT}`));
  await shell?.stop();
  const tools = await Promise.all([clusterTool('kubectl'), clusterTool('helm')]);
  const PATH = [...tools.map(dirname), process.env['PATH']].join(':');
  const env = { KUBECONFIG: inject('kubeconfig'), NS: release.namespace, GATEHOUSE: caller.url, FIRST_PASSWORD };
  shell = new Shell(folder, { ...process.env, PATH, ...env });
  const [change] = commands('Find and change users, 2').split(/^change alice/m);
  await shell.run(`PASSWORD=$(${reading.trim()})\n${commands('Switch it on, 1')}${change}`);
}

/** The last answer to this command of the page: it may have been refused before. */
async function answered(command: string): Promise<{ readonly kind?: string; readonly status?: { state?: string } }> {
  const printed = await shell.run(`${command.trimEnd()} || true\n`);
  return JSON.parse(printed.trim().split('\n').at(-1)!);
}

const signIn = (): Promise<string> => eventually(() => shell.run('sign_in alice "$FIRST_PASSWORD"\n'), isToken);
const isToken = (printed: string): boolean => printed.trim().split('.').length === 3;

/** How many ms later every replica answers Alice's list with this status, from now on. */
async function reachedAll(status: number): Promise<number> {
  const began = performance.now();
  const reached = replicas.map((replica) =>
    eventually(
      () => replica.list(token),
      (answer) => answer.status === status,
    ),
  );
  await Promise.all(reached);
  return performance.now() - began;
}

const users = async (): Promise<string[]> => (await kubectl(['get', 'users', '-o', 'name'])).trim().split('\n');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-accounts-'));
  await release.install(VALUES);
  await sitDown();
});

afterAll(async () => {
  await release.remove();
  await shell?.run(commands('Upgrade and rollback, 3')).catch(() => undefined); // the other files' cluster has no users
  await kubectl(['delete', 'clusterrole', 'node-viewer', 'meddler', '--ignore-not-found']);
  await kubectl(['delete', 'clusterrolebinding', 'meddler', '--ignore-not-found']);
  await shell?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('two replicas with users as objects', () => {
  test('AC-10 make a user for the first administrator, who signs in and is refused at the nodes', async () => {
    expect(await answered(commands('Invite somebody, 1'))).toMatchObject({ kind: 'User', status: { state: 'Active' } });
    token = (await signIn()).trim();
    await reachedAll(403);
    const { status, body } = await caller.list(token);
    expect([status, body.message]).toEqual([403, expect.stringContaining('User "alice" cannot list resource "nodes"')]);
  });

  test('let the user in everywhere within 15 s of a role that permits it', async () => {
    await kubectl(['apply', '-f', '-'], ROLE);
    const give = commands('Roles, and who may give which, 1', 'change alice').replace('users-manager', 'node-viewer');
    const user = await eventually(
      () => answered(give),
      ({ kind }) => kind === 'User', // the replica has yet to hear of the role
    );
    expect(user).toHaveProperty(['metadata', 'annotations', 'iam.gatehouse.io/globalrole'], 'node-viewer');
    const took = await reachedAll(200);
    tellMeasured('role', took, 'from the answer that gives a role to the list at both replicas');
    expect(took).toBeLessThan(ROLE_REACHES_MS);
  });

  test('let nobody else write users, whatever the roles of the cluster permit', async () => {
    await kubectl([
      'create',
      'clusterrole',
      'meddler',
      '--verb=*',
      '--resource=users.iam.gatehouse.io,users.iam.gatehouse.io/status',
    ]);
    await kubectl([
      'create',
      'clusterrolebinding',
      'meddler',
      '--clusterrole=meddler',
      `--serviceaccount=${release.namespace}:default`,
    ]);
    const as = `--as=system:serviceaccount:${release.namespace}:default`;
    expect(
      await eventually(
        () => kubectl(['auth', 'can-i', 'patch', 'users.iam.gatehouse.io', as]).catch(String),
        (say) => say === 'yes\n',
      ),
    ).toBe('yes\n');
    const written = [
      ['patch', 'users', 'alice', '--type=merge', '--patch={"spec":{"groups":["gatehouse-admins"]}}', as],
      ['patch', 'users', 'alice', '--subresource=status', '--type=merge', '--patch={"status":{"state":"Active"}}', as],
      ['delete', 'users', 'alice', as],
    ].map((args) => kubectl(args).catch(String));
    for (const said of await Promise.all(written))
      expect(said).toContain('users and login records are written by Gatehouse only');
    expect(await kubectl(['get', 'users', 'alice', '-o', 'jsonpath={.spec.groups}'])).toBe('');
  });

  test('AC-35 refuse a disabled user everywhere within 5 s', async () => {
    const user = await answered(commands('Disable, unlock, delete, 1', '"Disabled"'));
    expect(user.status?.state).toBe('Disabled');
    const took = await reachedAll(401);
    tellMeasured('disabled', took, 'from the answer that disables a user to 401 at both replicas');
    expect(took).toBeLessThan(DISABLED_REACHES_MS);
    expect(isToken(await shell.run('sign_in alice "$FIRST_PASSWORD"\n'))).toBe(false);
  });

  test('are tested by helm test', async () => {
    const said = await helm(['--namespace', release.namespace, 'test', release.name, '--logs']);
    expect(said).toMatch(/^Phase: +Succeeded$/m);
  });
});

describe('after an uninstall', () => {
  let uids: string;
  const uidsOfUsers = (): Promise<string> =>
    kubectl(['get', 'users', '-o', 'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}']);

  test('users, their passwords, their roles, the definitions and the policy are there', async () => {
    uids = await uidsOfUsers();
    await release.uninstall();
    const pods = () => release.kubectl(['get', 'pods', '-l', 'app.kubernetes.io/name=gatehouse', '-o', 'name']);
    expect(await eventually(pods, (names) => names === '')).toBe(''); // they take their time to end
    expect(await users()).toEqual(['user.iam.gatehouse.io/admin', 'user.iam.gatehouse.io/alice']);
    const { items } = await release.get<V1SecretList>('secrets', '-l', 'app.kubernetes.io/component=passwords');
    expect(items.map(({ metadata }) => metadata!.name)).toHaveLength(2);
    const kept = await kubectl(['get', 'crd,validatingadmissionpolicy,clusterrolebinding', '-o', 'name']);
    for (const name of [
      '/users.iam.gatehouse.io',
      '/loginrecords.iam.gatehouse.io',
      '/accounts.gatehouse.accounts',
      '/alice-node-viewer',
    ])
      expect(kept).toContain(`${name}\n`);
  });

  test('an install finds them: who was disabled is, and signs in with the password from before when enabled again', async () => {
    await release.install(VALUES);
    await sitDown();
    expect(await uidsOfUsers()).toBe(uids);
    expect(isToken(await shell.run('sign_in alice "$FIRST_PASSWORD"\n'))).toBe(false);
    const user = await answered(commands('Disable, unlock, delete, 1', '"Active"'));
    expect(user.status?.state).toBe('Active');
    token = (await signIn()).trim();
    await reachedAll(200);
  });
});
