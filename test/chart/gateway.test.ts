import type { V1ClusterRoleBinding, V1PolicyRule } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { CHART, helm, type Manifest, NAMESPACE, nameOf, notes, type Rendered, render } from './helm.ts';

const ROLE = `${NAMESPACE}:gatehouse:gateway`;
const on = { gateway: { enabled: true, users: ['ada', 'joe'], groups: ['staff'] } };

const rulesOf = async (values: object): Promise<V1PolicyRule[]> =>
  (await render(values)).one<Manifest & { rules: V1PolicyRule[] }>('ClusterRole', ROLE).rules;

/** What the first set of objects has and the second has not. */
const more = (one: Rendered, other: Rendered): string[] => {
  const names = ({ objects }: Rendered) => objects.map(nameOf);
  return names(one).filter((name) => !names(other).includes(name));
};

/** Rules that let Gatehouse be somebody else. */
const impersonating = ({ rules }: Rendered) =>
  rules.filter(({ verbs }) => verbs.some((verb) => /^impersonate(:|$)/.test(verb)));

const constrained = (rules?: object[]): object => ({
  gateway: { ...on.gateway, constrainedImpersonation: { enabled: true, ...(rules ? { rules } : {}) } },
});

describe('rights of the service account with the gateway', () => {
  test('8.1 are exactly: to act as these users, with these groups and system:authenticated, and to tell the session', async () => {
    expect(await rulesOf(on)).toEqual([
      { apiGroups: [''], resources: ['users'], resourceNames: ['ada', 'joe'], verbs: ['impersonate'] },
      {
        apiGroups: [''],
        resources: ['groups'],
        resourceNames: ['staff', 'system:authenticated'],
        verbs: ['impersonate'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['userextras/gatehouse.io/session'], verbs: ['impersonate'] },
    ]);
  });

  test('8.1 name each user and each group, whatever else is on', async () => {
    for (const values of [on, constrained()]) {
      const rendered = await render({ ...values, accounts: { enabled: true } });
      const rules = impersonating(rendered).filter(({ resources }) => !/^userextras\//.test(resources?.[0] ?? ''));
      expect(rules).toHaveLength(4);
      for (const { resourceNames = [] } of rules) {
        expect(resourceNames.length).toBeGreaterThan(0);
        expect(resourceNames.filter((name) => /^(system:(?!authenticated$)|kubeadm:|\*$)/.test(name))).toEqual([]);
      }
    }
  });

  test('8.1 have no service accounts, no uids and one extra, which has the name of the platform', async () => {
    for (const values of [on, constrained()]) {
      const rendered = await render({ ...values, platform: 'kubesphere' });
      expect(impersonating(rendered).flatMap(({ resources }) => resources)).toEqual([
        'users',
        'groups',
        'userextras/kubesphere.io/session',
      ]);
    }
  });

  test('8.1 have only system:authenticated as a group when none is named', async () => {
    const [, groups] = await rulesOf({ gateway: { enabled: true, users: ['ada'] } });
    expect(groups?.resourceNames).toEqual(['system:authenticated']);
  });

  test('8.1 are bound to that account alone', async () => {
    const binding = (await render(on)).one<V1ClusterRoleBinding>('ClusterRoleBinding', ROLE);
    expect(binding).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ROLE },
      subjects: [{ kind: 'ServiceAccount', name: 'gatehouse', namespace: NAMESPACE }],
    });
  });
});

