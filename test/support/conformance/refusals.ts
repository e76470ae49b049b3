import { describe, expect, test } from 'vitest';
import { inNamespace, NODES, path } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

export function describeRefusals(suite: Suite): void {
  describe('a refusal', () => {
    const nobody = () => ({ token: suite.target.powerlessToken });

    test('of an absent object is 404 with its name', async () => {
      const { status, headers, body } = await suite.api.get(`${NODES}/absent`);
      expect(status).toBe(404);
      expect(headers['content-type']).toBe('application/json');
      expect(body).toEqual(failure(404, 'NotFound', 'nodes "absent" not found', { name: 'absent', kind: 'nodes' }));
    });

    test('of an unknown resource is 404 without one', async () => {
      const { status, body } = await suite.api.get('/api/v1/unknown');
      expect(status).toBe(404);
      expect(body).toEqual(failure(404, 'NotFound', 'the server could not find the requested resource', {}));
    });

    test('of an unknown path is plain text', async () => {
      const { status, headers, text } = await suite.api.get('/unknown');
      expect({ status, type: headers['content-type'], text }).toEqual({
        status: 404,
        type: 'text/plain; charset=utf-8',
        text: '404 page not found\n',
      });
    });

    test('of a method that the resource does not have is 405', async () => {
      const { status, body } = await suite.api.put(NODES, {});
      expect(status).toBe(405);
      const message = 'the server does not allow this method on the requested resource';
      expect(body).toEqual(failure(405, 'MethodNotAllowed', message, {}));
    });

    test('of an unknown token is 401, without a challenge', async () => {
      const { status, headers, body } = await suite.api.get(NODES, { token: 'unknown' });
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBeUndefined();
      expect(body).toEqual(failure(401, 'Unauthorized', 'Unauthorized'));
    });

    test('of a request without a token is 403 of the anonymous user', async () => {
      const { status, body } = await suite.api.get(NODES, { token: '' });
      expect(status).toBe(403);
      const message =
        'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope';
      expect(body).toEqual(failure(403, 'Forbidden', message, { kind: 'nodes' }));
    });

    test.each([
      [NODES, 'list'],
      [path(NODES, { watch: 'true' }), 'watch'],
    ])('of %s without the right is 403 and names the verb', async (url, verb) => {
      const { status, body } = await suite.api.get(url, nobody());
      expect(status).toBe(403);
      const message = `nodes is forbidden: User "nobody" cannot ${verb} resource "nodes" in API group "" at the cluster scope`;
      expect(body).toEqual(failure(403, 'Forbidden', message, { kind: 'nodes' }));
    });

    test('of an object without the right is 403, whether it exists or not', async () => {
      const { status, body } = await suite.api.get(inNamespace('default', 'secrets/absent'), nobody());
      expect(status).toBe(403);
      const message =
        'secrets "absent" is forbidden: User "nobody" cannot get resource "secrets" in API group "" in the namespace "default"';
      expect(body).toEqual(failure(403, 'Forbidden', message, { name: 'absent', kind: 'secrets' }));
    });

    test('of a group resource names the group', async () => {
      const { body } = await suite.api.get('/apis/coordination.k8s.io/v1/namespaces/default/leases', nobody());
      const message =
        'leases.coordination.k8s.io is forbidden: User "nobody" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "default"';
      expect(body).toEqual(failure(403, 'Forbidden', message, { group: 'coordination.k8s.io', kind: 'leases' }));
    });
  });
}
