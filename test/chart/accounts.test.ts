import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ClusterRoleBinding, V1PolicyRule, V1ValidatingAdmissionPolicy } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CHART, helm, type Manifest, NAMESPACE, nameOf, notes, type Rendered, render } from './helm.ts';

const scenario = parse(readFileSync(join(CHART, 'ci', 'accounts-values.yaml'), 'utf8'));
const on = { accounts: { enabled: true } };

const rulesOf = ({ rules }: Rendered, role: string): unknown[] =>
  rules.filter((rule) => rule.role === role).map(({ role: _, ...rule }) => rule);

const platformAdmin = (platform: string): V1PolicyRule[] => [
  {
    apiGroups: [`iam.${platform}.io`, `resources.${platform}.io`, `tenant.${platform}.io`],
    resources: ['*'],
    verbs: ['*'],
  },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterrolebindings'],
    verbs: ['create', 'delete', 'get', 'list'],
  },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles'],
    resourceNames: ['platform-admin', 'platform-regular', 'users-manager'],
    verbs: ['bind'],
  },
];

/** What the release has because of accounts. */
const OBJECTS = [
  'ClusterRole platform-admin',
  'ClusterRole platform-regular',
  'ClusterRole users-manager',
  'CustomResourceDefinition loginrecords.iam.gatehouse.io',
  'CustomResourceDefinition users.iam.gatehouse.io',
  'ValidatingAdmissionPolicy gatehouse-system.gatehouse.accounts',
  'ValidatingAdmissionPolicyBinding gatehouse-system.gatehouse.accounts',
];

/** By these its writers pass the guards of the platform's other releases; they go with the release. */
const JOINING = [
  'ClusterRole gatehouse-system:gatehouse:account-writers',
  'ClusterRoleBinding gatehouse-system:gatehouse:account-writers',
];

const namesOf = (objects: readonly Manifest[]): string[] => objects.map(nameOf).toSorted();
const isKept = ({ metadata }: Manifest): boolean => metadata.annotations?.['helm.sh/resource-policy'] === 'keep';

describe('rights of the service account with accounts', () => {
  test('8.1 are exactly: users, their status, login records, reading roles and bindings, removing bindings, and the names of those who give roles', async () => {
    const rendered = await render({ ...scenario, kinds: { rights: 'none' } });
    expect(rulesOf(rendered, `ClusterRole ${NAMESPACE}:gatehouse`)).toEqual([
      { apiGroups: [''], resources: ['nodes', 'namespaces', 'pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      {
        apiGroups: ['iam.kubesphere.io'],
        resources: ['users'],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      },
      { apiGroups: ['iam.kubesphere.io'], resources: ['users/status'], verbs: ['get', 'update', 'patch'] },
      {
        apiGroups: ['iam.kubesphere.io'],
        resources: ['loginrecords'],
        verbs: ['get', 'list', 'watch', 'create', 'delete'],
      },
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles', 'clusterrolebindings'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterrolebindings'], verbs: ['delete'] },
      { apiGroups: [''], resources: ['users'], resourceNames: ['admin', 'ada'], verbs: ['impersonate'] },
      {
        apiGroups: [''],
        resources: ['groups'],
        resourceNames: ['kubesphere-admins', 'staff'],
        verbs: ['impersonate'],
      },
    ]);
    expect(rulesOf(rendered, 'Role gatehouse')).toEqual([
      {
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete'],
      },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['kubesphere-accounts'],
        verbs: ['get', 'update', 'patch'],
      },
    ]);
  });

  test('8.1 let it act as the first administrator and <platform>-admins when nobody else is named', async () => {
    const impersonated = async (values: object): Promise<(string[] | undefined)[]> =>
      (await render({ ...on, ...values })).rules
        .filter(({ verbs }) => verbs.includes('impersonate'))
        .map(({ resourceNames }) => resourceNames);
    expect(await impersonated({})).toEqual([['admin'], ['gatehouse-admins']]);
    expect(await impersonated({ config: { users: { firstAdministrator: { name: 'root' } } } })).toEqual([
      ['root'],
      ['gatehouse-admins'],
    ]);
    expect(await impersonated({ config: { users: { firstAdministrator: false } } })).toEqual([]);
  });

  test('8.1 have no wildcard, bind or escalate, and impersonate by names only', async () => {
    const own = (await render(scenario)).rules.filter(({ role }) => /gatehouse$/.test(role));
    const words = own.flatMap(({ role: _, ...rule }) => Object.values(rule).flat());
    expect(words.filter((word) => ['*', 'bind', 'escalate'].includes(word))).toEqual([]);
    const impersonating = own.filter(({ verbs }) => verbs.includes('impersonate'));
    expect(impersonating.filter(({ resourceNames }) => !resourceNames?.length)).toEqual([]);
  });
});

