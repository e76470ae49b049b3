import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { tellMeasured } from '../support/measured.ts';
import { NAMESPACE, render } from './helm.ts';
import { installChart } from './installed-program.ts';
import { type Answered, APPLY, JSON_PATCH, MERGE, STRATEGIC, stealToken, type Thief } from './stolen-token.ts';

/**
 * What somebody can do who has stolen the token of Gatehouse's service account, on a real API server with the chart. No program runs, so
 * nothing is put right again: what is refused here is refused by the cluster.
 */
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROLES = `${RBAC}/clusterroles`;
const OWN = `${NAMESPACE}:gatehouse:gateway:accounts-0`;
const POLICY = `${NAMESPACE}.gatehouse.impersonation`;
const POLICIES = '/apis/admissionregistration.k8s.io/v1';
const VALUES = {
  accounts: { enabled: true },
  config: { accounts: { reservedNames: ['kubernetes-admin', 'root.of.the.cluster'] } },
  gateway: { enabled: true, accounts: { enabled: true, groups: ['staff', 'team-*'], maxUsers: 1500 } },
};

let cluster: ControlPlane;
let thief: Thief;

beforeAll(async () => {
  cluster = await startControlPlane();
  await installChart(cluster, VALUES);
  thief = await stealToken(cluster);
  // A policy takes effect a moment after it was made.
  await eventually(() => writes([rule('groups', ['system:masters'])], '?dryRun=All'), isLimited);
});
afterAll(async () => {
  await thief?.close();
  await cluster?.stop();
});

type Answer = Answered;

const rule = (resource: string, resourceNames: readonly string[], more: object = {}): object => ({
  apiGroups: [''],
  resources: [resource],
  resourceNames,
  verbs: ['impersonate'],
  ...more,
});

const writes = (rules: unknown, query = ''): Promise<Answer> =>
  thief.send('PATCH', `${ROLES}/${OWN}${query}`, { rules }, { type: MERGE });

const changes = (body: object): Promise<Answer> => thief.send('PATCH', `${ROLES}/${OWN}`, body, { type: MERGE });

const isLimited = ({ status, message }: Answer): boolean => status === 422 && message.includes(POLICY);

/** That our policy refused it, and nothing else did. */
const expectLimited = (answer: Answer): void =>
  expect(answer).toEqual({ status: 422, message: expect.stringContaining(`ValidatingAdmissionPolicy '${POLICY}'`) });

const expectForbidden = (answer: Answer): void =>
  expect(answer).toEqual({ status: 403, message: expect.stringContaining('forbidden') });

const stored = async (): Promise<{ rules?: unknown; metadata: object }> =>
  JSON.parse(await cluster.kubectl(['get', 'clusterrole', OWN, '-o', 'json']));

/** Calls the API server as somebody else, with the thief's token. */
const actsAs = (as: Readonly<Record<string, string | string[]>>): Promise<Answer> =>
  thief.send('GET', '/version', undefined, { as });

