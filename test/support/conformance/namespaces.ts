import { beforeEach, describe, expect, test } from 'vitest';
import { inNamespace } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

/** The deletion of a namespace without controllers, which would remove its objects and then the namespace. */
export function describeNamespaces(suite: Suite): void {
  describe('a namespace', () => {
    let namespace: string;
    let url: string;
    let maps: string;
    beforeEach(async () => {
      namespace = await suite.api.newNamespace();
      url = `/api/v1/namespaces/${namespace}`;
      maps = inNamespace(namespace, 'configmaps');
      await suite.api.create(maps, { metadata: { name: 'a' } });
    });

    test('that is deleted is terminating, and stays with what is in it', async () => {
      const { status, body } = await suite.api.delete(url);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        kind: 'Namespace',
        metadata: { name: namespace, deletionTimestamp: expect.any(String) },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Terminating' },
      });
      expect(body.metadata.deletionGracePeriodSeconds).toBeUndefined();
      expect((await suite.api.get(url)).body).toEqual(body);
      expect((await suite.api.delete(url)).body).toEqual(body);
      expect((await suite.api.get(maps)).body.items).toHaveLength(1);
    });

    test('that is terminating takes no new content, but changes of what is there', async () => {
      await suite.api.delete(url);
      const { status, body } = await suite.api.post(maps, { metadata: { name: 'b' } });
      expect(status).toBe(403);
      const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
      const message = `namespace ${namespace} is being terminated`;
      const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
      const details = { name: 'b', kind: 'configmaps', causes };
      expect(body).toEqual(failure(403, 'Forbidden', `configmaps "b" is forbidden: ${why}`, details));
      expect((await suite.api.patch(`${maps}/a`, { data: { a: '1' } })).status).toBe(200);
      expect((await suite.api.delete(`${maps}/a`)).status).toBe(200);
    });

    test.each(['default', 'kube-system', 'kube-public'])('%s may not be deleted', async (name) => {
      const { status, body } = await suite.api.delete(`/api/v1/namespaces/${name}`);
      expect(status).toBe(403);
      const message = `namespaces "${name}" is forbidden: this namespace may not be deleted`;
      expect(body).toEqual(failure(403, 'Forbidden', message, { name, kind: 'namespaces' }));
    });
  });
}
