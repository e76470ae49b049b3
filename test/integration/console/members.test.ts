import { describe, expect, test } from 'vitest';
import { IAM, startConsole, WORKSPACE_DEFINITIONS } from './console-stand.ts';

const JOE = { kind: 'User', name: 'joe' } as const;
const AGGREGATION = 'iam.kubesphere.io/aggregation-roles';

describe('the roles of a member', () => {
  test('CO-07 in the cluster are those of its bindings, without those that everybody has', async () => {
    const stand = await startConsole();
    stand.role('clusterroles', 'cluster-viewer', { annotations: { note: 'x' } });
    stand.bind({ name: 'joe', role: 'ClusterRole/cluster-viewer', subject: JOE });
    stand.bind({
      name: 'all',
      role: 'ClusterRole/observed-admin',
      subject: { kind: 'Group', name: 'system:authenticated' },
    });
    const path = `${IAM}/clustermembers/joe/clusterroles`;
    const { status, body } = await stand.ask(path, 'joe');
    expect([status, body]).toMatchObject([
      200,
      [
        {
          kind: 'ClusterRole',
          apiVersion: 'rbac.authorization.k8s.io/v1',
          metadata: { name: 'cluster-viewer', annotations: { note: 'x' } },
        },
      ],
    ]);
    expect(await stand.names(`${IAM}/clustermembers/ada/clusterroles`, 'ada')).toEqual(['observed-admin']);
  });

  test('CO-07 are those of which a role says that it consists', async () => {
    const stand = await startConsole();
    const annotations = { [AGGREGATION]: '["role-template-view-nodes","role-template-gone"]' };
    stand.role('clusterroles', 'cluster-viewer', { annotations });
    stand.role('clusterroles', 'role-template-view-nodes');
    stand.bind({ name: 'joe', role: 'ClusterRole/cluster-viewer', subject: JOE });
    expect(await stand.names(`${IAM}/clustermembers/joe/clusterroles`)).toEqual(['role-template-view-nodes']);
  });

  test('CO-07 of others need the right to list the bindings', async () => {
    const stand = await startConsole();
    stand.namespace('red');
    const of = (member: string) => [
      `${IAM}/clustermembers/${member}/clusterroles`,
      `${IAM}/workspaces/alpha/workspacemembers/${member}/workspaceroles`,
      `${IAM}/namespaces/red/members/${member}/roles`,
    ];
    for (const path of of('ada')) expect(await stand.names(path)).toBe(403);
    for (const path of of('joe')) expect([await stand.names(path), await stand.names(path, 'ada')]).toEqual([[], []]);
    const { body } = await stand.ask(of('ada')[2] ?? '', 'joe');
    expect(body.message).toBe(
      'rolebindings.rbac.authorization.k8s.io is forbidden: User "joe" cannot list resource "rolebindings" in API group "rbac.authorization.k8s.io" in the namespace "red"',
    );
  });

  test('CO-07 in a namespace are Roles and ClusterRoles of its bindings, of no other namespace', async () => {
    const stand = await startConsole();
    for (const name of ['red', 'blue']) {
      stand.namespace(name);
      stand.role('roles', 'operator', {}, name);
      stand.role('roles', 'viewer', {}, name);
    }
    stand.role('clusterroles', 'view');
    stand.bind({ name: 'one', namespace: 'red', role: 'Role/operator', subject: JOE });
    stand.bind({ name: 'two', namespace: 'red', role: 'ClusterRole/view', subject: JOE });
    stand.bind({ name: 'three', namespace: 'blue', role: 'Role/viewer', subject: JOE });
    const { body } = await stand.ask(`${IAM}/namespaces/red/members/joe/roles`, 'joe');
    expect(
      body.map(({ kind, metadata }: { kind: string; metadata: { name: string } }) => `${kind}/${metadata.name}`).sort(),
    ).toEqual(['ClusterRole/view', 'Role/operator']);
  });

  test('CO-07 in a workspace are WorkspaceRoles of its bindings', async () => {
    const stand = await startConsole();
    for (const one of WORKSPACE_DEFINITIONS) stand.cluster.objects.create('customresourcedefinitions', one);
    for (const name of ['alpha-admin', 'beta-viewer']) stand.role('workspaceroles.iam.kubesphere.io', name);
    stand.member('alpha', JOE, 'alpha-admin');
    stand.member('beta', JOE, 'beta-viewer');
    expect(await stand.names(`${IAM}/workspaces/alpha/workspacemembers/joe/workspaceroles`)).toEqual(['alpha-admin']);
  });
});
