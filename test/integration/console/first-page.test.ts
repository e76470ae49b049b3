import { describe, expect, test } from 'vitest';
import { CONFIGS, RESOURCES, startConsole } from './console-stand.ts';

describe('what a client reads before a sign-in', () => {
  test('CO-01 is which parts are served', async () => {
    const stand = await startConsole();
    const features = { auditing: false, events: false, logging: false, multicluster: false };
    expect((await stand.ask(`${CONFIGS}/configz`)).body).toEqual(features);
    const logging = { host: 'http://127.0.0.1:9', version: 'opensearchv2' };
    const withLogs = await startConsole({ config: { logging } });
    expect((await withLogs.ask(`${CONFIGS}/configz`)).body).toEqual({ ...features, logging: true });
  });

  test('CO-02 is how long tokens live, and no secret', async () => {
    const oauthOptions = {
      ...{ accessTokenMaxAge: '1h', accessTokenInactivityTimeout: '30m' },
      clients: [{ name: 'kubesphere', secret: 'kubesphere' }],
    };
    const stand = await startConsole({ config: { authentication: { oauthOptions } } });
    const { status, body } = await stand.ask(`${CONFIGS}/oauth`);
    expect([status, body]).toEqual([
      200,
      { accessTokenMaxAge: 3_600_000_000_000, accessTokenInactivityTimeout: 1_800_000_000_000 },
    ]);
  });

  test('CO-03 names no kinds of graphics processors, to who is signed in', async () => {
    const stand = await startConsole();
    const [nobody, joe] = [await stand.ask(`${CONFIGS}/gpu/kinds`), await stand.ask(`${CONFIGS}/gpu/kinds`, 'joe')];
    expect([nobody.status, joe.status, joe.body]).toEqual([401, 200, []]);
  });
});

test('CO-13 what the console asks for at once before a sign-in is answered without a token', async () => {
  const stand = await startConsole();
  const [features, version] = await Promise.all([stand.ask(`${CONFIGS}/configz`), stand.ask('/kapis/version')]);
  expect([features.status, version.status, version.body.gitVersion]).toEqual([
    200,
    200,
    expect.stringMatching(/^v3\.4/),
  ]);
});

describe('what is not offered', () => {
  test.each([
    '/kapis/servicemesh.kubesphere.io/v1alpha2/namespaces/red/strategies',
    '/kapis/openpitrix.io/v1/apps',
    '/kapis/terminal.kubesphere.io/v1alpha2/namespaces/red/pods/web/exec',
    '/kapis/iam.kubesphere.io/v1alpha2/groups',
    '/kapis/tenant.kubesphere.io/v1alpha2/devops',
    '/kapis/resources.kubesphere.io/v1alpha2/componenthealth',
    '/kapis/resources.kubesphere.io/v1alpha2/users/joe/kubeconfig',
  ])('CO-10 is 404 for who is signed in, also without any right: %s', async (path) => {
    const stand = await startConsole();
    const { status, body } = await stand.ask(path, 'joe');
    expect([status, body.kind, body.reason]).toEqual([404, 'Status', 'NotFound']);
    expect(body.message).toMatch(/is not offered by this server$/);
  });
});

describe('the numbers of the first pages', () => {
  test('CO-12 a query for metrics has no results without Prometheus', async () => {
    const stand = await startConsole();
    for (const path of ['cluster', 'nodes/node-a', 'namespaces/red/pods']) {
      const { status, text } = await stand.ask(
        `/kapis/monitoring.kubesphere.io/v1alpha3/${path}?metrics_filter=x`,
        'joe',
      );
      expect([status, text]).toEqual([200, '{"results":[]}']);
    }
  });

  test('CO-12 the quota of a namespace has of each resource its smallest limit, and needs the right to list quotas there', async () => {
    const stand = await startConsole();
    stand.namespace('red');
    const path = `${RESOURCES}/v1alpha2/namespaces/red/quotas`;
    expect((await stand.ask(path, 'ada')).body).toEqual({ namespace: 'red', data: { hard: {}, used: {} } });
    const quota = (name: string, namespace: string, hard: object, used: object) =>
      stand.cluster.objects.create('resourcequotas', { metadata: { name, namespace }, status: { hard, used } });
    quota('one', 'red', { pods: '10', 'requests.cpu': '1500m' }, { pods: '3', 'requests.cpu': '1' });
    quota('two', 'red', { 'requests.cpu': '1', 'limits.cpu': '4' }, { 'requests.cpu': '500m', 'limits.cpu': '0' });
    quota('three', 'default', { pods: '1' }, { pods: '1' });
    await stand.clock.until(
      async () => (await stand.ask(path, 'ada')).body.data,
      ({ hard }) => Object.keys(hard).length === 3,
    );
    expect((await stand.ask(path, 'ada')).body.data).toEqual({
      hard: { pods: '10', 'requests.cpu': '1', 'limits.cpu': '4' },
      used: { pods: '3', 'requests.cpu': '500m', 'limits.cpu': '0' },
    });
    expect((await stand.ask(path, 'joe')).status).toBe(403);
  });

  test('CO-12 workloads that are not ready are counted by kind, of those that the caller may list', async () => {
    const stand = await startConsole();
    stand.namespace('red');
    const deployment = (name: string, namespace: string, status: object) =>
      stand.cluster.objects.create('deployments', { metadata: { name, namespace }, spec: { replicas: 2 }, status });
    deployment('web', 'red', { replicas: 2, readyReplicas: 1 });
    deployment('api', 'red', { replicas: 2, readyReplicas: 2 });
    deployment('old', 'default', { replicas: 2 });
    const path = `${RESOURCES}/v1alpha2/namespaces/red/abnormalworkloads`;
    expect((await stand.ask(path, 'ada')).body).toEqual({ namespace: 'red', data: { deployments: 1 } });
    expect((await stand.ask(`${RESOURCES}/v1alpha2/abnormalworkloads`, 'ada')).body).toEqual({
      data: { deployments: 2 },
    });
    expect((await stand.ask(path, 'joe')).status).toBe(403);
    const rules = [{ apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['list'] }];
    stand.role('roles', 'daemons', { rules }, 'red');
    stand.bind({ name: 'joe', namespace: 'red', role: 'Role/daemons', subject: { kind: 'User', name: 'joe' } });
    await stand.clock.until(
      () => stand.ask(path, 'joe'),
      ({ status, body }) => status === 200 && Object.keys(body.data).length === 0,
    );
  });
});

describe('a person without rights at the list of nodes', () => {
  test('CO-16 gets an empty list of namespaces, not a refusal', async () => {
    const stand = await startConsole();
    stand.namespace('red');
    const path = `${RESOURCES}/v1alpha3/namespaces?labelSelector=!kubesphere.io/devopsproject&sortBy=createTime&limit=10`;
    expect(await stand.names(path)).toEqual([0]);
    stand.admit('red');
    await stand.shows(path, ['red', 1]);
  });
});

test('CO-19 the labels of a node of the control plane are those of the cluster', async () => {
  const stand = await startConsole();
  const labels = { 'node-role.kubernetes.io/control-plane': '' };
  stand.cluster.objects.patch('nodes', 'node-a', { metadata: { labels } });
  const nodes = `${RESOURCES}/v1alpha3/nodes`;
  await stand.shows(`${nodes}?labelSelector=node-role.kubernetes.io/control-plane`, ['node-a', 1], 'ada');
  expect((await stand.ask(`${nodes}/node-a`, 'ada')).body.metadata.labels).toEqual(labels);
  expect(await stand.names(`${nodes}?labelSelector=node-role.kubernetes.io/master`, 'ada')).toEqual([0]);
});
