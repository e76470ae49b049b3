import type { V1ClusterRoleBinding, V1RoleBinding } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { NAMESPACE, render } from './helm.ts';

const ADMINISTRATORS = `${NAMESPACE}:gatehouse:administrators`;

/** Everything that the values can change about rights, switched on at once. */
const busy = {
  platform: 'kubesphere',
  networkPolicy: { enabled: true },
  metrics: { podMonitor: { enabled: true, tlsConfig: { serverName: 'gatehouse.example.com' } } },
  users: { existingSecret: 'people' },
  oauth: { client: { existingSecret: 'console-client' } },
  tls: { existingSecret: 'certificate' },
  logging: { host: 'https://opensearch.logging.svc:9200' },
  config: { authentication: { serviceAccountTokens: { enabled: true } } },
};

const OWN_ROLE = 'ClusterRole gatehouse-system:gatehouse';
const withoutKinds = { kinds: { rights: 'none' } };

/** The rules that `values` add to those of an account that lists no kinds. */
async function kindRules(values: object = {}) {
  const { rules } = await render(values);
  const others = (await render({ ...values, ...withoutKinds })).rules.map((rule) => JSON.stringify(rule));
  return rules.filter((rule) => !others.includes(JSON.stringify(rule)));
}

describe('rights of the service account', () => {
  test('8.1 are exactly: nodes, namespaces and pods list and watch, access reviews, and the Secrets of the namespace, where it lists no kinds', async () => {
    expect((await render(withoutKinds)).rules).toEqual([
      {
        role: 'ClusterRole gatehouse-system:gatehouse:administrators',
        apiGroups: ['resources.gatehouse.io'],
        resources: ['nodes', 'namespaces'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        role: 'ClusterRole gatehouse-system:gatehouse:administrators',
        apiGroups: ['tenant.gatehouse.io'],
        resources: ['logs'],
        verbs: ['list'],
      },
      {
        role: 'ClusterRole gatehouse-system:gatehouse',
        apiGroups: [''],
        resources: ['nodes', 'namespaces', 'pods'],
        verbs: ['list', 'watch'],
      },
      {
        role: 'ClusterRole gatehouse-system:gatehouse',
        apiGroups: ['authorization.k8s.io'],
        resources: ['subjectaccessreviews'],
        verbs: ['create'],
      },
      {
        role: 'Role gatehouse',
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['create', 'get', 'list', 'watch', 'update', 'delete'],
      },
    ]);
  });

  test('8.1 are two Secrets by name, and the right to create, where sessions are in memory', async () => {
    const { rules } = await render({ sessions: { store: 'memory' } });
    expect(rules.filter(({ resources }) => resources?.includes('secrets'))).toEqual([
      { role: 'Role gatehouse', apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      {
        role: 'Role gatehouse',
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['gatehouse-signing-keys', 'gatehouse-first-administrator'],
        verbs: ['get', 'watch', 'update'],
      },
    ]);
  });

  test('8.1 no ClusterRole has a rule on Secrets', async () => {
    const { rules } = await render(busy);
    const clusterWide = rules.filter(
      ({ role, resources }) => role.startsWith('Cluster') && resources?.includes('secrets'),
    );
    expect(clusterWide).toEqual([]);
  });

  test('8.1 reading or changing a Secret is limited to names where sessions are in memory', async () => {
    const { rules } = await render({ ...busy, sessions: { store: 'memory' } });
    const secrets = rules.filter(({ resources }) => resources?.includes('secrets'));
    expect(secrets.filter(({ resourceNames }) => !resourceNames?.length).map(({ verbs }) => verbs)).toEqual([
      ['create'],
    ]);
  });

  test('8.1 reach every Secret of the namespace, and of no other, where sessions are kept in Secrets', async () => {
    const { rules } = await render(busy);
    expect(rules.filter(({ resources }) => resources?.includes('secrets'))).toEqual([
      {
        role: 'Role gatehouse',
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['create', 'get', 'list', 'watch', 'update', 'delete'],
      },
    ]);
  });

  test('8.1 no rule has a wildcard, escalate, bind, impersonate, nodes/proxy, serviceaccounts/token or pods/exec', async () => {
    const words = (await render({ ...busy, config: { ...busy.config, kinds: { events: true } } })).rules.flatMap(
      ({ role: _, ...rule }) => Object.values(rule).flat(),
    );
    const forbidden = ['*', 'escalate', 'bind', 'impersonate', 'nodes/proxy', 'serviceaccounts/token', 'pods/exec'];
    expect(words.filter((word) => forbidden.includes(word) || word.includes('*'))).toEqual([]);
  });

  test('8.1 no rule is about URLs that are no resources', async () => {
    expect((await render(busy)).rules.filter(({ nonResourceURLs }) => nonResourceURLs)).toEqual([]);
  });

  test('8.1 leave the pods out when nodes.usage is off, and no kinds are listed', async () => {
    const { rules } = await render({ config: { nodes: { usage: false } }, ...withoutKinds });
    expect(rules.filter(({ resources }) => resources?.includes('pods'))).toEqual([]);
  });

  test('8.1 have token reviews when service accounts are let in, and only then', async () => {
    const rules = async (serviceAccountTokens?: object) =>
      (await render({ config: { authentication: { serviceAccountTokens } } })).rules.filter(({ apiGroups }) =>
        apiGroups?.includes('authentication.k8s.io'),
      );
    expect(await rules({ enabled: true, audience: 'gatehouse' })).toEqual([
      {
        role: 'ClusterRole gatehouse-system:gatehouse',
        apiGroups: ['authentication.k8s.io'],
        resources: ['tokenreviews'],
        verbs: ['create'],
      },
    ]);
    expect([await rules(), await rules({}), await rules({ enabled: false })]).toEqual([[], [], []]);
  });

  const IN_MEMORY = { sessions: { store: 'memory' } };

  test('8.1 have the Secret of a client’s secret where the program makes it', async () => {
    const { rules, config } = await render({ oauth: { client: { generate: true } }, ...IN_MEMORY });
    const names = ['gatehouse-signing-keys', 'gatehouse-first-administrator', 'gatehouse-oauth-client'];
    expect(rules.flatMap(({ resourceNames }) => resourceNames ?? [])).toEqual(names);
    expect(config).toMatchObject({
      authentication: { oauthOptions: { clients: [{ name: 'gatehouse', secretName: 'gatehouse-oauth-client' }] } },
    });
  });

  test.each([
    ['gatehouse', true, ['gatehouse-signing-keys', 'gatehouse-first-administrator', 'gatehouse-recent-questions']],
    ['kubesphere', true, ['kubesphere-signing-keys', 'kubesphere-first-administrator', 'kubesphere-recent-questions']],
    ['gatehouse', false, ['gatehouse-signing-keys', 'gatehouse-first-administrator']],
  ])(
    '8.1 have the Secret of recent questions where they are shared (%s: %s)',
    async (platform, shareQuestions, names) => {
      const config = { authorization: { shareQuestions } };
      const { rules } = await render({ platform, config, ...IN_MEMORY });
      expect(rules.flatMap(({ resourceNames }) => resourceNames ?? [])).toEqual(names);
    },
  );

  test('8.1 follow the Secret names of the configuration', async () => {
    const config = { keys: { secretName: 'k' }, users: { firstAdministrator: { secretName: 'a' } } };
    const { rules } = await render({ config, ...IN_MEMORY });
    expect(rules.flatMap(({ resourceNames }) => resourceNames ?? [])).toEqual(['k', 'a']);
  });

  test('8.1 leave the first administrator’s Secret out when there is none', async () => {
    const { rules } = await render({ config: { users: { firstAdministrator: false } }, ...IN_MEMORY });
    expect(rules.flatMap(({ resourceNames }) => resourceNames ?? [])).toEqual(['gatehouse-signing-keys']);
  });

  test('8.1 are bound to that account alone', async () => {
    const rendered = await render();
    const account = [{ kind: 'ServiceAccount', name: 'gatehouse', namespace: NAMESPACE }];
    expect(rendered.one<V1ClusterRoleBinding>('ClusterRoleBinding', `${NAMESPACE}:gatehouse`).subjects).toEqual(
      account,
    );
    expect(rendered.one<V1RoleBinding>('RoleBinding').subjects).toEqual(account);
  });
});

describe('administrators', () => {
  test('are the group <platform>-admins and may get and list nodes and namespaces of resources.<platform>.io, and query logs', async () => {
    const rendered = await render({ platform: 'kubesphere' });
    const binding = rendered.one<V1ClusterRoleBinding>('ClusterRoleBinding', ADMINISTRATORS);
    expect(binding).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ADMINISTRATORS },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'kubesphere-admins' }],
    });
    expect(rendered.one('ClusterRole', ADMINISTRATORS)).toMatchObject({
      rules: [
        { apiGroups: ['resources.kubesphere.io'], resources: ['nodes', 'namespaces'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['tenant.kubesphere.io'], resources: ['logs'], verbs: ['list'] },
      ],
    });
  });
});

