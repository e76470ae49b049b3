import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path, unique } from './api-client.ts';
import type { Suite } from './suite.ts';

export function describePods(suite: Suite): void {
  describe('a pod', () => {
    let pods: string;
    beforeAll(async () => {
      pods = inNamespace(await suite.api.newNamespace(), 'pods');
    });
    const create = (more: object = {}): Promise<Json> => {
      const containers = [{ name: 'main', image: 'example.test/image', resources: { requests: { cpu: '100m' } } }];
      return suite.api.create(pods, { metadata: { name: unique('pod') }, spec: { containers, ...more } });
    };

    test('is Pending when created, whatever the client says', async () => {
      const containers = [{ name: 'main', image: 'example.test/image' }];
      const { body } = await suite.api.post(pods, {
        metadata: { name: unique('pod') },
        spec: { containers },
        status: { phase: 'Running' },
      });
      expect(body.status.phase).toBe('Pending');
    });

    test('changes its phase by its status subresource', async () => {
      const { metadata } = await create();
      const { body } = await suite.api.patch(`${pods}/${metadata.name}/status`, { status: { phase: 'Running' } });
      expect(body.status.phase).toBe('Running');
    });

    test.each(['attach', 'exec', 'log', 'portforward'])('that is absent has no %s', async (subresource) => {
      const { status, body } = await suite.api.get(`${pods}/absent/${subresource}`);
      expect([status, body.message]).toEqual([404, 'pods "absent" not found']);
    });

    test('on a node is marked and stays when deleted: its kubelet ends it', async () => {
      const { metadata } = await create({ nodeName: unique('node') });
      const url = `${pods}/${metadata.name}`;
      const { status, body } = await suite.api.delete(url);
      expect(status).toBe(200);
      expect(body).toMatchObject({ kind: 'Pod', metadata: { deletionTimestamp: expect.any(String) } });
      expect((await suite.api.get(url)).body.metadata.deletionTimestamp).toBe(body.metadata.deletionTimestamp);
      await suite.api.delete(path(url, { gracePeriodSeconds: 0 }));
      expect((await suite.api.get(url)).status).toBe(404);
    });

    test('on no node is marked and then gone for those who watch', async () => {
      const { metadata } = await create();
      const stream = await suite.api.watch(path(pods, { watch: true, resourceVersion: metadata.resourceVersion }));
      await suite.api.delete(`${pods}/${metadata.name}`);
      const events = await stream.take(2);
      expect(events.map(({ type, object }: Json) => [type, object.metadata.deletionGracePeriodSeconds])).toEqual([
        ['MODIFIED', 0],
        ['DELETED', 0],
      ]);
    });

    test('that is marked is given no more time, but less', async () => {
      const { metadata } = await create({ nodeName: unique('node') });
      const url = `${pods}/${metadata.name}`;
      const remove = async (gracePeriodSeconds: number) =>
        (await suite.api.delete(url, { gracePeriodSeconds })).body.metadata.deletionGracePeriodSeconds;
      expect([await remove(20), await remove(25), await remove(5), await remove(0)]).toEqual([20, 20, 5, 0]);
      expect((await suite.api.get(url)).status).toBe(404);
    });

    test('on no node is gone at once when deleted, and answered as it was', async () => {
      const { metadata } = await create();
      const { status, body } = await suite.api.delete(`${pods}/${metadata.name}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ kind: 'Pod', metadata: { name: metadata.name, uid: metadata.uid } });
      expect((await suite.api.get(`${pods}/${metadata.name}`)).status).toBe(404);
    });
  });
}
