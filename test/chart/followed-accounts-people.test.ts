import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { type Answer, FollowedStand, type NewUser, ROLE } from './followed-stand.ts';

/**
 * What people try who may manage users, give roles or call the cluster, against two replicas on a real API server. The selector has
 * a label that opens the gateway, and two that close it.
 */
const OPEN = { 'example.com/kubectl': 'true' };
const LEFT = { 'example.com/left': 'yes' };
const GUEST = { 'example.com/level': 'guest' };
const VALUES = {
  accounts: { enabled: true },
  config: { gateway: { impersonation: 'honour' } },
  gateway: {
    enabled: true,
    accounts: {
      enabled: true,
      selector: {
        matchLabels: OPEN,
        matchExpressions: [
          { key: 'example.com/left', operator: 'DoesNotExist' },
          { key: 'example.com/level', operator: 'NotIn', values: ['guest'] },
        ],
      },
      groups: ['team-*'],
    },
  },
};
/** A user of the users file, whom the cluster's RBAC makes an administrator of everything. */
const USERS_FILE =
  'users:\n  - name: ops\n    passwordHash: $2y$10$Qc5EbTTaFkNMSMxbmmaFLeKVTyQ1U9A9vMVb4yBNxTbLwqBrGmdZq\n';

let stand: FollowedStand;
let manager: string;
let alice: string;

beforeAll(async () => {
  stand = await FollowedStand.start(VALUES, USERS_FILE);
  const { kubectl } = stand.cluster;
  await kubectl(['create', 'clusterrolebinding', 'ops', '--clusterrole=cluster-admin', '--user=ops']);
  await kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
  await kubectl(['-n', 'kube-system', 'create', 'rolebinding', 'joe', '--clusterrole=admin', '--user=joe']);
  manager = await stand.invite('mona', { role: 'users-manager' });
  alice = await stand.invite('alice', { labels: OPEN, groups: ['team-a'] });
  await stand.untilNamed('users', 'alice');
  await stand.untilNamed('groups', 'team-a');
});
afterAll(() => stand?.stop());

const told = ({ status, body }: Answer): string => `${status} ${body.message ?? ''}`;
const opensGateway = /^403 .*needs the right to update users\/gateway/;

/** Users whom the administrator makes and who are not chosen. */
const inviteClosed = (name: string, labels?: NewUser['labels']): Promise<string> =>
  stand.invite(name, labels ? { labels } : {});