describe('a thief of the service account’s token, in the roles of gateway.accounts', () => {
  test('G-26 may write names that a user can have, and groups that the operator has chosen', async () => {
    const answer = await writes([rule('users', ['alice', 'b.c-d']), rule('groups', ['staff', 'team-', 'team-x'])]);
    expect(answer).toEqual({ status: 200, message: '' });
    expect(await writes([])).toEqual({ status: 200, message: '' });
  });

  test.each<[string, object]>([
    ['without names, which are all names', { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }],
    ['with an empty list of names, which is all names', rule('users', [])],
    ['with the name *', rule('users', ['*'])],
    ['with an empty name', rule('users', [''])],
    ['with every verb', rule('users', ['alice'], { verbs: ['*'] })],
    ['with another verb', rule('users', ['alice'], { verbs: ['get'] })],
    ['with a second verb', rule('users', ['alice'], { verbs: ['impersonate', 'delete'] })],
    ['with the verb twice', rule('users', ['alice'], { verbs: ['impersonate', 'impersonate'] })],
    ['with the verb of constrained impersonation', rule('users', ['alice'], { verbs: ['impersonate:user-info'] })],
    ['with every resource', rule('*', ['alice'])],
    ['with users and groups together', rule('users', ['alice'], { resources: ['users', 'groups'] })],
    ['about service accounts', rule('serviceaccounts', ['default'])],
    ['about uids', rule('uids', ['alice'])],
    ['about extra keys', rule('userextras/scopes', ['alice'])],
    ['about a subresource of users', rule('users/status', ['alice'])],
    ['about Secrets', rule('secrets', ['alice'])],
    ['in every API group', rule('users', ['alice'], { apiGroups: ['*'] })],
    ['in a second API group', rule('users', ['alice'], { apiGroups: ['', 'apps'] })],
    ['in the API group of RBAC', rule('users', ['alice'], { apiGroups: ['rbac.authorization.k8s.io'] })],
    ['in the API group of authentication', rule('users', ['alice'], { apiGroups: ['authentication.k8s.io'] })],
    ['about a path', { nonResourceURLs: ['/version'], verbs: ['impersonate'] }],
    ['about every path', { nonResourceURLs: ['*'], verbs: ['*'] }],
    [
      'that binds roles',
      rule('clusterroles', ['admin'], { apiGroups: ['rbac.authorization.k8s.io'], verbs: ['bind'] }),
    ],
    ['with everything', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  ])('cannot write a rule %s', async (_, bad) => {
    expectLimited(await writes([bad]));
    expectLimited(await writes([rule('users', ['alice']), bad]));
  });

  test.each([
    'system:admin',
    'system:kube-controller-manager',
    'system:serviceaccount:kube-system:generic-garbage-collector',
    'system:node:one',
    'kubeadm:cluster-admins',
    'kubernetes-admin',
    'root.of.the.cluster',
    'ada@example.com',
    'https://issuer.example#ada',
    'CN=ada',
    'Ada',
    'ada lovelace',
    ' ada',
    'ada\n',
    'аda',
    'ada*',
    'ada/status',
  ])('cannot write the user %j, whom no User object can be', async (name) => {
    expectLimited(await writes([rule('users', ['alice', name])]));
  });

  test.each([
    'system:masters',
    'system:authenticated',
    'system:nodes',
    'system:serviceaccounts',
    'kubeadm:cluster-admins',
    'kubernetes-admin',
    'admins',
    'Staff',
    'staff2',
    'team',
    'Team-a',
    ' team-a',
    'the-team-a',
    '*',
  ])('cannot write the group %j, which the operator has not chosen', async (name) => {
    expectLimited(await writes([rule('groups', ['staff', name])]));
  });

  test.each<[string, () => Promise<Answer>]>([
    ['a merge patch', () => writes([rule('groups', ['system:masters'])])],
    ['a dry run', () => writes([rule('groups', ['system:masters'])], '?dryRun=All')],
    [
      'a strategic merge patch',
      () =>
        thief.send('PATCH', `${ROLES}/${OWN}`, { rules: [rule('groups', ['system:masters'])] }, { type: STRATEGIC }),
    ],
    [
      'a JSON Patch',
      () => {
        const patch = [{ op: 'add', path: '/rules', value: [rule('groups', ['system:masters'])] }];
        return thief.send('PATCH', `${ROLES}/${OWN}`, patch, { type: JSON_PATCH });
      },
    ],
    [
      'a server-side apply',
      () => {
        const rules = [rule('groups', ['system:masters'])];
        const role = {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: OWN },
          rules,
        };
        return thief.send('PATCH', `${ROLES}/${OWN}?fieldManager=thief&force=true`, role, { type: APPLY });
      },
    ],
  ])('is limited whichever way the rule comes: %s', async (_, attempt) => {
    expectLimited(await attempt());
  });

  test.each<[string, object]>([
    ['a label that makes it a part of admin', { labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } }],
    ['another value of a label', { labels: { 'app.kubernetes.io/managed-by': 'thief' } }],
    ['no labels', { labels: null }],
    ['an annotation', { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' } }],
    ['a finalizer, which would keep it at an uninstall', { finalizers: ['example.com/kept'] }],
    [
      'an owner that does not exist, so that it is collected',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'gone', uid: 'gone' }] },
    ],
  ])('cannot give the role %s', async (_, metadata) => {
    expectLimited(await changes({ metadata }));
  });

  test('cannot make the role an aggregate of others', async () => {
    const clusterRoleSelectors = [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } }];
    expectLimited(await changes({ aggregationRule: { clusterRoleSelectors } }));
  });

  test('cannot write more names than Gatehouse does, by a longer rule or by more rules', async () => {
    const names = Array.from({ length: 1_001 }, (_, at) => `user-${at}`);
    expectLimited(await writes([rule('users', names)]));
    const three = [rule('users', ['a']), rule('users', ['b']), rule('users', ['c'])];
    expectLimited(await writes(three));
    expectLimited(await writes([rule('users', ['a']), rule('users', ['b'])]));
  });

  test('does not keep Gatehouse from writing the largest role: 1,000 users and 1,000 groups with the longest names', async () => {
    const long = (prefix: string) => (_: unknown, at: number) => `${prefix}${at}-`.padEnd(252, 'x').concat('z');
    const users = Array.from({ length: 1_000 }, long('u'));
    const groups = Array.from({ length: 1_000 }, long('team-'));
    const before = performance.now();
    expect(await writes([rule('users', users), rule('groups', groups)])).toEqual({ status: 200, message: '' });
    tellMeasured('gateway.accounts', performance.now() - before, 'for a role of 2,000 names of 253 bytes');
    expect(await writes([])).toEqual({ status: 200, message: '' });
  });
});

