import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type LoginRecord, loginRecordSchema } from '../../src/accounts/schema/login-record-schema.ts';
import { type UserObject, userSchema } from '../../src/accounts/schema/user-schema.ts';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { installCustomResources } from './custom-resources.ts';
import { eventually } from './eventually.ts';
import { install, installAccounts } from './installation.ts';

const GROUP = 'iam.gatehouse.io';
const API = `/apis/${GROUP}/v1alpha2`;
const apiVersion = `${GROUP}/v1alpha2`;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of the server under test; each assertion is its own check
  readonly body: any;
}

let cluster: ControlPlane;
let pool: Dispatcher;
beforeAll(async () => {
  cluster = await startControlPlane();
  pool = await apiDispatcher(cluster.caFile);
  await installCustomResources(cluster);
  await call('POST', 'users', userOf('old.kube', { email: 'no address', lang: 'a\nb', groups: ['x', 'x'] }));
  await call('POST', 'users', userOf('kube-admin', { email: '' }));
  await call('POST', 'users', userOf(`long-${'x'.repeat(60)}`, {}));
  await install(cluster, 'memory');
  await installAccounts(cluster);
  await cluster.kubectl(['create', 'clusterrolebinding', 'alice', '--clusterrole=users-manager', '--user=alice']);
  await eventually(
    () => call('POST', 'users?dryRun=All', userOf('kube-admin-2', {})),
    ({ status }) => status === 422,
  );
  await eventually(
    () => call('POST', 'users?dryRun=All', userOf('nobody', { email: '' }), { as: 'alice' }),
    ({ status, body }) => status === 403 && body.message.includes('ValidatingAdmissionPolicy'),
  );
});
afterAll(async () => {
  await pool?.destroy();
  await cluster?.stop();
});

