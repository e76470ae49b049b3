import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../support/fake-clock.ts';
import { eventsIn, lineCount, startTestCluster, WATCH_NODES } from './test-cluster.ts';

const NODES = '/api/v1/nodes';

describe('the simulated cluster', () => {
  test('describes itself in a kubeconfig', async () => {
    const cluster = await startTestCluster();
    expect(cluster.kubeconfig('secret-token')).toContain(`server: ${cluster.url}\n`);
    expect(cluster.kubeconfig('secret-token')).toContain('token: secret-token\n');
    expect(cluster.kubeconfig()).toContain(`token: ${cluster.adminToken}\n`);
  });

  test('has the version that it is given', async () => {
    const cluster = await startTestCluster({ version: 'v1.31.0' });
    expect((await cluster.call('/version')).body).toMatchObject({ major: '1', minor: '31', gitVersion: 'v1.31.0' });
  });

  test('C-27 takes a token from the request on that follows its change', async () => {
    const cluster = await startTestCluster({ tokens: { old: { username: 'x', groups: ['system:masters'] } } });
    const status = async (token: string): Promise<number> => (await cluster.call(NODES, { token })).status;
    expect([await status('old'), await status('new')]).toEqual([200, 401]);
    cluster.tokens.set('new', { username: 'x', groups: ['system:masters'] });
    cluster.tokens.delete('old');
    expect([await status('old'), await status('new')]).toEqual([401, 200]);
  });

  test('judges its callers by the stored roles', async () => {
    const cluster = await startTestCluster({ tokens: { t: { username: 'alice', groups: [] } } });
    const status = async (): Promise<number> => (await cluster.call(NODES, { token: 't' })).status;
    expect(await status()).toBe(403);
    const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }];
    cluster.objects.create('clusterroles', { metadata: { name: 'r' }, rules });
    cluster.objects.create('clusterrolebindings', {
      metadata: { name: 'r' },
      roleRef: { kind: 'ClusterRole', name: 'r' },
      subjects: [{ kind: 'User', name: 'alice' }],
    });
    expect(await status()).toBe(200);
  });

  test('lets a script decide reviews, not its own callers', async () => {
    const cluster = await startTestCluster({ authorize: ({ user }) => user === 'alice' });
    const ask = async (user: string) => {
      const spec = { user, resourceAttributes: { verb: 'list', resource: 'nodes' } };
      const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
      return (await cluster.call(path, { method: 'POST', body: { spec } })).body.status;
    };
    expect([await ask('alice'), await ask('bob')]).toEqual([{ allowed: true }, { allowed: false }]);
  });

  test('reviews a token', async () => {
    const cluster = await startTestCluster({ tokens: { t: { username: 'alice', groups: ['g'] } } });
    const ask = async (token: string) => {
      const path = '/apis/authentication.k8s.io/v1/tokenreviews';
      return (await cluster.call(path, { method: 'POST', body: { spec: { token } } })).body.status;
    };
    expect(await ask('t')).toMatchObject({
      authenticated: true,
      user: { username: 'alice', groups: ['g', 'system:authenticated'] },
    });
    expect(await ask('unknown')).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  test('refuses sendInitialEvents where WatchList is off', async () => {
    const cluster = await startTestCluster({ watchList: false });
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const { status, body } = await cluster.call(`${NODES}?${query}`);
    expect(status).toBe(422);
    expect(body.details.causes).toEqual([
      {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        field: 'sendInitialEvents',
      },
    ]);
  });

  test('sends bookmarks at the interval of its clock', async () => {
    const clock = new FakeClock();
    const cluster = await startTestCluster({ clock, bookmarkIntervalMs: 60_000 });
    const watch = await cluster.stream(`${WATCH_NODES}${cluster.objects.resourceVersion}&allowWatchBookmarks=true`);
    await clock.advance(60_000);
    cluster.objects.create('namespaces', { metadata: { name: 'elsewhere' } });
    await clock.advance(60_000);
    const versions = eventsIn(await watch.until((text) => lineCount(text) === 2)).map(
      ({ object }) => object.metadata.resourceVersion,
    );
    expect(versions).toEqual(['5', '6']); // four namespaces of the start, then the fifth
  });

  test.each([
    ['DELETE', '/api/v1/nodes', 'delete collections; delete the objects one by one'],
    ['PUT', '/api/v1/namespaces/default/finalize', 'serve namespaces/finalize'],
    ['POST', '/api/v1/namespaces/default/pods/a/eviction', 'serve pods/eviction'],
    ['GET', '/apis/apps/v1/namespaces/default/deployments/a/scale', 'serve deployments/scale'],
  ])('says that it does not do %s %s', async (method, path, what) => {
    const cluster = await startTestCluster();
    const { status, body } = await cluster.call(path, { method });
    expect([status, body.message]).toEqual([501, `the simulated cluster does not ${what}`]);
  });

  test('sends no bookmark with an interval of 0', async () => {
    const clock = new FakeClock();
    const cluster = await startTestCluster({ clock, bookmarkIntervalMs: 0 });
    const query = `${cluster.objects.resourceVersion}&allowWatchBookmarks=true&timeoutSeconds=600`;
    const watch = await cluster.stream(`${WATCH_NODES}${query}`);
    await clock.advance(600_000);
    expect(await watch.ended).toBe('complete');
    expect(await watch.until(() => true)).toBe('');
  });

  test('C-01 resets every connection at a restart and comes back with its state', async () => {
    const clock = new FakeClock();
    const cluster = await startTestCluster({ clock });
    cluster.objects.create('nodes', { metadata: { name: 'a' } });
    const watch = await cluster.stream(`${WATCH_NODES}1`);
    const restarted = cluster.restart(5_000);
    expect(await watch.ended).toBe('ECONNRESET');
    await expect(cluster.call(NODES)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await clock.advance(5_000);
    await restarted;
    expect((await cluster.call(NODES)).body.items).toHaveLength(1);
  });

  test('C-23 goes back in time at a restore and drops its watches', async () => {
    const cluster = await startTestCluster();
    const before = cluster.objects.resourceVersion;
    cluster.objects.create('nodes', { metadata: { name: 'a' } });
    const watch = await cluster.stream(`${WATCH_NODES}${cluster.objects.resourceVersion}`);
    cluster.restore(before);
    expect(await watch.ended).toBe('ECONNRESET');
    expect((await cluster.call(NODES)).body).toMatchObject({ metadata: { resourceVersion: before }, items: [] });
  });
});
