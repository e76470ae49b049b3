import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { binding } from '../../support/accounts/deployed-rights.ts';
import {
  newUser,
  PREFIX,
  type Reply,
  ROLE,
  startWriteStand,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { eventually } from '../service/stand.ts';

const RBAC = 'rbac.authorization.k8s.io';

const MANAGES = { apiGroups: [PREFIX], resources: ['users'], verbs: ['get', 'list', 'create', 'update', 'delete'] };
const WRITES_BINDINGS = { apiGroups: [RBAC], resources: ['clusterrolebindings'], verbs: ['create', 'delete'] };
const bindsRole = (name: string) => ({
  apiGroups: [RBAC],
  resources: ['clusterroles'],
  verbs: ['bind'],
  resourceNames: [name],
});
const USERS_MANAGER_RIGHTS = [
  { apiGroups: [PREFIX], resources: ['users/loginrecords', 'users/globalroles'], verbs: ['get'] },
  { apiGroups: [PREFIX], resources: ['globalroles'], verbs: ['get', 'list'] },
];

const PEOPLE = {
  binder: { rules: [MANAGES, WRITES_BINDINGS, bindsRole('users-manager')], isAssigner: true },
  holder: { rules: [MANAGES, WRITES_BINDINGS, ...USERS_MANAGER_RIGHTS], isAssigner: true },
  neither: { rules: [MANAGES, WRITES_BINDINGS], isAssigner: true },
  creator: {
    rules: [MANAGES, { ...WRITES_BINDINGS, verbs: ['create'] }, bindsRole('users-manager')],
    isAssigner: true,
  },
  unlisted: { rules: [MANAGES, WRITES_BINDINGS, bindsRole('users-manager')] },
} as const;

describe('whose rights decide about a role', () => {
  let stand: WriteStand;
  beforeAll(async () => {
    stand = await startWriteStand({
      people: PEOPLE,
      fill: ({ objects }) => {
        const labels = { [`${PREFIX}/user-ref`]: 'heir' };
        const to = { kind: 'User', name: 'heir' } as const;
        objects.create(
          'clusterrolebindings',
          binding({ role: 'platform-admin', to, name: 'heir-platform-admin', labels }),
        );
      },
    });
  });
  afterAll(() => stand?.stop());

  const withRole = (role: string) => ({ annotations: { [ROLE]: role } });
  const create = async (who: string, name: string, role = 'users-manager') =>
    stand.create(name, withRole(role), await stand.tokenOf(who));
  const putRole = async (who: string, name: string, role: string) => {
    const withRoleAndName = (body: Reply['body']) => ({
      ...body,
      metadata: { ...body.metadata, annotations: { ...body.metadata.annotations, [ROLE]: role } },
      spec: { ...body.spec, displayName: 'changed together' },
    });
    return stand.update(name, withRoleAndName, await stand.tokenOf(who));
  };
  const rolesOf = (name: string) => stand.leftOf(name).bindings;

  test.each([
    ['bind on the role, by name', 'binder'],
    ['all rights of the role', 'holder'],
  ])('AC-19 a role is given at creation by who has %s', async (_, who) => {
    const name = `new-of-${who}`;
    const { status, body } = await create(who, name);
    expect([status, body.metadata.annotations[ROLE], rolesOf(name)]).toEqual([
      200,
      'users-manager',
      [`${name}-users-manager`],
    ]);
  });

  test('AC-19 who has neither is refused with 403, and nothing is made', async () => {
    const { status, body } = await create('neither', 'refused');
    expect([status, body.reason, body.message]).toEqual([
      403,
      'Forbidden',
      'users.iam.gatehouse.io "refused" is forbidden: you may not give the role "users-manager": the cluster does not let you bind it',
    ]);
    expect(stand.leftOf('refused')).toEqual({ users: [], bindings: [], secrets: [] });
    expect(
      stand.cluster.evidence.requests.filter(
        ({ verb, target }) => verb === 'create' && target?.kind.plural === 'users' && target.name === 'refused',
      ),
    ).toEqual([]);
  });

  test('AC-19 bind by name counts for that role alone', async () => {
    expect((await create('binder', 'too-much', 'platform-admin')).status).toBe(403);
    expect(stand.leftOf('too-much').users).toEqual([]);
  });

  test('AC-18 a role that nobody labelled as assignable is not found, whoever asks', async () => {
    for (const role of ['no-such-role', 'rights-of-neither']) {
      const { status, body } = await create('binder', 'never', role);
      expect([status, body.message]).toEqual([404, `globalroles.iam.gatehouse.io "${role}" not found`]);
    }
  });

  test('AC-19 a caller in whose name we may not write is told so with 503, not refused for rights of ours', async () => {
    const { status, headers, body } = await create('unlisted', 'not-in-the-name');
    expect([status, headers['retry-after'], body.reason]).toEqual([503, undefined, 'ServiceUnavailable']);
    expect(body.message).toMatch(/the cluster does not let this server give roles in your name: a right is missing: /);
    expect(stand.leftOf('not-in-the-name').users).toEqual([]);
  });

  test.each([
    ['bind on the role, by name', 'binder'],
    ['all rights of the role', 'holder'],
  ])('AC-40 a role is changed by who has %s: the old binding goes', async (_, who) => {
    const name = `changed-by-${who}`;
    await stand.made(name, withRole('platform-regular'));
    const { status, body } = await putRole(who, name, 'users-manager');
    expect([status, body.metadata.annotations[ROLE], rolesOf(name)]).toEqual([
      200,
      'users-manager',
      [`${name}-users-manager`],
    ]);
  });

  test.each([
    ['neither', 403],
    ['creator', 403],
    ['unlisted', 503],
  ] as const)('AC-40 %s gets %i, and neither role nor fields change', async (who, expected) => {
    const name = `kept-from-${who}`;
    const before = await stand.made(name, withRole('platform-regular'));
    expect((await putRole(who, name, 'users-manager')).status).toBe(expected);
    expect((await stand.ask('GET', `${USERS}/${name}`)).body).toEqual(before.body);
    expect(rolesOf(name)).toEqual([`${name}-platform-regular`]);
  });

  test('AC-40 what the user may do changes with the role, at once on this replica', async () => {
    await stand.made('rising', { ...withRole('platform-regular'), spec: { password: 'Rising-up-1' } });
    const token = await stand.newToken('rising', 'Rising-up-1');
    expect((await stand.ask('GET', USERS, { token })).status).toBe(403);
    expect((await putRole('admin', 'rising', 'users-manager')).status).toBe(200);
    expect((await stand.ask('GET', USERS, { token })).status).toBe(200);
  });

  test('AC-40 a ClusterRoleBinding of the same name that gives something else is no success', async () => {
    const { objects } = stand.cluster;
    const to = { kind: 'User', name: 'joe' } as const;
    objects.create('clusterrolebindings', binding({ role: 'users-manager', to, name: 'in-the-way-users-manager' }));
    const { status, body } = await create('binder', 'in-the-way');
    expect([status, body.reason]).toEqual([409, 'Conflict']);
    expect(body.message).toContain('the ClusterRoleBinding "in-the-way-users-manager" is there');
    expect(stand.leftOf('in-the-way')).toEqual({ users: [], bindings: ['in-the-way-users-manager'], secrets: [] });
  });

  test('A-32 a new user inherits no binding that an earlier user of the name left behind', async () => {
    expect((await stand.create('heir')).status).toBe(200);
    expect(stand.leftOf('heir').bindings).toEqual([]);
  });

  test('AC-14 a second create of a name that is still being made is refused, and leaves the first its role', async () => {
    const status = { verb: 'patch', kind: 'users', subresource: 'status' };
    stand.cluster.faults.next(status, { stream: { bytesPerSecond: 1_000 } });
    const first = create('binder', 'contended');
    await eventually(
      () => rolesOf('contended'),
      (roles) => roles.length === 1,
    );
    await stand.made('later', withRole('platform-regular')); // a later binding is seen, so this one is
    expect((await stand.create('contended')).status).toBe(409);
    const { status: code, body } = await first;
    expect([code, body.metadata.annotations[ROLE], rolesOf('contended')]).toEqual([
      200,
      'users-manager',
      ['contended-users-manager'],
    ]);
  });

  test('AC-20 groups are given by who may impersonate each of them by name, and taken away by any manager', async () => {
    const refused = await stand.create('grouped', { spec: { groups: ['ops', 'secret'] } });
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([403, 'spec.groups']);
    expect(refused.body.message).toContain('"secret"');
    expect(stand.leftOf('grouped').users).toEqual([]);
    const { body } = await stand.made('grouped', { spec: { groups: ['ops', 'dev'] } });
    const token = await stand.tokenOf('neither');
    body.spec.groups = ['dev'];
    const fewer = await stand.ask('PUT', `${USERS}/grouped`, { body, token });
    expect([fewer.status, fewer.body.spec.groups]).toEqual([200, ['dev']]);
    fewer.body.spec.groups = ['dev', 'ops'];
    expect((await stand.ask('PUT', `${USERS}/grouped`, { body: fewer.body, token })).status).toBe(403);
  });

  test('AC-20 groups of the cluster itself are 422 for everybody, each one named', async () => {
    const body = newUser('clustered', { spec: { groups: ['ops', 'system:masters', 'kubeadm:cluster-admins'] } });
    const { status, body: said } = await stand.ask('POST', USERS, { body });
    expect([status, said.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ['spec.groups[1]', 'spec.groups[2]'],
    ]);
  });

  test('A-32 our own account asks for nothing that it has no right to', async () => {
    const { rules } = stand.cluster.objects.get('clusterroles', 'gatehouse-system:gatehouse') as unknown as {
      rules: { verbs: string[]; resources: string[] }[];
    };
    expect(rules.flatMap(({ verbs }) => verbs).filter((verb) => ['bind', 'escalate', '*'].includes(verb))).toEqual([]);
    const log = JSON.stringify(stand.gatehouse.log);
    expect(log).not.toContain('cannot be kept in order');
  });
});
