import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { waitFor } from '../waiting.ts';
import { inNamespace, type Json, path, unique } from './api-client.ts';
import { RBAC, RBAC_GROUP } from './rights.ts';
import type { Suite } from './suite.ts';

/** The namespace and the name for which a request is authorized. */
export function describeJudgedNames(suite: Suite): void {
  describe('a right', () => {
    let namespace: string;
    beforeEach(async () => {
      namespace = await suite.api.newNamespace();
    });
    const powerless = () => ({ token: suite.target.powerlessToken });
    const get = (url: string) => suite.api.get(url, powerless());

    /** Grants rules by a role in the namespace. Resolves when the server applies them. */
    async function give(...rules: Json[]): Promise<void> {
      const name = unique('role');
      const roles = `${RBAC}/namespaces/${namespace}/role`;
      await suite.api.create(`${roles}s`, { metadata: { name }, rules });
      const subjects = [{ apiGroup: RBAC_GROUP, kind: 'User', name: 'nobody' }];
      const roleRef = { apiGroup: RBAC_GROUP, kind: 'Role', name };
      await suite.api.create(`${roles}bindings`, { metadata: { name }, roleRef, subjects });
      const [{ verbs, apiGroups, resources, resourceNames = [] }] = rules as [Json];
      const [verb, group, resource, one = ''] = [verbs[0], apiGroups[0], resources[0], resourceNames[0]];
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
      const resourceAttributes = { namespace, verb, group, resource, name: one };
      await waitFor(
        () =>
          suite.api.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
            ...review,
            spec: { user: 'nobody', resourceAttributes },
          }),
        ({ status }) => status.allowed,
        { turn: () => sleep(5), looks: 12_000 },
      );
    }

    test('in a namespace is a right to the namespace itself', async () => {
      await give({ verbs: ['get', 'patch'], apiGroups: [''], resources: ['namespaces'] });
      expect((await get(`/api/v1/namespaces/${namespace}`)).status).toBe(200);
      const other = await suite.api.newNamespace();
      const { status, body } = await get(`/api/v1/namespaces/${other}`);
      expect(status).toBe(403);
      expect(body.message).toMatch(new RegExp(`cannot get resource "namespaces" .* in the namespace "${other}"$`));
      expect((await get('/api/v1/namespaces')).status).toBe(403);
    });

    test('to one name is a right to the list and the watch of that name', async () => {
      await give({ verbs: ['list', 'watch'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] });
      const maps = inNamespace(namespace, 'configmaps');
      const list = async (fieldSelector: string) => (await get(path(maps, { fieldSelector }))).status;
      expect(await list('metadata.name=a')).toBe(200);
      expect(await list('metadata.name==a')).toBe(200);
      expect(await list(`metadata.name=a,metadata.namespace=${namespace}`)).toBe(200);
      for (const selector of ['', 'metadata.name=b', 'metadata.name!=a', `metadata.namespace=${namespace}`])
        expect([selector, await list(selector)]).toEqual([selector, 403]);
      const query = { fieldSelector: 'metadata.name=a', watch: true, timeoutSeconds: 1 };
      expect((await suite.api.watch(path(maps, query), powerless())).status).toBe(200);
      const { body } = await get(path(maps, { fieldSelector: 'metadata.name=b' }));
      expect(body.details).toEqual({ name: 'b', kind: 'configmaps' });
    });
  });
}
