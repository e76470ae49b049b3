import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { served } from '../cluster/served.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { NAMESPACE } from './helm.ts';
import { type InstalledProgram, installChart, startConfiguredProgram } from './installed-program.ts';

const USERS = '/kapis/iam.gatehouse.io/v1alpha2/users';
const PASSWORD = 'Long-enough-1';
const ROLE = `${NAMESPACE}:gatehouse:gateway:accounts-0`;
const VALUES = {
  accounts: { enabled: true },
  gateway: { enabled: true, accounts: { enabled: true, groups: ['team-*'], maxUsers: 1500 } },
};

let cluster: ControlPlane;
let replicas: InstalledProgram[];
let admin: string;

beforeAll(async () => {
  cluster = await startControlPlane();
  await installChart(cluster, VALUES);
  await served(cluster, 'users.iam.gatehouse.io', 'loginrecords.iam.gatehouse.io');
  replicas = await Promise.all([startConfiguredProgram(cluster), startConfiguredProgram(cluster)]);
  const read = ['-n', NAMESPACE, 'get', 'secret', 'gatehouse-first-administrator', '-o', 'jsonpath={.data.password}'];
  const password = Buffer.from(await cluster.kubectl(read), 'base64').toString();
  await cluster.kubectl([
    'create',
    'clusterrole',
    'leader',
    '--verb=impersonate',
    '--resource=groups',
    '--resource-name=team-a',
  ]);
  await cluster.kubectl(['create', 'clusterrolebinding', 'leader', '--clusterrole=leader', '--user=admin']);
  admin = await eventually(
    () => signIn('admin', password),
    (token) => token !== '',
  );
});
afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.stop()));
  await cluster?.stop();
});

/** An access token; `''` when the sign-in is refused. */
async function signIn(username: string, password: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'gatehouse', username, password };
  const answer = await fetch(`${replicas[0]!.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await answer.json()) as { access_token?: string }).access_token ?? '';
}

interface Asked {
  readonly method?: string;
  readonly json?: object;
  readonly replica?: number;
}

async function call(token: string, path: string, { method = 'GET', json, replica = 0 }: Asked = {}) {
  const answer = await fetch(replicas[replica]!.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(json && { body: JSON.stringify(json) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  return { status: answer.status, body: (await answer.json()) as any };
}

async function invite(name: string, more: { readonly groups?: readonly string[] } = {}): Promise<void> {
  const json = {
    metadata: { name, annotations: { 'iam.gatehouse.io/uninitialized': '' } },
    spec: { email: '', password: PASSWORD, ...more },
  };
  const { status, body } = await call(admin, USERS, { method: 'POST', json });
  expect([status, body.message]).toEqual([200, undefined]);
}

const rulesOf = async (role = ROLE): Promise<readonly V1PolicyRule[]> =>
  (JSON.parse(await cluster.kubectl(['get', 'clusterrole', role, '-o', 'json'])) as V1ClusterRole).rules ?? [];

const namesOf = async (resource: 'users' | 'groups'): Promise<readonly string[]> =>
  (await rulesOf())
    .filter(({ resources }) => resources!.includes(resource))
    .flatMap(({ resourceNames }) => resourceNames!);

/** The status of the cluster's own answer to a call that every user may make. */
const calls = async (token: string, replica = 0): Promise<number> =>
  (await call(token, '/version/', { replica })).status;

describe('two replicas that follow the accounts, installed by the chart on a real API server', () => {
  test('let a new user through to the cluster without an operator', async () => {
    await invite('alice', { groups: ['team-a'] });
    const token = await signIn('alice', PASSWORD);
    const answer = await eventually(
      () => call(token, '/api/v1/namespaces'),
      ({ status }) => status !== 503,
    );
    expect(answer.body.message).toContain('x');
    expect(await namesOf('users')).toEqual(['admin', 'alice']);
    expect(await namesOf('groups')).toEqual(['team-a']);
    expect(await calls(token)).toBe(200);
  });
});