describe('a users-manager', () => {
  test.each<[string, NewUser]>([
    ['with the label that opens the gateway', { labels: OPEN }],
    ['with a label that closes it under another value', { labels: { ...OPEN, 'example.com/level': 'member' } }],
    ['disabled with the label, to be enabled later', { labels: OPEN, state: 'Disabled' }],
  ])('cannot create a user %s', async (_, user) => {
    expect(told(await stand.create(manager, 'created', user))).toMatch(opensGateway);
  });

  test('can create a user, who does not reach the cluster', async () => {
    expect(told(await stand.create(manager, 'plain'))).toBe('200 ');
    const answer = await stand.api(await stand.signInNew('plain'));
    expect(answer.status).toBe(403);
    expect(await stand.namesOf('users')).not.toContain('plain');
  });

  test('G-27 cannot open the gateway to a user, or to themselves, by a label', async () => {
    await inviteClosed('bob');
    for (const name of ['bob', 'mona'])
      expect(told(await stand.change(manager, name, { labels: OPEN }))).toMatch(opensGateway);
  });

  test('G-27 cannot open the gateway by taking a label away that closes it, or by another value of it', async () => {
    await inviteClosed('gone', { ...OPEN, ...LEFT });
    await inviteClosed('guest', { ...OPEN, ...GUEST });
    expect(told(await stand.change(manager, 'gone', { labels: OPEN }))).toMatch(opensGateway);
    const promote = { ...OPEN, 'example.com/level': 'member' };
    expect(told(await stand.change(manager, 'guest', { labels: promote }))).toMatch(opensGateway);
    const both = { ...OPEN, ...LEFT, ...GUEST };
    expect(told(await stand.change(manager, 'guest', { labels: both }))).toBe('200 ');
  });

  test('can close the gateway to a user by a label, and cannot open it again', async () => {
    const token = await stand.invite('carol', { labels: OPEN });
    await eventually(
      () => stand.api(token),
      ({ status }) => status === 200,
    );
    expect(told(await stand.change(manager, 'carol', { labels: { ...OPEN, ...LEFT } }))).toBe('200 ');
    await eventually(
      () => stand.api(token),
      ({ status }) => status === 403,
    );
    await stand.untilGone('users', 'carol');
    expect(told(await stand.change(manager, 'carol', { labels: OPEN }))).toMatch(opensGateway);
  });

  test.each(['team-a', 'team-new', 'admins'])('cannot add the group %s to a user', async (group) => {
    expect(told(await stand.change(manager, 'mona', { groups: [group] }))).toMatch(/^403 .*you may not give the group/);
    expect(told(await stand.create(manager, 'grouped', { groups: [group] }))).toMatch(
      /^403 .*you may not give the group/,
    );
  });

  test.each(['system:masters', 'kubeadm:cluster-admins', 'system:authenticated'])(
    'cannot add the group %s',
    async (group) => {
      expect((await stand.create(manager, 'grouped', { groups: [group] })).status).toBe(422);
      expect((await stand.create(stand.admin, 'grouped', { groups: [group] })).status).toBe(422);
    },
  );

  test.each([
    'system:admin',
    'kubeadm:x',
    'kubernetes-admin',
    'kube-admin',
    '*',
    'Alice',
    'аlice',
    'ada@example.com',
    ' ops',
  ])('cannot create a user with the name %j', async (name) => {
    expect((await stand.create(manager, name, {})).status).toBe(422);
    expect((await stand.create(stand.admin, name, { labels: OPEN })).status).toBe(422);
  });

  test.each([
    ['a ClusterRoleBinding', 'jane'],
    ['a RoleBinding of a namespace', 'joe'],
  ])('cannot create a user whose name %s gives rights to, and neither can a platform-admin', async (_, name) => {
    for (const token of [manager, stand.admin])
      expect(told(await stand.create(token, name))).toMatch(
        /^403 .*the cluster has role bindings for a user of this name/,
      );
  });

  test.each([
    ['another user', { 'iam.gatehouse.io/user-ref': 'alice' }],
    ['that name', { 'iam.gatehouse.io/user-ref': 'hidden' }],
  ])(
    'cannot create a user whose name a binding gives rights to that has the label of Gatehouse for %s',
    async (_, labels) => {
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'hidden', labels },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'hidden' }],
      };
      await stand.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(binding));
      expect((await stand.create(manager, 'hidden')).status).toBe(403);
    },
  );

  test('cannot take the rights of a user by deleting and making the user again', async () => {
    const first = await stand.invite('dora', { labels: OPEN });
    await eventually(
      () => stand.api(first),
      ({ status }) => status === 200,
    );
    await stand.cluster.kubectl([
      '-n',
      'default',
      'create',
      'rolebinding',
      'dora',
      '--clusterrole=admin',
      '--user=dora',
    ]);
    expect((await stand.remove(manager, 'dora')).status).toBe(200);
    expect((await stand.create(manager, 'dora')).status).toBe(403);
    await stand.cluster.kubectl(['-n', 'default', 'delete', 'rolebinding', 'dora']);
    await eventually(
      () => stand.create(manager, 'dora'),
      ({ status }) => status === 200,
    );
    expect((await stand.api(first)).status).toBe(401);
    expect((await stand.api(await stand.signInNew('dora'))).status).toBe(403);
    await stand.untilGone('users', 'dora');
  });

  // Bindings are written as the caller, and our account may impersonate this one only once the gateway is open to them.
  test('cannot give roles, and neither can one to whom the gateway is open', async () => {
    expect((await stand.create(manager, 'ruler', { role: 'platform-admin' })).status).toBe(503);
    const open = await stand.invite('otto', { role: 'users-manager', labels: OPEN });
    await eventually(
      () => stand.api(open),
      ({ status }) => status === 200,
    );
    expect((await stand.create(open, 'ruler', { role: 'platform-admin' })).status).toBe(403);
  });

  test('cannot write User objects past Gatehouse', async () => {
    const patch = JSON.stringify({ metadata: { labels: OPEN } });
    const past = ['patch', 'users.iam.gatehouse.io', 'mona', '--type=merge', '-p', patch, '--as=mona'];
    await stand.cluster.kubectl([
      'create',
      'clusterrole',
      'patcher',
      '--verb=get,patch',
      '--resource=users.iam.gatehouse.io',
    ]);
    await stand.cluster.kubectl(['create', 'clusterrolebinding', 'patcher', '--clusterrole=patcher', '--user=mona']);
    await eventually(
      () => stand.cluster.kubectl(past).then(() => 'written', String),
      (said) => said.includes('written by Gatehouse only'),
    );
  });
});

describe('a user of the users file', () => {
  test('cannot be created, and is not chosen by a User object of the name', async () => {
    expect((await stand.create(manager, 'ops')).status).toBe(409);
    const object = { apiVersion: 'iam.gatehouse.io/v1alpha2', kind: 'User', metadata: { name: 'ops', labels: OPEN } };
    await stand.cluster.kubectl(['create', '-f', '-'], JSON.stringify({ ...object, spec: { email: '' } }));
    // A user who is made later is in the role; by then every replica has seen the object.
    const later = await stand.invite('later', { labels: OPEN });
    await eventually(
      () => stand.api(later),
      ({ status }) => status === 200,
    );
    expect(await stand.namesOf('users')).not.toContain('ops');
    expect((await stand.remove(stand.admin, 'later')).status).toBe(200);
    await stand.untilGone('users', 'later');
  });
});