describe('a thief of the service account’s token, elsewhere', () => {
  const binding = (name: string, role: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: 'gatehouse', namespace: NAMESPACE }],
  });
  const role = (kind: string, name: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name },
    rules: [rule('users', ['alice'])],
  });
  const add = { rules: [rule('users', ['alice'])] };

  test.each<[string, () => Promise<Answer>]>([
    ['replace its roles', () => thief.send('PUT', `${ROLES}/${OWN}`, role('ClusterRole', OWN))],
    ['delete its roles', () => thief.send('DELETE', `${ROLES}/${OWN}`)],
    ['delete all roles', () => thief.send('DELETE', ROLES)],
    ['make a ClusterRole', () => thief.send('POST', ROLES, role('ClusterRole', 'new'))],
    [
      'make a ClusterRole by an apply under the next name',
      () => {
        const next = OWN.replace(/0$/, '9');
        const query = '?fieldManager=thief&force=true';
        return thief.send('PATCH', `${ROLES}/${next}${query}`, role('ClusterRole', next), { type: APPLY });
      },
    ],
    ['make a Role', () => thief.send('POST', `${RBAC}/namespaces/kube-system/roles`, role('Role', 'new'))],
    ['change cluster-admin', () => thief.send('PATCH', `${ROLES}/cluster-admin`, add, { type: MERGE })],
    ['change platform-admin', () => thief.send('PATCH', `${ROLES}/platform-admin`, add, { type: MERGE })],
    [
      'change the role of the named users',
      () => thief.send('PATCH', `${ROLES}/${NAMESPACE}:gatehouse:gateway`, add, { type: MERGE }),
    ],
    [
      'change the role that has its own rights',
      () => thief.send('PATCH', `${ROLES}/${NAMESPACE}:gatehouse`, add, { type: MERGE }),
    ],
    [
      'change the Role of its namespace',
      () => thief.send('PATCH', `${RBAC}/namespaces/${NAMESPACE}/roles/gatehouse`, add, { type: MERGE }),
    ],
    [
      'bind itself to cluster-admin',
      () => thief.send('POST', `${RBAC}/clusterrolebindings`, binding('b', 'cluster-admin')),
    ],
    ['bind itself to its own role', () => thief.send('POST', `${RBAC}/clusterrolebindings`, binding('b', OWN))],
    [
      'bind itself in a namespace',
      () =>
        thief.send('POST', `${RBAC}/namespaces/kube-system/rolebindings`, {
          ...binding('b', 'admin'),
          kind: 'RoleBinding',
        }),
    ],
    [
      'change a binding of its roles',
      () => thief.send('PATCH', `${RBAC}/clusterrolebindings/${OWN}`, { subjects: [] }, { type: MERGE }),
    ],
    [
      'change the policy',
      () => {
        const body = { spec: { failurePolicy: 'Ignore' } };
        return thief.send('PATCH', `${POLICIES}/validatingadmissionpolicies/${POLICY}`, body, { type: MERGE });
      },
    ],
    ['delete the policy', () => thief.send('DELETE', `${POLICIES}/validatingadmissionpolicies/${POLICY}`)],
    [
      'make the policy warn only',
      () => {
        const body = { spec: { validationActions: ['Warn'] } };
        return thief.send('PATCH', `${POLICIES}/validatingadmissionpolicybindings/${POLICY}`, body, { type: MERGE });
      },
    ],
    [
      'delete the binding of the policy',
      () => thief.send('DELETE', `${POLICIES}/validatingadmissionpolicybindings/${POLICY}`),
    ],
    [
      'make a token of another service account',
      () =>
        thief.send('POST', '/api/v1/namespaces/kube-system/serviceaccounts/default/token', {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: {},
        }),
    ],
    ['read Secrets of another namespace', () => thief.send('GET', '/api/v1/namespaces/kube-system/secrets')],
  ])('cannot %s', async (_, attempt) => {
    expectForbidden(await attempt());
  });

  test.each<[string, Readonly<Record<string, string | string[]>>]>([
    ['a user of no role', { 'impersonate-user': 'mallory' }],
    ['an administrator by the group', { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' }],
    ['a member of another group', { 'impersonate-user': 'alice', 'impersonate-group': ['team-x', 'admins'] }],
    ['a group behind a blank', { 'impersonate-user': 'alice', 'impersonate-group': ' system:masters' }],
    ['a service account', { 'impersonate-user': 'system:serviceaccount:kube-system:default' }],
    ['a node', { 'impersonate-user': 'system:node:one', 'impersonate-group': 'system:nodes' }],
    ['somebody with a uid', { 'impersonate-user': 'alice', 'impersonate-uid': '1' }],
    ['somebody with an extra key', { 'impersonate-user': 'alice', 'impersonate-extra-scopes': 'all' }],
  ])('cannot act as %s, whatever names its roles have', async (_, as) => {
    expect(await writes([rule('users', ['alice']), rule('groups', ['team-x'])])).toMatchObject({ status: 200 });
    expect(
      await eventually(() => actsAs({ 'impersonate-user': 'alice', 'impersonate-group': 'team-x' }), isMade),
    ).toEqual({
      status: 200,
      message: '',
    });
    expectForbidden(await actsAs(as));
  });

  const isMade = ({ status }: Answer): boolean => status === 200;
});

