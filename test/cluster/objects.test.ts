import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterError } from '../../src/kubernetes/client/api-client.ts';
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts';
import { createLease } from '../../src/kubernetes/leases/lease.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';

const LEASES = {
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
  namespace: 'default',
};
const RBAC = 'rbac.authorization.k8s.io';
const bindings = { group: RBAC, version: 'v1', resource: 'clusterrolebindings', kind: 'ClusterRoleBinding' };

/** Of 400 lists from the watch cache of a quiet API server, seven lacked what was made right before. */
const ROUNDS = 400;

const parts = { clock: systemClock, random: systemRandom, logger: pino({ level: 'silent' }) };
let plane: ControlPlane;
let cluster: Cluster;
beforeAll(async () => {
  plane = await startControlPlane({ tokens: { ours: { username: 'gatehouse', groups: [] } } });
  const kubeconfig = await plane.kubeconfigFile();
  cluster = await connectCluster({ kubeconfig }, { ...parts, registry: new Registry() });
});
afterAll(async () => {
  await cluster?.close();
  await plane?.stop();
});

const refusalOf = (promise: Promise<unknown>): Promise<ClusterError> =>
  promise.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ClusterError);
      return error as ClusterError;
    },
  );

describe('on a real API server', () => {
  test('a lease is taken, renewed, given back, and taken by another', async () => {
    const run = (identity: string) => {
      const lease = createLease({ name: 'tidy', namespace: 'default', identity }, { cluster, ...parts });
      const controller = new AbortController();
      const ended = lease.run(controller.signal);
      return {
        lease,
        stop: async () => {
          controller.abort();
          await ended;
        },
      };
    };
    const stored = async () => (await cluster.objects(LEASES).get('tidy'))?.['spec'] as Record<string, unknown>;
    const a = run('a');
    await eventually(async () => a.lease.isHolder(), Boolean);
    const before = await stored();
    await eventually(stored, (spec) => spec['renewTime'] !== before['renewTime']);
    const b = run('b');
    await a.stop();
    await eventually(async () => b.lease.isHolder(), Boolean);
    expect(a.lease.isHolder()).toBe(false);
    expect(await stored()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1, leaseDurationSeconds: 15 });
    await b.stop();
    expect(await stored()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  });

  test('a binding is tried and made as somebody else, by his rights', async () => {
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ apiGroup: RBAC, kind: 'User', name: 'bob' }];
    const binding = { metadata: { name: 'bob-admin' }, roleRef, subjects };
    const as = { name: 'ada', groups: ['assigners', 'system:authenticated'] };
    const refused = await refusalOf(cluster.objects(bindings).create(binding, { as, dryRun: true }));
    expect(refused.status).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(refused.isOfImpersonation).toBe(false);
    const create = ['create', 'clusterrole', 'assigner', '--verb=create', '--resource=clusterrolebindings'];
    await plane.kubectl(create);
    await plane.kubectl(['create', 'clusterrolebinding', 'assigners', '--clusterrole=assigner', '--group=assigners']);
    const escalating = await eventually(
      () => refusalOf(cluster.objects(bindings).create(binding, { as, dryRun: true })),
      ({ status }) => status.message.includes('not currently held'),
    );
    expect(escalating.status.code).toBe(403);
    await plane.kubectl(['create', 'clusterrolebinding', 'admins', '--clusterrole=cluster-admin', '--group=assigners']);
    const tried = await eventually(
      () =>
        cluster
          .objects(bindings)
          .create(binding, { as, dryRun: true })
          .catch(() => undefined),
      (made) => made !== undefined,
    );
    expect(tried?.metadata).toMatchObject({ name: 'bob-admin', resourceVersion: '0' });
    expect(await cluster.objects(bindings).get('bob-admin')).toBeUndefined();
    expect((await cluster.objects(bindings).create(binding, { as })).metadata.name).toBe('bob-admin');
  });

  test('it is told apart that we may not act as somebody else', async () => {
    const kubeconfig = await plane.kubeconfigFile('ours');
    const ours = await connectCluster({ kubeconfig }, { ...parts, registry: new Registry() });
    const as = { name: 'ada', groups: [] };
    const refused = await refusalOf(ours.objects(bindings).create({ metadata: { name: 'x' } }, { as }));
    await ours.close();
    expect(refused.isOfImpersonation).toBe(true);
  });

  test('what is wrong with an object is passed on field by field', async () => {
    const spec = { holderIdentity: 'a', leaseDurationSeconds: -1 };
    const refused = await refusalOf(cluster.objects(LEASES).create({ metadata: { name: 'Bad_Name' }, spec }));
    expect(refused.status).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(refused.causes.map(({ field }) => field)).toEqual(['metadata.name', 'spec.leaseDurationSeconds']);
  });

  test('A-54 a list has what was made, and lacks what was removed, right before it', async () => {
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' };
    const objects = cluster.objects(bindings);
    const listed = async (name: string) => (await objects.list(`of=${name}`)).map(({ metadata }) => metadata.name);
    const late: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const name = `round-${round}`;
      await objects.create({ metadata: { name, labels: { of: name } }, roleRef, subjects: [] });
      if ((await listed(name)).length === 0) late.push(`${name} made`);
      await objects.remove(name);
      if ((await listed(name)).length > 0) late.push(`${name} removed`);
    }
    expect(late).toEqual([]);
  });

  test('a list of everything comes in one piece or in many', async () => {
    const names = (await cluster.objects({ ...bindings, resource: 'clusterroles', kind: 'ClusterRole' }).list('')).map(
      ({ metadata }) => metadata.name,
    );
    expect(names).toContain('cluster-admin');
    expect(await cluster.objects(bindings).list('of=nobody')).toEqual([]);
  });
});