/** One request at the group; `as` is who asks, and else the cluster's administrator does. */
async function call(
  method: Dispatcher.HttpMethod,
  path: string,
  body?: object,
  { as = '', group = '' }: { readonly as?: string; readonly group?: string } = {},
): Promise<Answer> {
  const answer = await request(`${cluster.url}${API}/${path}`, {
    dispatcher: pool,
    method,
    headers: {
      authorization: `Bearer ${cluster.adminToken}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      ...(as && { 'impersonate-user': as }),
      ...(group && { 'impersonate-group': group }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

const userOf = (name: string, spec: object, more: object = {}): object => ({
  apiVersion,
  kind: 'User',
  metadata: { name },
  spec,
  ...more,
});
const recordOf = (name: string, spec: object = {}): object => ({
  apiVersion,
  kind: 'LoginRecord',
  metadata: { name, labels: { 'iam.gatehouse.io/user-ref': 'alice' } },
  spec: {
    ...{ type: 'Token', provider: '', success: false, reason: 'incorrect password' },
    ...{ sourceIP: '2001:db8::7', userAgent: 'curl/8.5.0', ...spec },
  },
});

const causesOf = ({ body }: Answer): readonly { readonly field: string; readonly message: string }[] =>
  body.details.causes;

/** The fields that a refusal names. The words of `not` have theirs in the message; one cause names none. */
const fieldsOf = (answer: Answer): string[] => {
  const named = causesOf(answer).map(
    ({ field, message }) => /^Invalid value: "": "([^"]+)" must not validate/.exec(message)?.[1] ?? field,
  );
  return [...new Set(named)].filter((field) => field !== '<nil>');
};
const messagesOf = (answer: Answer): string[] => causesOf(answer).map(({ message }) => message);

const tooMany = Array.from({ length: 65 }, (_, index) => `group-${index}`);

describe('a bad user', () => {
  test('gets a 422 that names every bad field at once, in words', async () => {
    const spec = {
      ...{ email: 'no address', lang: 'a\nb', displayName: 'c\u0085', description: '\u007f' },
      groups: ['system:masters', 'kubeadm:cluster-admins', 'twice', 'twice', '', 'b\u0000'],
    };
    const answer = await call('POST', 'users', userOf('kube-admin-x', spec));
    expect([answer.status, answer.body.reason]).toEqual([422, 'Invalid']);
    expect(fieldsOf(answer).toSorted()).toEqual([
      ...['spec.description', 'spec.displayName', 'spec.email', 'spec.groups[0]', 'spec.groups[1]'],
      ...['spec.groups[3]', 'spec.groups[4]', 'spec.groups[5]', 'spec.lang'],
    ]);
    const words = messagesOf(answer).join('\n');
    expect(words).toContain('must be empty or one e-mail address in ASCII');
    expect(words).toContain('must have no control characters');
    expect(words).toContain('must not begin with "system:" or "kubeadm:", which belong to Kubernetes');
  });

  test('has every bad field named also where wrong types and lengths keep the cluster from its CEL rules', async () => {
    const spec = {
      ...{ email: 7, lang: 'x'.repeat(257), displayName: 'c\u0085', description: '\u007f' },
      groups: ['system:masters', 'x'.repeat(129), 'b\u0000', 'twice', 'twice', ''],
    };
    const answer = await call('POST', 'users', userOf('kube-admin', spec));
    expect(fieldsOf(answer)).toEqual(
      expect.arrayContaining([
        ...['metadata.name', 'spec.email', 'spec.lang', 'spec.displayName', 'spec.description'],
        ...['spec.groups[0]', 'spec.groups[1]', 'spec.groups[2]', 'spec.groups[4]', 'spec.groups[5]'],
      ]),
    );
  });

  test.each([
    ['kube-admin', 'is reserved: Kubernetes has an administrator of that name'],
    ['kubernetes-super-admin', 'is reserved: Kubernetes has an administrator of that name'],
    ['x'.repeat(64), 'Too long: may not be more than 63 bytes'],
    ['Alice', 'a lowercase RFC 1123 subdomain must consist of'],
    ['system:admin', 'a lowercase RFC 1123 subdomain must consist of'],
  ])('AC-12 AC-13 is not named %s', async (name, message) => {
    const answer = await call('POST', 'users', userOf(name, { email: '' }));
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['metadata.name']]);
    expect(messagesOf(answer).join('\n')).toContain(message);
  });

  test('AC-15 has an e-mail, be it empty, and a spec', async () => {
    expect(fieldsOf(await call('POST', 'users', userOf('no-email', {})))).toContain('spec.email');
    const { status, body } = await call('POST', 'users', { apiVersion, kind: 'User', metadata: { name: 'no-spec' } });
    expect([status, body.details.causes[0].field]).toEqual([422, 'spec']);
  });
});

describe('the cluster and the schema', () => {
  const USERS: readonly object[] = [
    { email: '' },
    { email: 'a@b' },
    { email: 'ü@example.com' },
    { email: 'a@b@c' },
    { email: ' a@b' },
    { email: `${'a'.repeat(252)}@b` },
    { email: `${'a'.repeat(253)}@b` },
    { email: null },
    { email: '', lang: 'de-AT', displayName: 'Zoë 🦊', description: 'x'.repeat(256) },
    { email: '', displayName: '🦊'.repeat(256) },
    { email: '', displayName: '🦊'.repeat(257) },
    { email: '', displayName: 'a\tb' },
    { email: '', displayName: '\u009f' },
    { email: '', displayName: '\u00a0\u200e' },
    { email: '', lang: 5 },
    { email: '', groups: [] },
    { email: '', groups: ['a', 'b'] },
    { email: '', groups: ['a', 'a'] },
    { email: '', groups: [''] },
    { email: '', groups: ['system'] },
    { email: '', groups: ['system:'] },
    { email: '', groups: ['Système:x', 'kubeadm'] },
    { email: '', groups: ['kubeadm:x'] },
    { email: '', groups: ['x'.repeat(128)] },
    { email: '', groups: ['x'.repeat(129)] },
    { email: '', groups: tooMany.slice(1) },
    { email: '', groups: tooMany },
  ];
  test.each(USERS)('agree about the user %j', async (spec) => {
    const user = userOf('somebody', spec);
    const { status } = await call('POST', 'users?dryRun=All', user);
    expect(status).toBe(userSchema.safeParse(user).success ? 201 : 422);
  });

  const STATUSES: readonly object[] = [
    {},
    { state: '' },
    { state: 'AuthLimitExceeded', reason: '25 failed sign-ins in 10m', lastTransitionTime: '2026-03-02T08:15:30Z' },
    { state: 'Locked' },
    { lastLoginTime: '2026-03-02T08:15:30.123+02:00' },
    { lastLoginTime: 'yesterday' },
    { lastLoginTime: '2026-02-30T08:15:30Z' },
    { reason: '\u0000' },
    { reason: 'x'.repeat(1025) },
  ];
  test.each(STATUSES)('agree about the status %j', async (status) => {
    const user = userOf('old.kube', { email: '' });
    await call('PATCH', 'users/old.kube', { spec: { email: '', lang: null, groups: null } });
    const answer = await call('PATCH', 'users/old.kube/status?dryRun=All', { status });
    expect(answer.status).toBe(userSchema.safeParse({ ...user, status }).success ? 200 : 422);
  });

  const RECORDS: readonly object[] = [
    {},
    { type: 'Password', success: true, userAgent: 'Mozilla/5.0 <odd & "quoted">' },
    { type: undefined },
    { success: 'yes' },
    { sourceIP: 'x'.repeat(65) },
    { userAgent: 'x'.repeat(257) },
    { userAgent: 'a\u001b[31m' },
    { reason: 'incorrect password (37 attempts)' },
  ];
  test.each(RECORDS)('agree about the login record %j', async (spec) => {
    const record = recordOf('somebody-1', spec);
    const { status } = await call('POST', 'loginrecords?dryRun=All', record);
    expect(status).toBe(loginRecordSchema.safeParse(record).success ? 201 : 422);
  });

  test('write the same members', async () => {
    const spec: UserObject['spec'] = {
      email: 'a@example.com',
      lang: 'en',
      displayName: 'A',
      description: 'B',
      groups: ['c'],
    };
    expect((await call('POST', 'users?dryRun=All', userOf('members', spec))).body.spec).toEqual(spec);
    const record: LoginRecord['spec'] = {
      ...{ type: 'Token', provider: '', success: true, reason: 'authenticated successfully' },
      ...{ sourceIP: '192.0.2.10', userAgent: 'curl' },
    };
    const { body } = await call('POST', 'loginrecords?dryRun=All', recordOf('members-1', record));
    expect(body.spec).toEqual(record);
  });
});

describe('a user', () => {
  test('keeps no password and no other unknown member', async () => {
    const spec = { email: '', password: 'made-up-Passw0rd', initialPassword: 'made-up-Passw0rd' };
    const { status } = await call('POST', 'users', userOf('bob', spec));
    expect(status).toBe(201);
    expect(await cluster.kubectl(['get', 'users', 'bob', '-o', 'json'])).not.toContain('made-up');
  });

  test('has its status changed through the status only, and the rest not through that', async () => {
    const created = await call('POST', 'users', userOf('carol', { email: '' }, { status: { state: 'Disabled' } }));
    expect(created.body.status).toBeUndefined();
    const both = { spec: { lang: 'fr' }, status: { state: 'Disabled' } };
    expect((await call('PATCH', 'users/carol/status', both)).body).toMatchObject({
      spec: { email: '' },
      status: both.status,
    });
    const { body } = await call('PATCH', 'users/carol', { spec: { lang: 'de' }, status: { state: 'Active' } });
    expect([body.spec, body.status]).toEqual([{ email: '', lang: 'de' }, { state: 'Disabled' }]);
  });

  test('is shown by kubectl with e-mail, state and last login', async () => {
    await call('POST', 'users', userOf('dora', { email: 'dora@example.com' }));
    await call('PATCH', 'users/dora/status', { status: { state: 'Active', lastLoginTime: new Date().toISOString() } });
    const lines = (await cluster.kubectl(['get', 'usr', 'dora'])).split('\n');
    expect(lines[0]).toMatch(/^NAME +EMAIL +STATE +LAST LOGIN +AGE$/);
    expect(lines[1]).toMatch(/^dora +dora@example\.com +Active +\d+s +\d+s$/);
    expect(await cluster.kubectl(['get', 'iam', '-o', 'name'])).toContain(`user.${GROUP}/dora`);
  });

  test('that is as large as it may be costs no more than the cluster allows for its rules', async () => {
    const [wide, group] = ['🦊'.repeat(256), (index: number) => `${index}-${'🦊'.repeat(125)}`];
    const spec = {
      email: '',
      lang: wide,
      displayName: wide,
      description: wide,
      groups: [...Array(64).keys()].map(group),
    };
    expect((await call('POST', 'users', userOf('large', spec))).status).toBe(201);
  });
});

describe('a user from before the rules', () => {
  test('can be changed in other fields, and not be made worse', async () => {
    const name = `long-${'x'.repeat(60)}`;
    const touched = { metadata: { annotations: { touched: 'yes' } } };
    expect((await call('PATCH', 'users/kube-admin', touched)).status).toBe(200);
    expect((await call('PATCH', `users/${name}`, touched)).status).toBe(200);
    const worse = await call('PATCH', 'users/kube-admin', { spec: { lang: 'a\nb' } });
    expect([worse.status, fieldsOf(worse)]).toEqual([422, ['spec.lang']]);
  });

  test('can be deleted, finalizer and all', async () => {
    const finalizers = ['finalizers.gatehouse.io/users'];
    expect((await call('PATCH', 'users/kube-admin', { metadata: { finalizers } })).status).toBe(200);
    await call('DELETE', 'users/kube-admin');
    expect((await call('PATCH', 'users/kube-admin', { metadata: { finalizers: null } })).status).toBe(200);
    expect((await call('GET', 'users/kube-admin')).status).toBe(404);
  });
});

describe('a login record', () => {
  test('is never changed', async () => {
    await call('POST', 'loginrecords', recordOf('alice-1'));
    const answer = await call('PATCH', 'loginrecords/alice-1', { spec: { success: true } });
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['spec']]);
    expect(messagesOf(answer)).toEqual([expect.stringContaining('a login record is never changed')]);
    const labels = { metadata: { labels: { seen: 'yes' } } };
    expect((await call('PATCH', 'loginrecords/alice-1', labels)).status).toBe(200);
  });

  test('is shown by kubectl with its user, outcome and address', async () => {
    await call('POST', 'loginrecords', recordOf('alice-2'));
    const lines = (await cluster.kubectl(['get', 'logins', 'alice-2'])).split('\n');
    expect(lines[0]).toMatch(/^NAME +USER +SUCCESS +REASON +SOURCE +AGE$/);
    expect(lines[1]).toMatch(/^alice-2 +alice +false +incorrect password +2001:db8::7 +\d+s$/);
  });
});

describe('the policy', () => {
  const REFUSAL =
    "users and login records are written by Gatehouse only; use its API, /kapis/iam.gatehouse.io/v1alpha2/users, or be named by the chart's value accounts.objectWriters";
  const OURS = 'system:serviceaccount:gatehouse-system:gatehouse';

  test('refuses who may write users by his role, and says what to use', async () => {
    const { body: guarded } = await call('POST', 'users', userOf('guarded', { email: '' }));
    const tries = [
      await call('POST', 'users', userOf('mine', { email: '' }), { as: 'alice' }),
      await call('PUT', 'users/guarded', { ...guarded, spec: { email: '', groups: ['crew'] } }, { as: 'alice' }),
      await call('DELETE', 'users/guarded', undefined, { as: 'alice' }),
    ];
    expect(tries.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(tries.filter(({ body }) => !body.message.includes(REFUSAL))).toEqual([]);
    expect((await call('GET', 'users/guarded', undefined, { as: 'alice' })).body.spec).toEqual({ email: '' });
  });

  test('refuses who may write status and login records', async () => {
    await cluster.kubectl([
      ...['create', 'clusterrole', 'too-much', '--verb=*', `--resource=users.${GROUP}/status,loginrecords.${GROUP}`],
    ]);
    await cluster.kubectl(['create', 'clusterrolebinding', 'too-much', '--clusterrole=too-much', '--user=mallory']);
    const write = () => call('POST', 'loginrecords?dryRun=All', recordOf('alice-3'), { as: 'mallory' });
    expect((await eventually(write, ({ body }) => !/cannot create/.test(body.message))).body.message).toContain(
      REFUSAL,
    );
    await call('POST', 'users', userOf('locked', { email: '' }));
    const unlock = await call('PATCH', 'users/locked/status', { status: { state: 'Active' } }, { as: 'mallory' });
    expect([unlock.status, unlock.body.message]).toEqual([403, expect.stringContaining(REFUSAL)]);
  });

  test('lets our service account write', async () => {
    const [by, user] = [{ as: OURS }, userOf('ours', { email: '' })];
    expect((await call('POST', 'users', user, by)).status).toBe(201);
    expect((await call('PATCH', 'users/ours', { spec: { lang: 'en' } }, by)).status).toBe(200);
    expect((await call('PATCH', 'users/ours/status', { status: { state: 'Active' } }, by)).status).toBe(200);
    expect((await call('POST', 'loginrecords', recordOf('ours-1'), by)).status).toBe(201);
    expect((await call('DELETE', 'loginrecords/ours-1', undefined, by)).status).toBe(200);
    expect((await call('DELETE', 'users/ours', undefined, by)).status).toBe(200);
  });

  test('lets the cluster’s administrators write', async () => {
    const by = { as: 'root', group: 'kubeadm:cluster-admins' };
    await cluster.kubectl([
      'create',
      'clusterrolebinding',
      'kubeadm',
      '--clusterrole=cluster-admin',
      `--group=${by.group}`,
    ]);
    const write = () => call('POST', 'users?dryRun=All', userOf('theirs', { email: '' }), by);
    expect((await eventually(write, ({ status }) => status !== 403)).status).toBe(201);
  });

  test('lets the garbage collector end a deletion, and make nothing', async () => {
    const by = { as: 'system:serviceaccount:kube-system:generic-garbage-collector' };
    await call('POST', 'users', userOf('collected', { email: '' }));
    await call('DELETE', 'users/collected', { propagationPolicy: 'Foreground' });
    const { body } = await call('GET', 'users/collected');
    expect(body.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await call('PATCH', 'users/collected', { metadata: { finalizers: null } }, by)).status).toBe(200);
    expect((await call('GET', 'users/collected')).status).toBe(404);
    await cluster.kubectl([
      ...['create', 'clusterrolebinding', 'collector', '--clusterrole=cluster-admin'],
      '--serviceaccount=kube-system:generic-garbage-collector',
    ]);
    const make = () => call('POST', 'users?dryRun=All', userOf('made', { email: '' }), by);
    expect((await eventually(make, ({ body }) => !/cannot create/.test(body.message))).body.message).toContain(REFUSAL);
  });
});

describe('the description of the custom resources', () => {
  interface Described {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>;
  }
  interface Parameter {
    readonly name?: string;
    readonly $ref?: string;
  }
  const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
  const described = parse(readFileSync(join(import.meta.dirname, '..', '..', 'api', 'crd.openapi.yaml'), 'utf8'));

  const namesOf = (parameters: readonly Parameter[] = []): string[] =>
    parameters.map(({ name, $ref }) => name ?? $ref?.split('/').at(-1) ?? '').toSorted();

  /** Each operation with the names of its parameters. */
  const operationsOf = ({ paths }: Described, isMeant = (_: string): boolean => true): Map<string, string[]> =>
    new Map(
      Object.entries(paths)
        .filter(([path]) => isMeant(path))
        .flatMap(([path, item]) =>
          METHODS.filter((method) => method in item).map((method): [string, string[]] => [
            `${method} ${path}`,
            namesOf([...((item['parameters'] ?? []) as readonly Parameter[]), ...(item[method]?.parameters ?? [])]),
          ]),
        ),
    );
  const raw = async (path: string) => JSON.parse(await cluster.kubectl(['get', '--raw', path]));

  test('has the paths, methods and parameters that the cluster says it has', async () => {
    const published = await eventually(
      () => raw(`/openapi/v3/apis/${apiVersion}`) as Promise<Described>,
      ({ paths }) => `${API}/users/{name}/status` in paths && !(`${API}/loginrecords/{name}/status` in paths),
    );
    const resources = operationsOf(described, (path) => path.startsWith(`${API}/`));
    expect(resources).toEqual(operationsOf(published, (path) => path.startsWith(`${API}/`)));
  });

  test('has the discovery documents that the cluster answers', async () => {
    const exampleAt = (path: string) => described.paths[path].get.responses['200'].content['application/json'].example;
    expect(exampleAt(`/apis/${GROUP}`)).toEqual(await raw(`/apis/${GROUP}`));
    const list = await raw(API);
    const byName = (a: { name: string }, b: { name: string }): number => a.name.localeCompare(b.name);
    for (const resource of list.resources) delete resource.storageVersionHash;
    const example = exampleAt(API);
    expect({ ...example, resources: example.resources.toSorted(byName) }).toEqual({
      ...list,
      resources: list.resources.toSorted(byName),
    });
  });
});