describe('rights to the kinds that are listed', () => {
  test('8.1 are get, list and watch of resources by name, in the role of the account', async () => {
    const rules = await kindRules();
    expect(rules.map(({ role, verbs }) => ({ role, verbs }))).toEqual(
      rules.map(() => ({ role: OWN_ROLE, verbs: ['get', 'list', 'watch'] })),
    );
    const names = rules.flatMap(({ apiGroups, resources }) => resources!.map((name) => `${name}.${apiGroups![0]}`));
    expect(names.filter((name) => !/^[a-z]+\.[a-z0-9.]*$/.test(name))).toEqual([]);
    expect(names).toContain('pods.');
    expect(names).toContain('deployments.apps');
    expect(new Set(names).size).toBe(names.length);
  });

  test('8.1 have neither Secrets nor, unless they are listed, events', async () => {
    const named = async (values: object) => (await kindRules(values)).flatMap(({ resources }) => resources!);
    expect((await named({})).filter((name) => /secret|event/.test(name))).toEqual([]);
    expect((await named({ config: { kinds: { events: true } } })).filter((name) => /secret|event/.test(name))).toEqual([
      'events',
    ]);
  });

  test('8.1 are none where no kinds are listed', async () => {
    expect(await kindRules({ config: { kinds: { enabled: false } } })).toEqual([]);
    expect(await kindRules({ rbac: { create: false } })).toEqual([]);
  });

  test('8.1 reach every resource on request, by list and watch alone: get would cover pods/exec', async () => {
    const named = await kindRules();
    expect(await kindRules({ kinds: { rights: 'all' } })).toEqual([
      ...named,
      { role: OWN_ROLE, apiGroups: ['*'], resources: ['*'], verbs: ['list', 'watch'] },
    ]);
  });

  test('8.1 have the rules for custom resources besides, to read them', async () => {
    const named = await kindRules();
    const extraRules = [
      { apiGroups: ['cert-manager.io'], resources: ['certificates', 'issuers'] },
      { apiGroups: ['example.com'], resources: ['*'], verbs: ['list', 'watch'] },
    ];
    expect(await kindRules({ kinds: { extraRules } })).toEqual([
      ...named,
      { role: OWN_ROLE, ...extraRules[0], verbs: ['get', 'list', 'watch'] },
      { role: OWN_ROLE, ...extraRules[1] },
    ]);
  });

  test('8.1 reach Secrets only where a rule and the configuration say so', async () => {
    const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] };
    const { rules } = await render({ kinds: { extraRules: [rule] }, config: { kinds: { secrets: 'metadata' } } });
    expect(rules.filter(({ role, resources }) => role === OWN_ROLE && resources?.includes('secrets'))).toEqual([
      { role: OWN_ROLE, ...rule },
    ]);
  });

  test.each([
    [
      'a verb that changes something',
      { apiGroups: ['a.io'], resources: ['b'], verbs: ['delete'] },
      'extraRules/0/verbs/0',
    ],
    ['a subresource', { apiGroups: [''], resources: ['pods/exec'] }, 'extraRules/0/resources/0'],
    ['objects by name', { apiGroups: ['a.io'], resources: ['b'], resourceNames: ['c'] }, 'extraRules/0'],
    ['no group', { apiGroups: [], resources: ['b'] }, 'extraRules/0/apiGroups'],
  ])('have no rule with %s', async (_, rule, place) => {
    await expect(render({ kinds: { extraRules: [rule] } })).rejects.toThrow(`at '/kinds/${place}'`);
  });
});