describe('with accounts', () => {
  test('come the definitions, the roles and the policy, and without them none of these', async () => {
    const [without, having] = [namesOf((await render()).objects), namesOf((await render(on)).objects)];
    expect(having.filter((name) => !without.includes(name))).toEqual([...OBJECTS, ...JOINING].toSorted());
    expect(without.filter((name) => !having.includes(name))).toEqual([]);
    expect((await render()).config).toMatchObject({ accounts: { enabled: false } });
    expect((await render(on)).config).toMatchObject({ accounts: { enabled: true } });
  });

  test('the definitions, the roles and the policy are what an uninstall leaves, besides the configuration', async () => {
    const configuration = 'ConfigMap gatehouse-config';
    expect(namesOf((await render(on)).objects.filter(isKept))).toEqual([...OBJECTS, configuration].toSorted());
    const values = { accounts: { enabled: true, crds: { keep: false } } };
    expect(namesOf((await render(values)).objects.filter(isKept))).toEqual([configuration]);
  });

  test.each([
    ['the definitions', { accounts: { enabled: true, crds: { install: false } } }, 'CustomResourceDefinition'],
    ['the roles', { accounts: { enabled: true, roles: { create: false } } }, 'ClusterRole'],
    ['the roles, with all other rights,', { ...on, rbac: { create: false } }, 'ClusterRole'],
  ])('%s can be left to somebody else', async (_, values, kind) => {
    const made = namesOf((await render(values)).objects);
    expect(OBJECTS.filter((name) => !made.includes(name))).toEqual(
      OBJECTS.filter((name) => name.startsWith(`${kind} `)),
    );
  });

  test('the roles are assignable, and have the rights of the contract', async () => {
    const rendered = await render(on);
    for (const name of ['platform-admin', 'platform-regular', 'users-manager']) {
      expect(rendered.one('ClusterRole', name).metadata).toMatchObject({
        labels: { 'iam.gatehouse.io/assignable': 'true' },
        annotations: { 'gatehouse.io/creator': 'system' },
      });
    }
    expect(rulesOf(rendered, 'ClusterRole platform-admin')).toEqual(platformAdmin('gatehouse'));
    expect(rulesOf(rendered, 'ClusterRole platform-regular')).toEqual([]);
    expect(rulesOf(rendered, 'ClusterRole users-manager')).toEqual([
      {
        apiGroups: ['iam.gatehouse.io'],
        resources: ['users'],
        verbs: ['get', 'list', 'create', 'update', 'delete'],
      },
      { apiGroups: ['iam.gatehouse.io'], resources: ['users/loginrecords', 'users/globalroles'], verbs: ['get'] },
      { apiGroups: ['iam.gatehouse.io'], resources: ['globalroles'], verbs: ['get', 'list'] },
    ]);
  });

  test('CO-11 each of them names the menus of the console that its people see', async () => {
    const rendered = await render(scenario);
    const menusOf = (role: string): unknown => {
      const { annotations } = rendered.one('ClusterRole', role).metadata;
      return JSON.parse(annotations?.['iam.kubesphere.io/role-template-rules'] ?? '');
    };
    expect(menusOf('platform-admin')).toEqual({
      ...{ clusters: 'manage', workspaces: 'manage', users: 'manage', roles: 'manage' },
      'platform-settings': 'manage',
    });
    expect(menusOf('users-manager')).toEqual({ users: 'manage', roles: 'view' });
    expect(menusOf('platform-regular')).toEqual({});
  });

  test('the group <platform>-admins has what platform-admin has', async () => {
    const role = `ClusterRole ${NAMESPACE}:gatehouse:administrators`;
    expect(rulesOf(await render(scenario), role)).toEqual(platformAdmin('kubesphere'));
  });

  test('the policy names our account and the further writers', async () => {
    const { spec } = (await render(scenario)).one<V1ValidatingAdmissionPolicy>('ValidatingAdmissionPolicy');
    const lists = spec?.variables?.slice(0, 2).map(({ expression }) => JSON.parse(expression));
    expect(lists).toEqual([
      [`system:serviceaccount:${NAMESPACE}:gatehouse`, 'system:serviceaccount:directory:importer'],
      ['system:masters', 'kubeadm:cluster-admins'],
    ]);
    expect(spec?.matchConstraints?.resourceRules).toEqual([
      {
        apiGroups: ['iam.kubesphere.io'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: ['users', 'users/status', 'loginrecords'],
      },
    ]);
  });

  test('AC-80 whom the release names passes the guards of the platform, by a right on no object', async () => {
    const rendered = await render(scenario);
    expect(rulesOf(rendered, `ClusterRole ${NAMESPACE}:gatehouse:account-writers`)).toEqual([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingadmissionpolicies'],
        resourceNames: ['iam.kubesphere.io'],
        verbs: ['pass'],
      },
    ]);
    const binding = rendered.one<V1ClusterRoleBinding>('ClusterRoleBinding', `${NAMESPACE}:gatehouse:account-writers`);
    expect(binding.subjects?.map(({ kind, name }) => [kind, name])).toEqual([
      ['ServiceAccount', 'gatehouse'],
      ['User', 'system:serviceaccount:directory:importer'],
      ['Group', 'kubeadm:cluster-admins'],
    ]);
  });

  test('the notes say what an uninstall does to the users', async () => {
    expect((await notes(on)).join('\n')).toContain(
      '"helm uninstall" leaves the users too, their definitions, roles and login records, and the policy that guards them.',
    );
    expect((await notes({ accounts: { enabled: true, crds: { keep: false } } })).join('\n')).toContain(
      '"helm uninstall" deletes every user: accounts.crds.keep is false. Delete the users before it, while Gatehouse runs.',
    );
    expect((await notes({})).join('\n')).not.toContain('users too');
  });

  test('a cluster that is too old for the policy is refused with a sentence', async () => {
    const args = ['template', 'gatehouse', CHART, '--set', 'accounts.enabled=true', '--kube-version', '1.29.4'];
    await expect(helm(args)).rejects.toThrow(
      ': accounts.enabled is true, but the cluster is v1.29.4: users are guarded by a ValidatingAdmissionPolicy, which clusters have from 1.30 on; upgrade the cluster, or set accounts.enabled to false.\n',
    );
  });
});
