import { beforeEach, describe, expect, test } from 'vitest';
import { type Json, NODES, unique } from './api-client.ts';
import { failure, OUTDATED, type Suite } from './suite.ts';

export function describeUpdates(suite: Suite): void {
  describe('an update', () => {
    let node: Json;
    let url: string;
    beforeEach(async () => {
      const name = unique('node');
      url = `${NODES}/${name}`;
      node = await suite.api.create(NODES, { metadata: { name, labels: { a: '1', b: '1' } } });
    });
    const conflict = (name: string): object =>
      failure(409, 'Conflict', `Operation cannot be fulfilled on nodes "${name}": ${OUTDATED}`, {
        name,
        kind: 'nodes',
      });

    test('at the stored version replaces the object', async () => {
      const metadata = { ...node.metadata, labels: { c: '1' } };
      const { status, body } = await suite.api.put(url, { ...node, metadata });
      expect(status).toBe(200);
      expect(body.metadata.labels).toEqual({ c: '1' });
      expect(body.metadata.uid).toBe(node.metadata.uid);
      expect(BigInt(body.metadata.resourceVersion)).toBeGreaterThan(BigInt(node.metadata.resourceVersion));
    });

    test('at an older version is refused', async () => {
      await suite.api.patch(url, { metadata: { labels: { a: '2' } } });
      const { status, body } = await suite.api.put(url, node);
      expect(status).toBe(409);
      expect(body).toEqual(conflict(node.metadata.name));
    });

    test('without a version replaces whatever is there', async () => {
      const { name } = node.metadata;
      const { status, body } = await suite.api.put(url, { kind: 'Node', apiVersion: 'v1', metadata: { name } });
      expect(status).toBe(200);
      expect(body.metadata.labels).toBeUndefined();
    });

    test('that changes nothing keeps the version', async () => {
      expect((await suite.api.put(url, node)).body).toEqual(node);
      expect((await suite.api.patch(url, { metadata: { labels: { a: '1' } } })).body).toEqual(node);
    });

    test('of an absent object is refused', async () => {
      const { status, body } = await suite.api.put(`${NODES}/absent`, { metadata: { name: 'absent' } });
      expect(status).toBe(404);
      expect(body).toEqual(failure(404, 'NotFound', 'nodes "absent" not found', { name: 'absent', kind: 'nodes' }));
    });

    test('with another name than the path is refused', async () => {
      const { name } = node.metadata;
      const { status, body } = await suite.api.put(url, { metadata: { name: 'other' } });
      expect(status).toBe(400);
      const message = `the name of the object (other) does not match the name on the URL (${name})`;
      expect(body).toEqual(failure(400, 'BadRequest', message));
    });

    test('by merge patch changes what it names and drops what it sets to null', async () => {
      const { status, body } = await suite.api.patch(url, { metadata: { labels: { a: null, c: '3' } } });
      expect(status).toBe(200);
      expect(body.metadata.labels).toEqual({ b: '1', c: '3' });
    });

    test('by merge patch with an older version is refused', async () => {
      const { resourceVersion } = node.metadata;
      await suite.api.patch(url, { metadata: { labels: { a: '2' } } });
      const { status, body } = await suite.api.patch(url, { metadata: { resourceVersion, labels: { a: '3' } } });
      expect(status).toBe(409);
      expect(body).toEqual(conflict(node.metadata.name));
    });

    test('by patch of an absent object is refused', async () => {
      const { status, body } = await suite.api.patch(`${NODES}/absent`, {});
      expect(status).toBe(404);
      expect(body).toEqual(failure(404, 'NotFound', 'nodes "absent" not found', { name: 'absent', kind: 'nodes' }));
    });

    test('by patch of a plain JSON type is refused', async () => {
      const { status, body } = await suite.api.patch(url, {}, 'application/json');
      expect(status).toBe(415);
      expect(body).toEqual(failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}));
    });

    test('of the main resource leaves the status alone', async () => {
      const { body } = await suite.api.patch(url, { metadata: { labels: { a: '2' } }, status: { phase: 'Running' } });
      expect(body.metadata.labels.a).toBe('2');
      expect(body.status).toEqual(node.status);
    });

    // An update of a node's status changes its labels, too; a kubelet relies on that.
    test('of the status leaves the spec alone, not the labels', async () => {
      const { status, body } = await suite.api.patch(`${url}/status`, {
        metadata: { labels: { a: '2' } },
        spec: { unschedulable: true },
        status: { phase: 'Running' },
      });
      expect(status).toBe(200);
      expect(body.metadata.labels.a).toBe('2');
      expect(body.status.phase).toBe('Running');
      expect(body.spec).toEqual(node.spec);
    });
  });
}