describe('constrained impersonation', () => {
  const verbs = (...words: string[]): string[] => words.map((word) => `impersonate-on:user-info:${word}`);
  const paths = ['/api', '/api/*', '/apis', '/apis/*', '/openapi/v2', '/openapi/v3', '/openapi/v3/*'];

  test('8.1 takes the place of impersonate, and lets everything be done when nothing is limited', async () => {
    const [users, groups, extra, ...done] = await rulesOf(constrained());
    for (const rule of [users, groups, extra])
      expect(rule).toMatchObject({ apiGroups: ['authentication.k8s.io'], verbs: ['impersonate:user-info'] });
    expect([users?.resourceNames, groups?.resourceNames]).toEqual([
      ['ada', 'joe'],
      ['staff', 'system:authenticated'],
    ]);
    const all = verbs('get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection');
    expect(done).toEqual([
      { nonResourceURLs: paths, verbs: verbs('get', 'head') },
      { apiGroups: ['*'], resources: ['*'], verbs: all },
    ]);
    expect(JSON.stringify(await rulesOf(constrained()))).not.toContain('"impersonate"');
  });

  test('8.1 lets be done what its rules say, and discovery', async () => {
    const rules = [
      { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['update'] },
    ];
    expect((await rulesOf(constrained(rules))).slice(3)).toEqual([
      { nonResourceURLs: paths, verbs: verbs('get', 'head') },
      { apiGroups: ['*'], resources: ['*'], verbs: verbs('get', 'list', 'watch') },
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: verbs('update') },
    ]);
  });

  test('on a cluster that does not have it is refused with a sentence', async () => {
    const args = ['template', 'gatehouse', CHART, '--kube-version', '1.35.2', '--values', '-'];
    await expect(helm(args, JSON.stringify(constrained()))).rejects.toThrow(
      ': gateway.constrainedImpersonation.enabled is true, but the cluster is v1.35.2: clusters have it from 1.36 on, and an older one would refuse every call; set it to false.\n',
    );
  });

  test.each(['*', 'impersonate', 'impersonate-on:user-info:get'])('takes no verb %s', async (verb) => {
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: [verb] }];
    await expect(render(constrained(rules))).rejects.toThrow('gateway/constrainedImpersonation/rules/0/verbs/0');
  });
});

describe('with the gateway', () => {
  test('come a role and its binding, and without it none of these', async () => {
    const [without, having] = [await render(), await render(on)];
    expect(more(having, without)).toEqual([`ClusterRole ${ROLE}`, `ClusterRoleBinding ${ROLE}`]);
    expect(more(without, having)).toEqual([]);
    expect(impersonating(without)).toEqual([]);
    expect([without.config, having.config]).toMatchObject([
      { gateway: { enabled: false } },
      { gateway: { enabled: true } },
    ]);
  });

  test('all other rights stay what they are', async () => {
    const others = ({ rules }: Rendered) => rules.filter(({ role }) => role !== `ClusterRole ${ROLE}`);
    expect(others(await render(on))).toEqual(others(await render()));
  });

  test('the rights can be left to somebody else, who needs no names here', async () => {
    const rendered = await render({ rbac: { create: false }, gateway: { enabled: true } });
    expect(rendered.all('ClusterRole')).toEqual([]);
    expect(rendered.config).toMatchObject({ gateway: { enabled: true } });
  });

  test.each(
    ['users', 'groups'].flatMap((kind) =>
      ['system:masters', 'system:authenticated', 'system:serviceaccount:a:b', 'kubeadm:cluster-admins']
        .concat(['kubernetes-admin', 'kubernetes-super-admin', 'kube-admin'])
        .map((name) => [kind, name]),
    ),
  )('8.1 %s that belong to the cluster are refused with a sentence: %s', async (kind = '', name) => {
    for (const enabled of [true, false])
      await expect(render({ gateway: { ...on.gateway, enabled, [kind]: ['ada', name] } })).rejects.toThrow(
        `: gateway.${kind} has "${name}", which is one of the cluster's own: Gatehouse could act with its rights; name people and groups of the platform (system:authenticated is added to everybody).\n`,
      );
  });

  test('8.1 names that the configuration reserves are refused as well', async () => {
    const config = { accounts: { reservedNames: ['root'] } };
    await expect(render({ gateway: { ...on.gateway, users: ['root'] }, config })).rejects.toThrow(
      ': gateway.users has "root", which is one of the cluster\'s own:',
    );
  });

  test('the notes say whom it serves', async () => {
    const sentence =
      'The cluster\'s own API is served at /api and /apis there, to ada, joe: with "gatehouse kubeconfig", kubectl uses it as the person who signs in.';
    expect(await notes(on)).toContain(sentence);
    expect((await notes({})).join('\n')).not.toContain('/apis');
  });
});
