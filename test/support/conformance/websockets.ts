import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, path } from './api-client.ts';
import { failure, type Suite } from './suite.ts';
import { openWebsocket } from './websocket-client.ts';

export function describeWebsockets(suite: Suite): void {
  describe('a watch by websocket', () => {
    let maps: string;
    beforeAll(async () => {
      maps = inNamespace(await suite.api.newNamespace(), 'configmaps');
      await suite.api.create(maps, { metadata: { name: 'a' }, data: { text: 'x'.repeat(70_000) } });
      await suite.api.create(maps, { metadata: { name: 'b' }, data: { text: 'x'.repeat(200) } });
    });
    const origin = { origin: 'http://a.test' };
    const watch = (headers: Readonly<Record<string, string>>) =>
      openWebsocket(suite.target, path(maps, { watch: true, resourceVersion: 0, timeoutSeconds: 1 }), headers);

    test('is agreed to, an event in a frame, until its time is over', async () => {
      const { status, headers, events, closedWith } = await watch(origin);
      expect(status).toBe(101);
      expect(headers).toMatchObject({
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      });
      expect(headers['sec-websocket-protocol']).toBeUndefined();
      expect(events.map(({ type, object }) => [type, object.kind, object.metadata.name])).toEqual([
        ['ADDED', 'ConfigMap', 'a'],
        ['ADDED', 'ConfigMap', 'b'],
      ]);
      expect(closedWith).toBe(1000);
    });

    test('is agreed to in the old form of the path', async () => {
      const old = maps.replace('/api/v1/', '/api/v1/watch/');
      const query = { resourceVersion: 0, timeoutSeconds: 1 };
      const { status, events } = await openWebsocket(suite.target, path(old, query), origin);
      expect([status, events.map(({ type, object }) => `${type} ${object.metadata.name}`)]).toEqual([
        101,
        ['ADDED a', 'ADDED b'],
      ]);
    });

    test('has the one subprotocol that was offered', async () => {
      const { status, headers } = await watch({ ...origin, 'sec-websocket-protocol': 'base64.binary.k8s.io' });
      expect([status, headers['sec-websocket-protocol']]).toEqual([101, 'base64.binary.k8s.io']);
    });

    test.each([
      ['without an Origin', {}],
      ['from a null Origin', { origin: 'null' }],
    ])('%s is refused in no words', async (_, headers) => {
      expect(await watch(headers)).toMatchObject({ status: 403, text: '' });
    });

    test('without the right is refused as any watch', async () => {
      const { status, text } = await watch({ ...origin, authorization: `Bearer ${suite.target.powerlessToken}` });
      expect(status).toBe(403);
      const namespace = maps.split('/')[4];
      const message = `configmaps is forbidden: User "nobody" cannot watch resource "configmaps" in API group "" in the namespace "${namespace}"`;
      expect(JSON.parse(text)).toEqual(failure(403, 'Forbidden', message, { kind: 'configmaps' }));
    });
  });
}
