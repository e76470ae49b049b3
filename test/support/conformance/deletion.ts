import { beforeEach, describe, expect, test } from 'vitest';
import { inNamespace, type Json } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

export function describeDeletion(suite: Suite): void {
  describe('a deletion', () => {
    let secret: Json;
    let url: string;
    beforeEach(async () => {
      const secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      secret = await suite.api.create(secrets, { metadata: { name: 'doomed' } });
      url = `${secrets}/doomed`;
    });

    test('answers a Status with the uid, and the second one 404', async () => {
      const { status, body } = await suite.api.delete(url);
      expect(status).toBe(200);
      expect(body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'doomed', kind: 'secrets', uid: secret.metadata.uid },
      });
      const again = await suite.api.delete(url);
      expect(again.status).toBe(404);
      const message = 'secrets "doomed" not found';
      expect(again.body).toEqual(failure(404, 'NotFound', message, { name: 'doomed', kind: 'secrets' }));
    });

    // Here the details name the kind of the object. Everywhere else they name the resource of the path.
    test('with another uid as precondition is refused', async () => {
      const { status, body } = await suite.api.delete(url, { preconditions: { uid: 'other' } });
      expect(status).toBe(409);
      const why =
        `the UID in the precondition (other) does not match the UID in record (${secret.metadata.uid}). ` +
        'The object might have been deleted and then recreated';
      expect(body).toEqual(
        failure(409, 'Conflict', `Operation cannot be fulfilled on Secret "doomed": ${why}`, {
          name: 'doomed',
          kind: 'Secret',
        }),
      );
    });

    test('with another version as precondition is refused', async () => {
      const { status, body } = await suite.api.delete(url, { preconditions: { resourceVersion: '3' } });
      expect(status).toBe(409);
      const why =
        'the ResourceVersion in the precondition (3) does not match the ResourceVersion in record ' +
        `(${secret.metadata.resourceVersion}). The object might have been modified`;
      expect(body).toEqual(
        failure(409, 'Conflict', `Operation cannot be fulfilled on Secret "doomed": ${why}`, {
          name: 'doomed',
          kind: 'Secret',
        }),
      );
    });

    test('with the right uid and version as preconditions deletes', async () => {
      const { uid, resourceVersion } = secret.metadata;
      const { status } = await suite.api.delete(url, { preconditions: { uid, resourceVersion } });
      expect(status).toBe(200);
      expect((await suite.api.get(url)).status).toBe(404);
    });
  });
}
