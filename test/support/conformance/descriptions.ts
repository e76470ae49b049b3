import { describe, expect, test } from 'vitest';
import type { Json } from './api-client.ts';
import type { Suite } from './suite.ts';

const PATH = '/api/v1/namespaces/{namespace}/configmaps/{name}';

export function describeDescriptions(suite: Suite): void {
  describe('the API describes itself', () => {
    test.each(['/apis/apps', '/apis/apps/v1', '/apis/authentication.k8s.io/v1'])('at %s', async (path) => {
      const { status, headers, body } = await suite.api.get(path);
      expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
      expect(body.kind).toBe(path.endsWith('/v1') ? 'APIResourceList' : 'APIGroup');
    });

    test('with the resources of a version, and what may be done to them', async () => {
      const { body } = await suite.api.get('/apis/apps/v1');
      const { verbs, ...resource } = body.resources.find(({ name }: Json) => name === 'deployments');
      expect(resource).toMatchObject({ singularName: 'deployment', namespaced: true, kind: 'Deployment' });
      expect(verbs).toEqual(expect.arrayContaining(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']));
    });

    test('by OpenAPI 2', async () => {
      const { headers, body } = await suite.api.get('/openapi/v2', { headers: { accept: '*/*' } });
      expect(headers['content-type']).toBe('application/json');
      expect(body).toMatchObject({ swagger: '2.0', info: { title: 'Kubernetes', version: '1.34' } });
      expect(body.paths[PATH].get['x-kubernetes-group-version-kind'].kind).toBe('ConfigMap');
    });

    test('by OpenAPI 3, a document for each version: the list of them is JSON, and says that it is text', async () => {
      const { headers, body } = await suite.api.get('/openapi/v3', { headers: { accept: '*/*' } });
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
      const url = body.paths['api/v1'].serverRelativeURL;
      expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=/);
      const { headers: types, body: document } = await suite.api.get(url);
      expect(types['content-type']).toBe('application/json');
      expect(document).toMatchObject({ openapi: '3.0.0', info: { title: 'Kubernetes', version: '1.34' } });
      expect(document.paths[PATH].get['x-kubernetes-group-version-kind'].kind).toBe('ConfigMap');
    });
  });
}