// Chart and Gatehouse need 1.36 for this form; rules and policies of it can be stored in every version.
describe('the policy for constrained impersonation', () => {
  test('allows its verb in its API group, and no longer the old one', async () => {
    const { accounts } = VALUES.gateway;
    const gateway = { enabled: true, accounts, constrainedImpersonation: { enabled: true } };
    const policy = (await render({ ...VALUES, gateway })).one('ValidatingAdmissionPolicy', POLICY);
    await cluster.kubectl(['replace', '-f', '-'], JSON.stringify(policy));
    const form = { apiGroups: ['authentication.k8s.io'], verbs: ['impersonate:user-info'] };
    const alice = rule('users', ['alice'], form);
    await eventually(
      () => writes([alice]),
      ({ status }) => status === 200,
    );
    expectLimited(await writes([rule('users', ['alice'])]));
    expectLimited(await writes([rule('users', ['*'], form)]));
    expectLimited(await writes([rule('groups', ['system:masters'], form)]));
    expectLimited(await writes([rule('users', ['alice'], { ...form, verbs: ['impersonate-on:user-info:get'] })]));
    expectLimited(await writes([rule('serviceaccounts', ['default'], form)]));
    expectLimited(await writes([rule('users', ['alice'], { ...form, verbs: ['impersonate:serviceaccount'] })]));
  });
});

describe('without the policy', () => {
  test('G-26 the same token can write every right into its roles, which the dry run of Gatehouse finds', async () => {
    await cluster.kubectl(['delete', 'validatingadmissionpolicybinding', POLICY]);
    const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    await eventually(
      () => writes(everything, '?dryRun=All'),
      ({ status }) => status === 200,
    );
    expect((await stored()).rules).not.toEqual(everything);
  });
});
