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

describe('rights of the service account', () => {
  test('8.1 are exactly: nodes, namespaces and pods list and watch, access reviews, and the Secrets of the namespace', async () => {
    expect((await render()).rules).toEqual([
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
    const words = (await render(busy)).rules.flatMap(({ role: _, ...rule }) => Object.values(rule).flat());
    const forbidden = ['*', 'escalate', 'bind', 'impersonate', 'nodes/proxy', 'serviceaccounts/token', 'pods/exec'];
    expect(words.filter((word) => forbidden.includes(word) || word.includes('*'))).toEqual([]);
  });

  test('8.1 no rule is about URLs that are no resources', async () => {
    expect((await render(busy)).rules.filter(({ nonResourceURLs }) => nonResourceURLs)).toEqual([]);
  });

  test('8.1 leave the pods out when nodes.usage is off', async () => {
    const { rules } = await render({ config: { nodes: { usage: false } } });
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
