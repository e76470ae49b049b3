import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { clusterTool } from '../support/cluster-tools.ts';
import { writeKubeconfig } from '../support/control-plane/clients.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { selfSigned } from '../support/self-signed.ts';
import { startTlsFront, type TlsFront } from '../support/tls-front.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { LiveListClients } from './live-list-clients.ts';
import { nameOf, namesTo, PermittedStand } from './permitted-stand.ts';

const NAMESPACES = 1_000;
const TWO = [nameOf(5), nameOf(200)];
const MANY = namesTo(300);
const USERS = ['two', 'many', 'none', 'changing', 'whole'] as const;
type User = (typeof USERS)[number];

const run = promisify(execFile);

let cluster: ControlPlane;
let stand: PermittedStand;
let gatehouse: Gatehouse;
let front: TlsFront;
let folder: string;
let kubectl: string;
const kubeconfigs = new Map<User, string>();
const tokens = new Map<User, string>();

beforeAll(async () => {
  cluster = await startControlPlane();
  kubectl = await clusterTool('kubectl');
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-permitted-'));
  const users = Object.fromEntries(USERS.map((name) => [name, []]));
  const config = { gateway: { enabled: true, permittedLists: true } };
  gatehouse = await startGatehouse(cluster, users, { config });
  // kubectl sends no token over plain HTTP.
  const { cert, key } = selfSigned('127.0.0.1');
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, cert);
  front = await startTlsFront(Number(new URL(gatehouse.url).port), { cert, key });
  stand = await PermittedStand.open(cluster, namesTo(NAMESPACES), USERS);
  await stand.grant('two', TWO);
  await stand.grant('many', MANY);
  await cluster.kubectl(['create', 'clusterrolebinding', 'whole', '--clusterrole=reader', '--user=whole']);
  for (const user of USERS) {
    const token = await gatehouse.signIn(user);
    tokens.set(user, token);
    kubeconfigs.set(user, await writeKubeconfig(folder, user, { url: front.url, caFile, token }));
  }
  await eventually(
    () => kubectlAs('two', 'get', 'pods', '-A', '-o', 'name'),
    ({ out }) => lines(out).length === TWO.length, // RBAC sees new bindings a moment later
  );
}, 120_000);

afterAll(async () => {
  await stand?.close();
  await front?.stop();
  await gatehouse?.stop();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Runs kubectl against Gatehouse. Never rejects. */
async function kubectlAs(user: User, ...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const home = { ...process.env, HOME: folder }; // its cache of discovery
  try {
    const { stdout: out, stderr: err } = await run(
      kubectl,
      ['--kubeconfig', kubeconfigs.get(user) as string, ...args],
      { env: home, maxBuffer: 64 * 1024 * 1024 },
    );
    return { code: 0, out, err };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

/** What was printed so far, without a line that is not whole yet. */
const wholeLines = (text: string): string => text.slice(0, text.lastIndexOf('\n') + 1);

/** A table of kubectl without its spacing. */
const cells = (text: string): string[] => lines(text).map((line) => line.trim().split(/ {2,}/).join('|'));

describe.each([
  { user: 'two', names: TWO },
  { user: 'many', names: MANY },
] as const)('kubectl of a user with $names.length of 1,000 namespaces', ({ user, names }) => {
  const warning = `Warning: you see ${names.length} of the cluster's namespaces: gatehouse lists those in which you may list pods`;

  test('KD-31 KD-34 get pods -A prints the table of the cluster, and over how many namespaces it is', async () => {
    const { code, out, err } = await kubectlAs(user, 'get', 'pods', '-A');
    expect([code, lines(err)]).toEqual([0, [warning]]);
    const [head, ...rows] = cells(out);
    expect(head).toBe('NAMESPACE|NAME|READY|STATUS|RESTARTS|AGE');
    expect(rows.map((row) => row.split('|').slice(0, 4).join('|'))).toEqual(
      names.map((name) => `${name}|pod|0/1|Pending`),
    );
  });

  test('KD-31 get pods -A -o wide has the further columns, and -o yaml the objects', async () => {
    const wide = await kubectlAs(user, 'get', 'pods', '-A', '-o', 'wide');
    expect(cells(wide.out)[0]).toBe('NAMESPACE|NAME|READY|STATUS|RESTARTS|AGE|IP|NODE|NOMINATED NODE|READINESS GATES');
    expect(cells(wide.out)).toHaveLength(names.length + 1);
    const { out } = await kubectlAs(user, 'get', 'pods', '-A', '-o', 'yaml');
    const { items } = parse(out) as { items: { kind: string; metadata: { namespace: string }; spec: object }[] };
    expect(items.map(({ metadata }) => metadata.namespace)).toEqual(names);
    expect(items[0]).toMatchObject({ kind: 'Pod', spec: { containers: [{ name: 'main' }] } });
  });

  test('KD-32 get pods -A --chunk-size=10 gets all of them in pages', async () => {
    const { code, out } = await kubectlAs(user, 'get', 'pods', '-A', '--chunk-size=10', '-o', 'name');
    expect([code, lines(out).length]).toEqual([0, names.length]);
  });

  test('KD-32 selectors choose among them', async () => {
    const where = ['--field-selector', `metadata.namespace=${names[1]}`];
    const { out } = await kubectlAs(user, 'get', 'pods', '-A', '--no-headers', ...where);
    expect(lines(out)).toHaveLength(1);
    const nothing = await kubectlAs(user, 'get', 'pods', '-A', '-l', 'nobody=has-it');
    expect(nothing.err).toContain('No resources found');
  });

  test('KD-33 get ns lists these namespaces', async () => {
    const { code, out, err } = await kubectlAs(user, 'get', 'ns', '-o', 'name');
    expect(code).toBe(0);
    expect(lines(out)).toEqual(names.map((name) => `namespace/${name}`));
    expect(err).toContain(`you see ${names.length} of the cluster's namespaces`);
  });

  test('KD-35 KD-36 Secrets, nodes and the deletion of a collection are the 403 of the cluster', async () => {
    for (const args of [['secrets', '-A'], ['nodes']]) {
      const { code, err } = await kubectlAs(user, 'get', ...args);
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/^Error from server \(Forbidden\): .*at the cluster scope/),
      ]);
    }
    const { code, err } = await kubectlAs(user, 'delete', '--raw', '/api/v1/pods');
    expect([code, err]).toEqual([1, expect.stringContaining('cannot deletecollection resource "pods"')]);
  });
});

test('KD-30 kubectl of a user with the right over the whole cluster gets what the cluster answers', async () => {
  const args = ['get', 'pods', '-A', '-o', 'json'];
  const { code, out, err } = await kubectlAs('whole', ...args);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out).items).toHaveLength(NAMESPACES);
  expect(out).toBe(await cluster.kubectl(args));
});

