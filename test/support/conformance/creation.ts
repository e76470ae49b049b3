import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, NODES, unique } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

export function describeCreation(suite: Suite): void {
  describe('creation', () => {
    let secrets: string;
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
    });

    test('answers 201 with uid, version and time, and ignores those of the client', async () => {
      const name = unique('node');
      const metadata = { name, uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', labels: { a: 'b' } };
      const { status, body } = await suite.api.post(NODES, { metadata });
      expect(status).toBe(201);
      expect(body).toMatchObject({ kind: 'Node', apiVersion: 'v1', metadata: { name, labels: { a: 'b' } } });
      expect(body.metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(body.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      expect(body.metadata.creationTimestamp).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(body.metadata.creationTimestamp).not.toBe(metadata.creationTimestamp);
      const { body: read } = await suite.api.get(`${NODES}/${name}`);
      expect(read).toEqual(body);
    });

    test('refuses a name that is taken', async () => {
      await suite.api.create(secrets, { metadata: { name: 'taken' } });
      const { status, body } = await suite.api.post(secrets, { metadata: { name: 'taken' } });
      expect(status).toBe(409);
      const message = 'secrets "taken" already exists';
      expect(body).toEqual(failure(409, 'AlreadyExists', message, { name: 'taken', kind: 'secrets' }));
    });

    test('completes generateName', async () => {
      const { body } = await suite.api.post(secrets, { metadata: { generateName: 'made-' } });
      expect(body.metadata).toMatchObject({ generateName: 'made-', name: expect.stringMatching(/^made-[a-z0-9]{5}$/) });
    });

    test('refuses an object without a name', async () => {
      const { status, body } = await suite.api.post(secrets, { metadata: {} });
      expect(status).toBe(422);
      const message = 'Required value: name or generateName is required';
      expect(body).toEqual(
        failure(422, 'Invalid', `Secret "" is invalid: metadata.name: ${message}`, {
          kind: 'Secret',
          causes: [{ reason: 'FieldValueRequired', message, field: 'metadata.name' }],
        }),
      );
    });

    test('refuses a name that is none', async () => {
      const { status, body } = await suite.api.post(secrets, { metadata: { name: 'Not_A_Name' } });
      expect(status).toBe(422);
      expect(body.details.causes).toEqual([
        {
          reason: 'FieldValueInvalid',
          message: expect.stringMatching(
            /^Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain must consist of /,
          ),
          field: 'metadata.name',
        },
      ]);
      expect(body.message).toBe(`Secret "Not_A_Name" is invalid: metadata.name: ${body.details.causes[0].message}`);
    });

    test('refuses a resourceVersion', async () => {
      const { status, body } = await suite.api.post(secrets, { metadata: { name: 'x', resourceVersion: '1' } });
      expect(status).toBe(500);
      expect(body.message).toBe('resourceVersion should not be set on objects to be created');
    });

    test('refuses what is no JSON', async () => {
      const { status, body } = await suite.api.post(secrets, '{');
      expect(status).toBe(400);
      expect(body).toMatchObject({ status: 'Failure', reason: 'BadRequest', code: 400 });
    });

    test('refuses a kind that does not belong to the path', async () => {
      const { status, body } = await suite.api.post(secrets, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'x' },
      });
      expect(status).toBe(400);
      expect(body).toMatchObject({ status: 'Failure', reason: 'BadRequest', code: 400 });
    });

    test('refuses another namespace in the object than in the path', async () => {
      const { status, body } = await suite.api.post(secrets, { metadata: { name: 'x', namespace: 'other' } });
      expect(status).toBe(400);
      const message = 'the namespace of the provided object does not match the namespace sent on the request';
      expect(body).toEqual(failure(400, 'BadRequest', message));
    });

    test('needs the namespace to exist', async () => {
      const { status, body } = await suite.api.post(inNamespace('absent', 'secrets'), { metadata: { name: 'x' } });
      expect(status).toBe(404);
      const message = 'namespaces "absent" not found';
      expect(body).toEqual(failure(404, 'NotFound', message, { name: 'absent', kind: 'namespaces' }));
    });
  });
}
