import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startConsole } from './console-stand.ts';

/*
 * The groups of routes that KubeSphere 3.4 registers (`pkg/apiserver/apiserver.go` of release-3.4, `installKubeSphereAPIs` and
 * `buildHandlerChain`), each with paths of it and what Joe, who has no right, gets for them here: a status, or that it is not offered.
 */
const GROUPS: readonly (readonly [group: string, paths: Readonly<Record<string, number | 'not offered'>>])[] = [
  ['/oauth', { '/oauth/keys': 200, '/oauth/callback/ldap': 404, '/oauth/login/ldap': 404 }],
  ['/api', { '/api/v1/nodes': 403 }],
  ['/apis', { '/apis/apps/v1/deployments': 403 }],
  ['/api/clusters', { '/api/clusters/host/v1/nodes': 404 }],
  ['/apis/clusters', { '/apis/clusters/host/apps/v1/deployments': 404 }],
  ['/kapis/clusters', { '/kapis/clusters/host/resources.kubesphere.io/v1alpha3/nodes': 404 }],
  ['resources.kubesphere.io/v1alpha3', { '/namespaces': 200, '/nodes': 403, '/componenthealth': 404 }],
  [
    'resources.kubesphere.io/v1alpha2',
    {
      ...{ '/components': 200, '/namespaces/red/quotas': 403, '/namespaces/red/abnormalworkloads': 403 },
      ...{ '/nodes': 'not offered', '/namespaces/red/deployments': 'not offered', '/componenthealth': 'not offered' },
      ...{ '/quotas': 'not offered', '/users/joe/kubectl': 'not offered', '/registry/blob': 'not offered' },
    },
  ],
  [
    'iam.kubesphere.io/v1alpha2',
    {
      ...{ '/clustermembers/joe/clusterroles': 200, '/globalroles': 403, '/clustermembers': 'not offered' },
      ...{ '/workspaces/w/groups': 'not offered', '/namespaces/red/roles': 'not offered' },
    },
  ],
  [
    'tenant.kubesphere.io/v1alpha2',
    {
      ...{ '/workspaces': 200, '/namespaces': 200, '/clusters': 200, '/federatednamespaces': 'not offered' },
      ...{ '/workspaces/w/devops': 'not offered', '/metering': 'not offered' },
    },
  ],
  ['tenant.kubesphere.io/v1alpha3', { '/workspacetemplates': 200, '/workspaces': 200 }],
  ['config.kubesphere.io/v1alpha2', { '/configs/configz': 200, '/configs/oauth': 200, '/configs/gpu/kinds': 200 }],
  ['monitoring.kubesphere.io/v1alpha3', { '/cluster': 200, '/kubesphere': 200, '/namespaces/red/pods': 200 }],
  ['/kapis/version', { '/kapis/version': 200 }],
  ['/healthz', { '/healthz': 200 }],
  ['/kapis/metrics', { '/kapis/metrics': 404 }],
  ['alerting.kubesphere.io', { '/v2alpha1/rules': 'not offered', '/v2beta1/globalrulegroups': 'not offered' }],
  ['cluster.kubesphere.io', { '/v1alpha1/clusters/host/agent/deployment': 'not offered' }],
  ['devops.kubesphere.io', { '/v1alpha2/devops/x/pipelines': 'not offered', '/v1alpha3/ci/steps': 'not offered' }],
  ['edgeruntime.kubesphere.io', { '/v1alpha1/nodes': 'not offered' }],
  ['gateway.kubesphere.io', { '/v1alpha1/namespaces/red/gateways': 'not offered' }],
  ['gitops.kubesphere.io', { '/v1alpha1/namespaces/red/applications': 'not offered' }],
  ['kubeedge.kubesphere.io', { '/v1alpha1/nodes/join': 'not offered' }],
  ['metering.kubesphere.io', { '/v1alpha1/cluster': 'not offered' }],
  ['network.kubesphere.io', { '/v1alpha2/namespaces/red/topology': 'not offered' }],
  ['notification.kubesphere.io', { '/v2beta1/configs': 'not offered', '/v2beta2/receivers': 'not offered' }],
  ['openpitrix.io', { '/v1/categories': 'not offered', '/v2alpha1/repos': 'not offered' }],
  ['operations.kubesphere.io', { '/v1alpha2/namespaces/red/jobs/x': 'not offered' }],
  ['servicemesh.kubesphere.io', { '/v1alpha2/namespaces/red/strategies': 'not offered' }],
  ['terminal.kubesphere.io', { '/v1alpha2/namespaces/red/pods/web/exec': 'not offered' }],
];

const PAGE = readFileSync(new URL('../../../docs/migrating-from-kubesphere.md', import.meta.url), 'utf8');
const [, table = ''] = PAGE.split("## What of 3.4's API is here");
/** What the first column names. */
const named = [...table.matchAll(/^\| (`.*?) \| (yes|no|differently) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
);

test('CO-10 every group of routes of 3.4 is in the table of the page on moving', () => {
  const known = GROUPS.map(([group]) => group);
  expect(named.filter((name) => name !== '/kapis/{group}/{version}/{resources}').sort()).toEqual([...known].sort());
});

test('CO-10 each group of routes of 3.4 answers as the table says', async () => {
  const stand = await startConsole({ config: { accounts: { enabled: true }, gateway: { enabled: true } } });
  stand.namespace('red');
  for (const [group, paths] of GROUPS) {
    const root = group.startsWith('/') ? '' : `/kapis/${group}`;
    const answered: Record<string, number | 'not offered'> = {};
    for (const path of Object.keys(paths)) {
      const { status, body } = await stand.ask(root + path, 'joe');
      const isSaid = status === 404 && body?.kind === 'Status' && /is not offered by this server$/.test(body.message);
      answered[path] = isSaid ? 'not offered' : status;
    }
    expect([group, answered]).toEqual([group, paths]);
  }
});

test('CO-10 a write to what is read only is 405, and one to what is not offered is 404', async () => {
  const stand = await startConsole();
  const written = (path: string) => stand.ask(`/kapis/${path}`, 'joe', {}, 'POST');
  expect((await written('tenant.kubesphere.io/v1alpha3/workspacetemplates')).status).toBe(405);
  expect((await written('iam.kubesphere.io/v1alpha2/clustermembers')).status).toBe(404);
});
