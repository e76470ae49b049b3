import { setTimeout as sleep } from 'node:timers/promises';
import { readObserved } from './case.ts';
import { exchange } from './exchange.ts';
import { CLIENTS } from './people.ts';

/** A user of the account cases. */
interface AccountUser {
  readonly name: string;
  readonly group: number;
  readonly password: string;
  readonly email?: string;
  readonly lang?: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly groups?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly state: string;
  readonly role?: string;
  readonly owner?: object;
  /** True for the administrator, who exists already. */
  readonly existing?: true;
}

interface AccountFixture {
  readonly roles: readonly {
    readonly name: string;
    readonly group: number;
    readonly assignable?: true;
    readonly labels?: object;
    readonly annotations?: object;
    readonly rules: readonly unknown[];
  }[];
  readonly users: readonly AccountUser[];
  readonly records: readonly {
    readonly name: string;
    readonly user: string;
    readonly group: number;
    readonly labels: object;
    readonly spec: object;
  }[];
  readonly objects: readonly AccountObject[];
}

export interface AccountObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

/** The cluster that the fixture is loaded into. */
export interface FixtureCluster {
  create(objects: readonly AccountObject[]): Promise<void>;
  /** Merges into the metadata of a User. */
  patchUser(name: string, metadata: object): Promise<void>;
}

export interface FixtureServer {
  readonly port: number;
  readonly platform: string;
  readonly admin: { readonly name: string; readonly password: string };
}

/** The time between two groups of users. It is longer than a second, so the order by creation time is that of the groups. */
const APART_MS = 1_100;

/** The fixture of the account cases, for a platform. */
export function accountFixture(platform: string): AccountFixture {
  return JSON.parse(readObserved('accounts-fixture.json').replaceAll('{{platform}}', platform)) as AccountFixture;
}

/** Makes roles, users (by the API, as the administrator), bindings and login records. `wait` lets time pass in between. */
export async function loadAccounts(
  cluster: FixtureCluster,
  server: FixtureServer,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  const { platform } = server;
  const { roles, users, records, objects } = accountFixture(platform);
  await cluster.create(objects);
  for (const group of inGroups(roles)) {
    await cluster.create(group.map((role) => toRole(role, platform)));
    await wait(APART_MS);
  }
  const token = await signIn(server);
  for (const group of inGroups(users.filter(({ existing }) => !existing))) {
    for (const user of group) {
      await post(server, token, toUser(user, platform));
      if (user.owner) await cluster.patchUser(user.name, { ownerReferences: [user.owner] });
    }
    await wait(APART_MS);
  }
  await cluster.create(
    users.flatMap(({ name, role, existing }) => (role && !existing ? [toBinding(name, role, platform)] : [])),
  );
  for (const group of inGroups(records)) {
    await cluster.create(group.map((record) => toRecord(record, platform)));
    await wait(APART_MS);
  }
}

function inGroups<T extends { readonly group: number }>(list: readonly T[]): T[][] {
  return [...Map.groupBy(list, ({ group }) => group)].sort(([a], [b]) => a - b).map(([, members]) => members);
}

const RBAC = 'rbac.authorization.k8s.io';

const toRole = (role: AccountFixture['roles'][number], platform: string): AccountObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: {
    name: role.name,
    labels: { ...role.labels, ...(role.assignable && { [`iam.${platform}.io/assignable`]: 'true' }) },
    annotations: role.annotations,
  },
  rules: role.rules,
});

const toBinding = (user: string, role: string, platform: string): AccountObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: `${user}-${role}`, labels: { [`iam.${platform}.io/user-ref`]: user } },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
});

const toUser = (user: AccountUser, platform: string): object => ({
  apiVersion: `iam.${platform}.io/v1alpha2`,
  kind: 'User',
  metadata: { name: user.name, labels: user.labels, annotations: user.annotations },
  spec: {
    email: user.email,
    lang: user.lang,
    displayName: user.displayName,
    description: user.description,
    groups: user.groups,
    password: user.password,
  },
  ...(user.state === 'Disabled' ? { status: { state: 'Disabled' } } : {}),
});

const toRecord = (record: AccountFixture['records'][number], platform: string): AccountObject => ({
  apiVersion: `iam.${platform}.io/v1alpha2`,
  kind: 'LoginRecord',
  metadata: { name: record.name, labels: { [`iam.${platform}.io/user-ref`]: record.user, ...record.labels } },
  spec: record.spec,
});

async function signIn({ port, admin }: FixtureServer): Promise<string> {
  const { name, secret } = CLIENTS.client;
  const form = { grant_type: 'password', username: admin.name, password: admin.password };
  const body = new URLSearchParams({ ...form, client_id: name, client_secret: secret }).toString();
  const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const;
  const answer = await exchange(port, { method: 'POST', path: '/oauth/token', headers, body: Buffer.from(body) });
  if (answer.status !== 200) throw new Error(`the administrator cannot sign in: ${answer.status} ${answer.text}`);
  return (JSON.parse(answer.text) as { access_token: string }).access_token;
}

async function post({ port, platform }: FixtureServer, token: string, user: object): Promise<void> {
  const path = `/kapis/iam.${platform}.io/v1alpha2/users`;
  const headers = [
    ['Authorization', `Bearer ${token}`],
    ['Content-Type', 'application/json'],
  ] as const;
  const answer = await exchange(port, { method: 'POST', path, headers, body: Buffer.from(JSON.stringify(user)) });
  if (answer.status !== 200) throw new Error(`a user of the fixture: ${answer.status} ${answer.text}`);
}
