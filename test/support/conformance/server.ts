import { describe, expect, test } from 'vitest';
import type { Suite } from './suite.ts';

export function describeServer(suite: Suite): void {
  describe('the server', () => {
    test('tells its version', async () => {
      const { status, body } = await suite.api.get('/version');
      expect(status).toBe(200);
      expect(body).toMatchObject({ major: '1', minor: '34', gitVersion: 'v1.34.4' });
    });

    test.each(['/healthz', '/livez', '/readyz'])('answers "ok" at %s', async (path) => {
      const { status, headers, text } = await suite.api.get(path);
      expect({ status, type: headers['content-type'], text }).toEqual({
        status: 200,
        type: 'text/plain; charset=utf-8',
        text: 'ok',
      });
    });

    test('has the namespace "default" from the start', async () => {
      const { body } = await suite.api.get('/api/v1/namespaces/default');
      expect(body).toMatchObject({
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: { name: 'default', labels: { 'kubernetes.io/metadata.name': 'default' } },
        status: { phase: 'Active' },
      });
    });
  });
}
