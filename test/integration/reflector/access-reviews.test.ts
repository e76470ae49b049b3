import { describe, expect, test } from 'vitest';
import { connect } from './mirror.ts';

const alice = { name: 'alice', uid: 'u-1', groups: ['staff', 'system:authenticated'] };
const listNodes = { verb: 'list', group: 'resources.gatehouse.io', version: 'v1alpha3', resource: 'nodes' };
const signal = () => AbortSignal.timeout(30_000);

describe('access review', () => {
  test('sends user, uid, groups and every attribute, and answers what the cluster allows', async () => {
    const { cluster, server } = await connect({ authorize: (spec) => spec.user === 'alice' });
    const attributes = { resource: { ...listNodes, name: 'worker-1', namespace: 'n', subresource: 'status' } };
    expect(await cluster.reviewer.review(alice, attributes, signal())).toBe(true);
    expect(JSON.parse(server.evidence.requests.at(-1)!.body.toString())).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: 'alice', uid: 'u-1', groups: alice.groups, resourceAttributes: attributes.resource },
    });
    expect(await cluster.reviewer.review({ ...alice, name: 'bob' }, attributes, signal())).toBe(false);
  });

  test('asks for a path where no resource is named', async () => {
    const { cluster, server } = await connect({ authorize: () => true });
    const nonResource = { path: '/kapis', verb: 'get' };
    expect(await cluster.reviewer.review(alice, { nonResource }, signal())).toBe(true);
    const { spec } = JSON.parse(server.evidence.requests.at(-1)!.body.toString());
    expect(spec.nonResourceAttributes).toEqual(nonResource);
  });

  test.each([401, 403, 429, 500, 503])('rejects when the cluster answers %i', async (status) => {
    const { cluster, server } = await connect();
    server.faults.times(2, { kind: 'subjectaccessreviews' }, { status });
    await expect(cluster.reviewer.review(alice, { resource: listNodes }, signal())).rejects.toThrow(String(status));
  });

  test('rejects as soon as it is given up', async () => {
    const { cluster, server } = await connect();
    server.faults.next({ kind: 'subjectaccessreviews' }, { connection: 'silence' });
    const controller = new AbortController();
    const review = cluster.reviewer.review(alice, { resource: listNodes }, controller.signal);
    await server.evidence.until(() => server.evidence.count('create', 'subjectaccessreviews') === 1);
    controller.abort();
    await expect(review).rejects.toThrow('aborted');
  });
});
