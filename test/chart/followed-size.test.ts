import { setTimeout as sleep } from 'node:timers/promises';
import type { V1ClusterRole } from '@kubernetes/client-node';
import { type Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { served } from '../cluster/served.ts';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { NAMESPACE } from './helm.ts';
import { type InstalledProgram, installChart, startConfiguredProgram } from './installed-program.ts';

/** Set by `npm run test:follow-size`, which also measures. */
const LONG = process.env['FOLLOW_SIZE'];
const MOST = Number(LONG ?? 1_200);
const SIZES = LONG === undefined ? [MOST] : [0, 1_000, MOST];
/** More roles than ours, to see what RBAC's evaluation costs: users in all. */
const BEYOND = LONG === undefined ? [] : [20_000, 50_000];
const SAMPLES = LONG === undefined ? 20 : 400;
const NAMES_A_ROLE = 1_000;
const WRITERS = 8;
const IDLE_MS = 20_000;

const USERS = '/kapis/iam.gatehouse.io/v1alpha2/users';
const OBJECTS = '/apis/iam.gatehouse.io/v1alpha2/users';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:gatehouse`;
const SMALL = '/api/v1/namespaces/default/configmaps/small';
const PASSWORD = 'Long-enough-1';
/** As many as the chart allows, and long ones. */
const PREFIXES = Array.from({ length: 20 }, (_, at) => `department-of-something-${String(at).padStart(8, '0')}-`);
const FOLLOWING = {
  accounts: { enabled: true },
  gateway: {
    enabled: true,
    accounts: { enabled: true, groups: PREFIXES.map((prefix) => `${prefix}*`), maxUsers: MOST + NAMES_A_ROLE },
  },
};

let cluster: ControlPlane;
let replicas: InstalledProgram[];
let dispatcher: Agent;
let admin: string;

/** A request of the cluster's administrator, or by this token, by one of a few connections that stay open. */
async function ask<T>(
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  json?: object,
  token = cluster.adminToken,
): Promise<T> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const body = json && JSON.stringify(json);
  const answer = await request(cluster.url + path, { method, headers, dispatcher, ...(body && { body }) });
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return (await answer.body.json()) as T;
}

const nameOf = (at: number): string => `user-${String(at).padStart(5, '0')}`;

/** Creates the users of these numbers as fast as the API server takes them. */
async function createUsers(from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, at) => from + at).values();
  const write = async (): Promise<void> => {
    for (const at of numbers)
      await ask('POST', OBJECTS, {
        apiVersion: 'iam.gatehouse.io/v1alpha2',
        kind: 'User',
        metadata: { name: nameOf(at) },
        spec: { email: '' },
      });
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

interface Stored {
  readonly users: number;
  readonly bytes: number;
}

/** What each of our roles has. */
async function stored(): Promise<readonly Stored[]> {
  const { items } = await ask<{ items: V1ClusterRole[] }>(
    'GET',
    `${ROLES}?labelSelector=app.kubernetes.io/instance=gatehouse`,
  );
  const ours = items.filter(({ metadata }) => metadata!.name!.includes(':gateway:accounts-'));
  return ours.map((role) => ({
    users: role.rules?.find(({ resources }) => resources!.includes('users'))?.resourceNames?.length ?? 0,
    bytes: JSON.stringify(role).length,
  }));
}

const total = (roles: readonly Stored[]): number => roles.reduce((sum, { users }) => sum + users, 0);

/** The sum of a metric of all replicas. */
async function metric(line: string, programs: readonly InstalledProgram[] = replicas): Promise<number> {
  const texts = await Promise.all(programs.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
  const found = texts.map((text) => text.split('\n').find((one) => one.startsWith(`${line} `)) ?? ' NaN');
  return found.reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0);
}

const written = (result: string, programs = replicas): Promise<number> =>
  metric(`gatehouse_gateway_accounts_writes_total{result="${result}"}`, programs);

async function signIn(username: string, password: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'gatehouse', username, password };
  const answer = await fetch(`${replicas[0]!.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await answer.json()) as { access_token?: string }).access_token ?? '';
}

/** A call that the cluster allows to everybody, through the first replica. */
async function call(token: string): Promise<number> {
  const answer = await fetch(replicas[0]!.url + SMALL, { headers: { authorization: `Bearer ${token}` } });
  await answer.text();
  return answer.status;
}

