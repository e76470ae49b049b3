import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, unique } from './api-client.ts';
import { USERS, userOf } from './custom-resources.ts';
import { failure, type Suite } from './suite.ts';

const ONE = 'example.com/one';
const TWO = 'example.com/two';

export function describeFinalizers(suite: Suite): void {
  describe('an object with finalizers', () => {
    let secrets: string;
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
    });
    const newUser = async (): Promise<{ url: string; user: Json }> => {
      const name = unique('user');
      const user = await suite.api.create(USERS, userOf({ metadata: { name, finalizers: [ONE, TWO] } }));
      return { url: `${USERS}/${name}`, user };
    };

    test('is only marked by its deletion, which is answered with the object', async () => {
      const { url, user } = await newUser();
      const { status, body } = await suite.api.delete(url);
      expect(status).toBe(200);
      expect(body).toMatchObject({ kind: 'User', metadata: { uid: user.metadata.uid, finalizers: [ONE, TWO] } });
      expect(body.metadata).toMatchObject({
        deletionTimestamp: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        deletionGracePeriodSeconds: 0,
        generation: 2,
      });
      expect((await suite.api.get(url)).body).toEqual(body);
      expect((await suite.api.delete(url)).body).toEqual(body);
    });

    test('goes with the last of them, at an update', async () => {
      const { url } = await newUser();
      const { body: marked } = await suite.api.delete(url);
      const { body: kept } = await suite.api.put(url, {
        ...marked,
        metadata: { ...marked.metadata, finalizers: [TWO] },
      });
      expect(kept.metadata).toMatchObject({ finalizers: [TWO], deletionTimestamp: marked.metadata.deletionTimestamp });
      const { status, body } = await suite.api.put(url, { ...kept, metadata: { ...kept.metadata, finalizers: [] } });
      expect(status).toBe(200);
      expect(body.metadata.uid).toBe(marked.metadata.uid);
      expect((await suite.api.get(url)).status).toBe(404);
    });

    test('goes with the last of them, at a merge patch: a watch shows one removal', async () => {
      const { url, user } = await newUser();
      await suite.api.delete(url);
      const version = await suite.api.version(USERS);
      const field = `fieldSelector=metadata.name%3D${user.metadata.name}`;
      const watch = await suite.api.watch(`${USERS}?watch=true&resourceVersion=${version}&${field}`);
      const { status } = await suite.api.patch(url, { metadata: { finalizers: null } });
      expect(status).toBe(200);
      expect((await suite.api.get(url)).status).toBe(404);
      const event = await watch.next();
      expect(event).toMatchObject({ type: 'DELETED', object: { metadata: { finalizers: [ONE, TWO] } } });
    });

    test('stays when it is not being deleted', async () => {
      const { url } = await newUser();
      const { status, body } = await suite.api.patch(url, { metadata: { finalizers: null } });
      expect(status).toBe(200);
      expect(body.metadata.finalizers).toBeUndefined();
      expect((await suite.api.get(url)).body).toEqual(body);
    });

    test('gets no more of them once it is being deleted, and stays marked', async () => {
      const { url, user } = await newUser();
      const { body: marked } = await suite.api.delete(url);
      const more = await suite.api.patch(url, { metadata: { finalizers: [ONE, TWO, 'example.com/three'] } });
      expect(more.status).toBe(422);
      const message =
        'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/three"}';
      const { name } = user.metadata;
      const cause = { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' };
      expect(more.body).toEqual(
        failure(422, 'Invalid', `User.iam.gatehouse.io "${name}" is invalid: metadata.finalizers: ${message}`, {
          name,
          group: 'iam.gatehouse.io',
          kind: 'User',
          causes: [cause, cause], // the metadata of a custom resource is checked twice
        }),
      );
      const { body } = await suite.api.patch(url, { metadata: { deletionTimestamp: null } });
      expect(body.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    });

    test('may be of any kind', async () => {
      const name = unique('secret');
      await suite.api.create(secrets, { metadata: { name, finalizers: [ONE] } });
      const { body } = await suite.api.delete(`${secrets}/${name}`);
      expect(body).toMatchObject({ kind: 'Secret', metadata: { deletionGracePeriodSeconds: 0 } });
      await suite.api.patch(`${secrets}/${name}`, { metadata: { finalizers: null } });
      expect((await suite.api.get(`${secrets}/${name}`)).status).toBe(404);
    });
  });
}
