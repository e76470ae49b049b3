import { beforeEach, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path } from './api-client.ts';
import { failure, type Suite, tooLarge } from './suite.ts';

const WATCH_LIST = { watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists */
export function describeWatchLists(suite: Suite): void {
  describe('a WatchList', () => {
    let secrets: string;
    beforeEach(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      for (const name of ['a', 'b']) await suite.api.create(secrets, { metadata: { name, labels: { [name]: '' } } });
    });

    test('sends the state, a bookmark that says so, then what happens', async () => {
      const stream = await suite.api.watch(path(secrets, { ...WATCH_LIST, allowWatchBookmarks: 'true' }));
      const [first, second, end] = await stream.take(3);
      const added = [first, second].map(({ type, object }: Json) => `${type} ${object.kind} ${object.metadata.name}`);
      expect(added.sort()).toEqual(['ADDED Secret a', 'ADDED Secret b']);
      expect(end).toMatchObject({
        type: 'BOOKMARK',
        object: {
          kind: 'Secret',
          apiVersion: 'v1',
          metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
        },
      });
      expect(BigInt(end.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        BigInt(second.object.metadata.resourceVersion),
      );
      await suite.api.delete(`${secrets}/a`);
      expect(await stream.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } });
    });

    test('has the bookmark alone where nothing is selected', async () => {
      const query = { ...WATCH_LIST, allowWatchBookmarks: 'true', labelSelector: 'none' };
      const stream = await suite.api.watch(path(secrets, query));
      expect(await stream.next()).toMatchObject({
        type: 'BOOKMARK',
        object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
      });
    });

    test('is never marked complete for a client that takes no bookmarks', async () => {
      const stream = await suite.api.watch(path(secrets, { ...WATCH_LIST, timeoutSeconds: 4 }));
      expect((await stream.rest()).map(({ type }) => type)).toEqual(['ADDED', 'ADDED']);
    });

    test('at an old version is the newest state', async () => {
      const query = { ...WATCH_LIST, resourceVersion: '1', labelSelector: 'b', allowWatchBookmarks: 'true' };
      const stream = await suite.api.watch(path(secrets, query));
      expect((await stream.take(2)).map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    });

    test('at a version that is still to come answers 200 and an ERROR event 504', async () => {
      const query = { ...WATCH_LIST, resourceVersion: '999999999', allowWatchBookmarks: 'true' };
      const stream = await suite.api.watch(path(secrets, query));
      expect(stream.status).toBe(200);
      expect(await stream.rest()).toEqual([{ type: 'ERROR', object: tooLarge('999999999') }]);
    });

    test.each([
      [{ sendInitialEvents: 'true' }, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'],
      [
        { resourceVersionMatch: 'NotOlderThan' },
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ],
    ])('is refused with half of its parameters: %o', async (query, message) => {
      const { status, body } = await suite.api.get(path(secrets, { watch: 'true', ...query }));
      expect(status).toBe(422);
      const field = 'resourceVersionMatch';
      expect(body).toEqual(
        failure(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: Forbidden: ${message}`, {
          group: 'meta.k8s.io',
          kind: 'ListOptions',
          causes: [{ reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field }],
        }),
      );
    });
  });
}