/** Resolves with the new user's token when a call has gone through. */
async function invite(name: string): Promise<string> {
  const answer = await fetch(replicas[0]!.url + USERS, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name }, spec: { email: '', password: PASSWORD } }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  const invited = performance.now();
  const token = await eventually(
    () => signIn(name, PASSWORD),
    (text) => text !== '',
  );
  const signedIn = performance.now();
  await eventually(
    () => call(token),
    (status) => status === 200,
  );
  tell(`${name}`, {
    'sign-in, ms after the answer to the invitation': signedIn - invited,
    'first call, ms after it': performance.now() - invited,
  });
  return token;
}

function tell(what: string, figures: Readonly<Record<string, number | string>>): void {
  const text = Object.entries(figures).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}`,
  );
  process.stdout.write(`follow-size, ${what}: ${text.join(', ')}\n`);
}

/** Milliseconds at the median and the 99th percentile, one after the other. */
async function sample(what: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < SAMPLES; at++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  const sorted = times.sort((a, b) => a - b);
  tell(what, { p50: sorted[Math.floor(SAMPLES / 2)]!, p99: sorted[Math.floor(SAMPLES * 0.99)]!, least: sorted[0]! });
}

const review = (user: string, resourceAttributes: object) => async (): Promise<boolean> => {
  const spec = { user, groups: ['system:authenticated'], resourceAttributes };
  return (await ask<{ status: { allowed: boolean } }>('POST', REVIEWS, { spec })).status.allowed;
};

/** What reviews and calls cost, with this many users in the roles. */
async function measure(size: number, lastUser: string, token: string): Promise<void> {
  const ordinary = review('nobody-special', { verb: 'get', resource: 'configmaps', namespace: 'default' });
  const impersonates = (name: string) => review(ACCOUNT, { verb: 'impersonate', resource: 'users', name });
  expect([await impersonates(lastUser)(), await impersonates('stranger')()]).toEqual([true, false]);
  await sample(`${size} users, review of an ordinary user, ms`, ordinary);
  await sample(`${size} users, review of impersonating the last user, ms`, impersonates(lastUser));
  await sample(`${size} users, review of impersonating a stranger, ms`, impersonates('stranger'));
  await sample(`${size} users, a call through the gateway, ms`, () => call(token));
  await sample(`${size} users, the same call to the API server, ms`, () => ask('GET', SMALL));
}

beforeAll(async () => {
  cluster = await startControlPlane();
  dispatcher = await apiDispatcher(cluster.caFile);
  await cluster.kubectl(['create', 'configmap', 'small', '--from-literal=a=b']);
  await cluster.kubectl(['create', 'clusterrole', 'reader', '--verb=get', '--resource=configmaps']);
  await cluster.kubectl([
    ...['create', 'clusterrolebinding', 'reader', '--clusterrole=reader', '--group=system:authenticated'],
  ]);
  await installChart(cluster, FOLLOWING);
  await served(cluster, 'users.iam.gatehouse.io', 'loginrecords.iam.gatehouse.io');
  replicas = await Promise.all([startConfiguredProgram(cluster), startConfiguredProgram(cluster)]);
  const read = ['-n', NAMESPACE, 'get', 'secret', 'gatehouse-first-administrator', '-o', 'jsonpath={.data.password}'];
  const password = Buffer.from(await cluster.kubectl(read), 'base64').toString();
  admin = await eventually(
    () => signIn('admin', password),
    (token) => token !== '',
  );
  await eventually(
    () => call(admin),
    (status) => status === 200,
  );
});
afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.stop()));
  await dispatcher?.close();
  await cluster?.stop();
});

describe('two replicas that follow thousands of accounts on a real API server', { shuffle: false }, () => {
  /** Those whom `createUsers` did not make. */
  let others = 1;
  let made = 0;

  test.each(SIZES)('name %i users in as many roles as they need, with far fewer writes than users', async (size) => {
    const before = await written('written');
    const used = await metric('process_cpu_seconds_total');
    const began = performance.now();
    await createUsers(made, size);
    const created = performance.now();
    const grown = size - made;
    made = size;
    await eventually(stored, (roles) => total(roles) === size + others);
    const granted = performance.now();
    const roles = await stored();
    expect(roles.filter(({ users }) => users > 0).length).toBe(Math.ceil((size + others) / NAMES_A_ROLE));
    const writes = (await written('written')) - before;
    expect(writes).toBeLessThan(Math.max(2, grown / 20));
    tell(`${size} users`, {
      'created in s': (created - began) / 1000,
      'in the roles after the last one was created, s': (granted - created) / 1000,
      writes,
      conflicts: await written('conflict'),
      'bytes of the roles': roles.reduce((sum, { bytes }) => sum + bytes, 0),
      'bytes of the largest': Math.max(...roles.map(({ bytes }) => bytes)),
      'CPU of both replicas, s': (await metric('process_cpu_seconds_total')) - used,
    });
    const name = `z-${size}`;
    const token = await invite(name);
    others++;
    await measure(size, name, token);
  });

  test('may fill a role with the longest names, which the policy of the chart can still check', async () => {
    const names = (count: number, start: string, bytes: number): string[] =>
      Array.from({ length: count }, (_, at) => `${start}${at}`.padEnd(bytes, 'x'));
    const rule = (resource: string, resourceNames: readonly string[]) => ({
      ...{ apiGroups: [''], resources: [resource], resourceNames, verbs: ['impersonate'] },
    });
    const rules = [
      rule('users', names(NAMES_A_ROLE, 'user-', 253)),
      rule('groups', names(NAMES_A_ROLE, PREFIXES.at(-1)!, 253)),
    ];
    const role = `${ROLES}/${NAMESPACE}:gatehouse:gateway:accounts-1`;
    const token = await cluster.serviceAccountToken(NAMESPACE, 'gatehouse');
    const filled = await ask<V1ClusterRole>('PATCH', `${role}?dryRun=All`, { rules }, token);
    expect(filled.rules?.map(({ resourceNames }) => resourceNames?.length)).toEqual([NAMES_A_ROLE, NAMES_A_ROLE]);
  });

  test.each(LONG === undefined ? [] : [MOST])('cost more memory and CPU with %i users', async (size) => {
    for (const replica of replicas.splice(0)) await replica.stop();
    for (const round of [1, 2])
      for (const what of ['without', 'with gateway.accounts']) {
        const isFollowing = what !== 'without';
        // Each has a configuration of its own: the chart keeps the older ones, and the newest is read here.
        const accounts = { enabled: isFollowing, maxUsers: MOST + (1 + round) * NAMES_A_ROLE };
        const gateway = { enabled: true, accounts, users: [`round-${round}`] };
        await installChart(cluster, { accounts: { enabled: true }, gateway }, 'upgrade');
        if (isFollowing) {
          // The upgrade has made the roles again, without names.
          const first = await startConfiguredProgram(cluster);
          await eventually(stored, (roles) => total(roles) === size + others);
          await first.stop();
        }
        const program = await startConfiguredProgram(cluster);
        await sleep(IDLE_MS);
        const used = await metric('process_cpu_seconds_total', [program]);
        await sleep(IDLE_MS);
        tell(`${size} users, ${what}, round ${round}`, {
          'resident MB': (await metric('process_resident_memory_bytes', [program])) / 1e6,
          'heap MB': (await metric('nodejs_heap_size_used_bytes', [program])) / 1e6,
          'CPU since the start, s': used,
          'idle CPU %': (((await metric('process_cpu_seconds_total', [program])) - used) / (IDLE_MS / 1000)) * 100,
        });
        // Who starts beside full roles has nothing to write.
        if (isFollowing) expect(await written('written', [program])).toBe(0);
        await program.stop();
      }
  });

  test.each(BEYOND)('cost the API server a review among %i names', async (size) => {
    const user = `bound-${size}`;
    const bind = async (at: number): Promise<void> => {
      const name = `beyond-${size}-${at}`;
      const resourceNames = Array.from({ length: NAMES_A_ROLE }, (_, one) => `user-${at}-${one}`);
      const rules = [{ apiGroups: [''], resources: ['users'], resourceNames, verbs: ['impersonate'] }];
      await ask('POST', ROLES, { metadata: { name }, rules });
      await ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      });
    };
    const roles = size / NAMES_A_ROLE;
    for (let at = 0; at < roles; at++) await bind(at);
    const last = review(user, { verb: 'impersonate', resource: 'users', name: `user-${roles - 1}-999` });
    await eventually(last, (allowed) => allowed);
    await sample(`${size} users, review of impersonating the last user, ms`, last);
    await sample(
      `${size} users, review of impersonating a stranger, ms`,
      review(user, { verb: 'impersonate', resource: 'users', name: 'stranger' }),
    );
    await sample(
      `${size} users, review of an ordinary user, ms`,
      review('nobody-special', { verb: 'get', resource: 'configmaps', namespace: 'default' }),
    );
  });
});