test('kubectl of a user without rights gets the 403 of the cluster', async () => {
  for (const what of ['pods', 'ns']) {
    const { code, err } = await kubectlAs('none', 'get', what, '-A');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^Error from server \(Forbidden\): .*User "none" cannot list/),
    ]);
  }
});

test('KD-32 kubectl get pods -A -w prints what changes in these namespaces only', async () => {
  const args = ['--kubeconfig', kubeconfigs.get('two') as string, 'get', 'pods', '-A', '--watch', '--no-headers'];
  const watching = spawn(kubectl, args, {
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  watching.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  try {
    await eventually(
      async () => lines(wholeLines(out)).length,
      (count) => count === TWO.length,
    );
    for (const namespace of [nameOf(6), TWO[0] as string]) await stand.createPod(namespace, 'watched');
    await stand.deletePod(TWO[0] as string, 'watched');
    await stand.deletePod(nameOf(6), 'watched');
    await eventually(
      async () => cells(wholeLines(out)).slice(2),
      (rows) => rows.length >= 2,
    );
    for (const row of cells(wholeLines(out)).slice(2)) expect(row).toMatch(new RegExp(`^${TWO[0]}\\|watched\\|`));
  } finally {
    watching.kill();
  }
});

test('KD-32 client-go’s informers over pods gain and lose the objects of namespaces with their user’s rights, and lose no event', async () => {
  const [kept, lost] = TWO as [string, string];
  await stand.grant('changing', TWO);
  await eventually(
    () => kubectlAs('changing', 'get', 'pods', '-A', '-o', 'name'),
    ({ out }) => lines(out).length === TWO.length,
  );
  const token = tokens.get('changing') as string;
  const start = (lists: boolean): Promise<LiveListClients> =>
    LiveListClients.start({ urls: [gatehouse.url], path: '/api/v1/pods', token, kind: 'pods', lists });
  // One lists in pages and then watches; the watch of the other begins with the list.
  const all = [await start(true), await start(false)];
  const become = (names: readonly string[]): Promise<unknown> =>
    eventually(
      async () => all.map(held),
      (now) => now.every((one) => one.join() === [...names].toSorted().join()),
    );
  try {
    await become([`${kept}/pod`, `${lost}/pod`]);
    await stand.createPod(lost, 'made');
    await become([`${kept}/pod`, `${lost}/made`, `${lost}/pod`]);
    await stand.revoke('changing', [lost]);
    await stand.grant('changing', [nameOf(7)]);
    await become([`${kept}/pod`, `${nameOf(7)}/pod`]);
    await stand.createPod(nameOf(7), 'made');
    await stand.deletePod(kept, 'pod');
    await become([`${nameOf(7)}/made`, `${nameOf(7)}/pod`]);
  } finally {
    for (const clients of all) clients.kill();
    await stand.createPod(kept, 'pod').catch(() => undefined);
  }
}, 120_000);

/** The pods that an informer has been told of and not been told as deleted. */
function held(clients: LiveListClients): string[] {
  const names = new Set<string>();
  for (const { what, name = '' } of clients.of('informer', 'add', 'update', 'delete'))
    if (what === 'delete') names.delete(name);
    else names.add(name);
  return [...names].toSorted();
}