describe('a user who may give roles and is not chosen', () => {
  test('does not reach the cluster, not even as a chosen user, and can give roles', async () => {
    expect((await stand.api(stand.admin)).status).toBe(403);
    expect((await stand.api(stand.admin, { headers: { 'impersonate-user': 'alice' } })).status).toBe(403);
    await stand.invite('regular', { role: 'platform-regular' });
    const text = await stand.cluster.kubectl(['get', 'clusterrolebinding', 'regular-platform-regular', '-o', 'name']);
    expect(text.trim()).toBe('clusterrolebinding.rbac.authorization.k8s.io/regular-platform-regular');
  });
});

describe('a chosen user with Impersonate headers', () => {
  test.each<[string, Record<string, string>]>([
    ['the administrator, who is not chosen', { 'impersonate-user': 'admin' }],
    ['a user of the users file', { 'impersonate-user': 'ops' }],
    ['a user whom nobody has made', { 'impersonate-user': 'jane' }],
    ['a cluster administrator', { 'impersonate-user': 'kubernetes-admin' }],
    ['a service account', { 'impersonate-user': 'system:serviceaccount:gatehouse-system:gatehouse' }],
    ['themselves in system:masters', { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' }],
    [
      'themselves in a group that the cluster does not let Gatehouse impersonate',
      { 'impersonate-user': 'alice', 'impersonate-group': 'admins' },
    ],
    ['themselves with a uid', { 'impersonate-user': 'alice', 'impersonate-uid': '1' }],
  ])('cannot act as %s, although the cluster lets the user impersonate everybody', async (_, headers) => {
    await allowAll();
    await eventually(
      () => stand.api(alice, { headers: { 'impersonate-user': 'alice' } }),
      ({ status }) => status === 200,
    );
    expect((await stand.api(alice, { headers })).status).toBe(403);
  });

  async function allowAll(): Promise<void> {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'everybody' },
      rules: [{ apiGroups: ['', 'authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] }],
    };
    await stand.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(role));
    const binding = [
      'create',
      'clusterrolebinding',
      'everybody',
      '--clusterrole=everybody',
      '--user=alice',
      '--dry-run=client',
      '-o',
      'json',
    ];
    await stand.cluster.kubectl(['apply', '-f', '-'], await stand.cluster.kubectl(binding));
  }
});

describe('races', () => {
  test('of two who create a user of one name at two replicas, one does, and the role names the user once', async () => {
    const both = await Promise.all(
      [0, 1].map((replica) => stand.create(stand.admin, 'twin', { labels: OPEN }, { replica })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await eventually(
      () => stand.namesOf('users'),
      (names) => names.filter((name) => name === 'twin').length === 1,
    );
    expect((await stand.remove(stand.admin, 'twin', { replica: 1 })).status).toBe(200);
    await stand.untilGone('users', 'twin');
  });

  test('a user who is disabled or removed while the roles are written does not stay in them', async () => {
    for (const round of [0, 1, 2]) {
      const names = [`quick-${round}`, `brief-${round}`];
      await Promise.all(names.map((name, replica) => stand.create(stand.admin, name, { labels: OPEN }, { replica })));
      const disabled = eventually(
        () => stand.change(stand.admin, names[0]!, { state: 'Disabled' }),
        ({ status }) => status === 200,
      );
      const removed = eventually(
        () => stand.remove(stand.admin, names[1]!, { replica: 1 }),
        ({ status }) => status === 200,
      );
      await Promise.all([disabled, removed]);
    }
    // A user who is made after them is in the role; so the roles were written after all of this.
    const last = await stand.invite('last', { labels: OPEN });
    await eventually(
      () => stand.api(last),
      ({ status }) => status === 200,
    );
    await eventually(
      () => stand.namesOf('users'),
      (names) => !names.some((name) => /^(quick|brief)-/.test(name)),
    );
    expect((await stand.remove(stand.admin, 'last')).status).toBe(200);
    await stand.untilGone('users', 'last');
  });

  test('names and rules that somebody else writes into the role go', async () => {
    const rule = (resource: string, name: string, verb = 'impersonate') => ({
      apiGroups: [''],
      resources: [resource],
      resourceNames: [name],
      verbs: [verb],
    });
    const rules = [
      rule('users', 'alice'),
      rule('users', 'jane'),
      rule('groups', 'admins'),
      rule('secrets', 'x', 'get'),
    ];
    const patch = JSON.stringify({ rules });
    await stand.cluster.kubectl(['patch', 'clusterrole', ROLE, '--type=merge', '-p', patch]);
    await eventually(
      () => stand.rulesOf(),
      (found) => found.length === 2 && !JSON.stringify(found).includes('jane'),
    );
    expect(await stand.namesOf('users')).toContain('alice');
    expect(await stand.namesOf('groups')).toEqual(['team-a']);
  });
});
