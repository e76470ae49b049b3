import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, unique } from './api-client.ts';
import { failure, OUTDATED, type Suite } from './suite.ts';

export function describeSecrets(suite: Suite): void {
  describe('a Secret', () => {
    let secrets: string;
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
    });
    const create = (more: object = {}): Promise<Json> =>
      suite.api.create(secrets, { metadata: { name: unique('secret') }, ...more });

    test('is Opaque unless another type is given', async () => {
      expect((await create()).type).toBe('Opaque');
      expect((await create({ type: 'example.test/kind' })).type).toBe('example.test/kind');
    });

    test('takes stringData into data, which wins, and never shows it', async () => {
      const { data, stringData } = await create({ data: { a: 'b2xk', b: 'Yg==' }, stringData: { a: 'new' } });
      expect(data).toEqual({ a: 'bmV3', b: 'Yg==' });
      expect(stringData).toBeUndefined();
    });

    test('takes stringData in an update too', async () => {
      const { metadata } = await create({ data: { a: 'b2xk' } });
      const { body } = await suite.api.patch(`${secrets}/${metadata.name}`, { stringData: { a: 'new' } });
      expect(body.data).toEqual({ a: 'bmV3' });
      expect(body.stringData).toBeUndefined();
    });

    test('refuses data that is not base64', async () => {
      const { status, body } = await suite.api.post(secrets, { metadata: { name: 'x' }, data: { a: '***' } });
      expect(status).toBe(400);
      const message = 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0';
      expect(body).toEqual(failure(400, 'BadRequest', message));
    });

    test('changes by compare-and-swap on its version', async () => {
      const first = await create({ data: { n: 'MQ==' } });
      const { name } = first.metadata;
      const second = await suite.api.put(`${secrets}/${name}`, { ...first, data: { n: 'Mg==' } });
      expect(second.status).toBe(200);
      const late = await suite.api.put(`${secrets}/${name}`, { ...first, data: { n: 'Mw==' } });
      expect(late.status).toBe(409);
      const message = `Operation cannot be fulfilled on secrets "${name}": ${OUTDATED}`;
      expect(late.body).toEqual(failure(409, 'Conflict', message, { name, kind: 'secrets' }));
      expect((await suite.api.get(`${secrets}/${name}`)).body).toEqual(second.body);
    });

    test('keeps its type', async () => {
      const { metadata } = await create();
      const { status, body } = await suite.api.patch(`${secrets}/${metadata.name}`, { type: 'example.test/kind' });
      expect(status).toBe(422);
      expect(body).toMatchObject({ reason: 'Invalid', message: expect.stringContaining('field is immutable') });
    });
  });
}
