import { beforeEach, describe, expect, test } from 'vitest';
import { type Json, path, unique } from './api-client.ts';
import { USERS, userOf } from './custom-resources.ts';
import { failure, type Suite } from './suite.ts';

const DRY = { dryRun: 'All' };

export function describeDryRuns(suite: Suite): void {
  describe('a dry run', () => {
    let user: Json;
    let url: string;
    beforeEach(async () => {
      const name = unique('user');
      user = await suite.api.create(USERS, userOf({ metadata: { name }, spec: { lang: 'en' } }));
      url = `${USERS}/${name}`;
    });
    const unchanged = async (): Promise<void> => expect((await suite.api.get(url)).body).toEqual(user);

    test('of a creation answers an object without a version, and stores none', async () => {
      const name = unique('user');
      const { status, body } = await suite.api.post(path(USERS, DRY), userOf({ metadata: { name } }));
      expect(status).toBe(201);
      expect(body.metadata).toMatchObject({ name, uid: expect.any(String), creationTimestamp: expect.any(String) });
      expect(body.metadata.resourceVersion).toBeUndefined();
      expect((await suite.api.get(`${USERS}/${name}`)).status).toBe(404);
    });

    test('of a creation is refused where the name is taken', async () => {
      const { name } = user.metadata;
      expect((await suite.api.post(path(USERS, DRY), userOf({ metadata: { name } }))).status).toBe(409);
    });

    test('of an update answers what would be stored', async () => {
      const { status, body } = await suite.api.put(path(url, DRY), { ...user, spec: { lang: 'de' } });
      expect(status).toBe(200);
      expect(body.spec).toEqual({ lang: 'de' });
      expect(body.metadata.resourceVersion).toBe(user.metadata.resourceVersion);
      await unchanged();
    });

    test('of a patch answers what would be stored', async () => {
      const { status, body } = await suite.api.patch(path(url, DRY), { spec: { lang: 'de' } });
      expect(status).toBe(200);
      expect(body.spec).toEqual({ lang: 'de' });
      await unchanged();
    });

    test('of an update is refused at an older version', async () => {
      const { body: newer } = await suite.api.patch(url, { spec: { lang: 'fr' } });
      expect((await suite.api.put(path(url, DRY), user)).status).toBe(409);
      user = newer;
      await unchanged();
    });

    test('of a deletion removes nothing, asked for in the query or in the options', async () => {
      const byQuery = await suite.api.delete(path(url, DRY));
      expect(byQuery.status).toBe(200);
      expect(byQuery.body).toMatchObject({ kind: 'Status', status: 'Success' });
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
      expect((await suite.api.delete(url, options)).body).toMatchObject({ kind: 'Status', status: 'Success' });
      await unchanged();
    });

    test('of a deletion checks that there is such an object, in that state', async () => {
      expect((await suite.api.delete(path(`${USERS}/absent`, DRY))).status).toBe(404);
      const preconditions = { uid: '0d9c2b0e-6a3f-4c57-9a51-3f1f6c1f7a55' };
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'], preconditions };
      expect((await suite.api.delete(url, options)).status).toBe(409);
    });

    test('is all or nothing', async () => {
      const { status, body } = await suite.api.post(
        path(USERS, { dryRun: 'Some' }),
        userOf({ metadata: { name: 'x' } }),
      );
      expect(status).toBe(422);
      const message = 'Unsupported value: ["Some"]: supported values: "All"';
      expect(body).toEqual(
        failure(422, 'Invalid', `CreateOptions.meta.k8s.io "" is invalid: dryRun: ${message}`, {
          group: 'meta.k8s.io',
          kind: 'CreateOptions',
          causes: [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }],
        }),
      );
    });
  });
}
