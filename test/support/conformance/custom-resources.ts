import { beforeEach, describe, expect, test } from 'vitest';
import { type Json, path, unique } from './api-client.ts';
import { failure, OUTDATED, type Suite } from './suite.ts';

const GROUP = 'iam.gatehouse.io';
export const USERS = `/apis/${GROUP}/v1alpha2/users`;

export function describeCustomResources(suite: Suite): void {
  describe('a custom resource', () => {
    let user: Json;
    let url: string;
    beforeEach(async () => {
      const metadata = { name: unique('user'), labels: { a: '1' } };
      user = await suite.api.create(USERS, userOf({ metadata, spec: { lang: 'en' }, status: { state: 'Active' } }));
      url = `${USERS}/${metadata.name}`;
    });
    const about = () => ({ name: user.metadata.name, group: GROUP, kind: 'users' });
    const conflict = () =>
      failure(
        409,
        'Conflict',
        `Operation cannot be fulfilled on users.${GROUP} "${user.metadata.name}": ${OUTDATED}`,
        about(),
      );

    test('is found by discovery, with its status where it has one', async () => {
      const { body } = await suite.api.get(`/apis/${GROUP}/v1alpha2`);
      expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: `${GROUP}/v1alpha2` });
      const found = body.resources.map(({ name, kind, namespaced }: Json) => `${name} ${kind} ${namespaced}`);
      expect(found.sort()).toEqual(['loginrecords LoginRecord false', 'users User false', 'users/status User false']);
      const { body: groups } = await suite.api.get('/apis');
      const version = { groupVersion: `${GROUP}/v1alpha2`, version: 'v1alpha2' };
      expect(groups.groups).toContainEqual({ name: GROUP, versions: [version], preferredVersion: version });
    });

    test('has its type in a list, which built-in objects have not', async () => {
      const { body } = await suite.api.get(path(USERS, { fieldSelector: `metadata.name=${user.metadata.name}` }));
      expect(body.items).toEqual([user]);
    });

    test('without the status subresource has no status of its own', async () => {
      const records = `/apis/${GROUP}/v1alpha2/loginrecords`;
      const name = unique('record');
      await suite.api.create(records, { ...userOf({ metadata: { name }, spec: {} }), kind: 'LoginRecord' });
      for (const { status, body } of [
        await suite.api.get(`${records}/${name}/status`),
        await suite.api.patch(`${records}/${name}/status`, { status: {} }),
      ])
        expect([status, body.message]).toEqual([404, `loginrecords.${GROUP} "${name}" not found`]);
    });

    test('is created without the status of the body, in generation 1', async () => {
      expect(user).toMatchObject({ kind: 'User', apiVersion: `${GROUP}/v1alpha2`, spec: { lang: 'en' } });
      expect(user.metadata.generation).toBe(1);
      expect(user.status).toBeUndefined();
      expect((await suite.api.get(url)).body).toEqual(user);
    });

    test('keeps its status at an update, which begins a generation where it changes more than metadata', async () => {
      await suite.api.patch(`${url}/status`, { status: { state: 'Active' } });
      const { body: stored } = await suite.api.get(url);
      expect(stored.metadata.generation).toBe(1);
      const changed = { ...stored, spec: { lang: 'de' }, status: { state: 'Disabled' } };
      const { status, body } = await suite.api.put(url, changed);
      expect(status).toBe(200);
      expect(body).toMatchObject({ spec: { lang: 'de' }, status: { state: 'Active' }, metadata: { generation: 2 } });
      const labelled = await suite.api.put(url, { ...body, metadata: { ...body.metadata, labels: { b: '2' } } });
      expect(labelled.body.metadata).toMatchObject({ generation: 2, labels: { b: '2' } });
    });

    test('is not updated without a version', async () => {
      const { resourceVersion: _, ...metadata } = user.metadata;
      const { status, body } = await suite.api.put(url, { ...user, metadata });
      expect(status).toBe(422);
      const message = 'Invalid value: 0: must be specified for an update';
      const text = `users.${GROUP} "${metadata.name}" is invalid: metadata.resourceVersion: ${message}`;
      const causes = [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }];
      expect(body).toEqual(failure(422, 'Invalid', text, { ...about(), causes }));
    });

    test('is not updated at an older version, nor as another object of its name', async () => {
      await suite.api.patch(url, { metadata: { labels: { a: '2' } } });
      const { status, body } = await suite.api.put(url, user);
      expect(status).toBe(409);
      expect(body).toEqual(conflict());
      const { body: stored } = await suite.api.get(url);
      const other = { ...stored, metadata: { ...stored.metadata, uid: '0d9c2b0e-6a3f-4c57-9a51-3f1f6c1f7a55' } };
      expect((await suite.api.put(url, other)).status).toBe(409);
    });

    test('by merge patch keeps its status', async () => {
      const { status, body } = await suite.api.patch(url, { spec: { lang: null }, status: { state: 'Active' } });
      expect(status).toBe(200);
      expect(body.spec).toEqual({});
      expect(body.status).toBeUndefined();
      expect(body.metadata.generation).toBe(2);
    });

    // A node is different: its labels change with an update of its status.
    test('by merge patch of its status keeps all else', async () => {
      const patch = { metadata: { labels: { a: '2' } }, spec: { lang: 'de' }, status: { state: 'Active' } };
      const { status, body } = await suite.api.patch(`${url}/status`, patch);
      expect(status).toBe(200);
      const { resourceVersion } = body.metadata;
      expect(BigInt(resourceVersion)).toBeGreaterThan(BigInt(user.metadata.resourceVersion));
      const { managedFields: _, ...kept } = user.metadata;
      expect(body).toMatchObject({ ...user, metadata: { ...kept, resourceVersion }, status: { state: 'Active' } });
    });

    test('by merge patch of its status with an older version is refused', async () => {
      await suite.api.patch(`${url}/status`, { status: { state: 'Active' } });
      const { resourceVersion } = user.metadata;
      const patch = { metadata: { resourceVersion }, status: { state: 'Disabled' } };
      const { status, body } = await suite.api.patch(`${url}/status`, patch);
      expect(status).toBe(409);
      expect(body).toEqual(conflict());
    });

    test('knows no strategic merge patch', async () => {
      const { status } = await suite.api.patch(url, {}, 'application/strategic-merge-patch+json');
      expect(status).toBe(415);
    });

    test('that is absent is named by its group', async () => {
      const { status, body } = await suite.api.get(`${USERS}/absent`);
      expect(status).toBe(404);
      expect(body).toEqual(
        failure(404, 'NotFound', `users.${GROUP} "absent" not found`, { ...about(), name: 'absent' }),
      );
    });
  });
}

/** The body of a User. It must have `kind` and `apiVersion`, because the server does not add them to a custom resource. */
export const userOf = (parts: object): object => ({ apiVersion: `${GROUP}/v1alpha2`, kind: 'User', ...parts });
