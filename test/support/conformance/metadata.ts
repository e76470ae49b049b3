import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, inNamespace, type Json, unique } from './api-client.ts';
import { USERS, userOf } from './custom-resources.ts';
import type { Suite } from './suite.ts';

/** The status, and the first refused field. A real server names some fields more than once. */
const refusal = ({ status, body }: Answer) => ({ status, field: body.details?.causes?.[0]?.field });

/** The rules for the metadata of every object, whatever its kind. */
export function describeMetadata(suite: Suite): void {
  describe('metadata', () => {
    let maps: string;
    beforeAll(async () => {
      maps = inNamespace(await suite.api.newNamespace(), 'configmaps');
    });

    test.each<[string, Json, string]>([
      ['a key of a label', { labels: { 'a b': 'c' } }, 'metadata.labels'],
      ['the prefix of a key', { labels: { 'A_b/c': 'd' } }, 'metadata.labels'],
      ['a value of a label', { labels: { a: 'b c' } }, 'metadata.labels'],
      ['a value of 64 characters', { labels: { a: 'v'.repeat(64) } }, 'metadata.labels'],
      ['a key of an annotation', { annotations: { '-': 'c' } }, 'metadata.annotations'],
      ['a finalizer', { finalizers: ['noslash'] }, 'metadata.finalizers[0]'],
    ])('with %s that is not valid is refused, in a new object and in a patch', async (_, metadata, field) => {
      const name = unique('map');
      const posted = await suite.api.post(maps, { metadata: { ...metadata, name } });
      expect(refusal(posted)).toEqual({ status: 422, field });
      await suite.api.create(maps, { metadata: { name } });
      const patched = await suite.api.patch(`${maps}/${name}`, { metadata });
      expect(refusal(patched)).toEqual({ status: 422, field });
    });

    test('of a namespace has a name without dots', async () => {
      const { status, body } = await suite.api.post('/api/v1/namespaces', { metadata: { name: 'a.b' } });
      expect(status).toBe(422);
      expect(body.message).toContain('metadata.name: Invalid value: "a.b": must not contain dots');
    });

    test.each<[string, Json, string]>([
      ['labels that are a text', { labels: 'a' }, 'cannot unmarshal string into Go struct field ObjectMeta.'],
      ['a label that is a number', { labels: { a: 1 } }, 'cannot unmarshal number into Go struct field ObjectMeta.'],
      ['annotations that are a list', { annotations: [] }, 'cannot unmarshal array into Go struct field ObjectMeta.'],
    ])('with %s is not read', async (_, metadata, text) => {
      const name = unique('map');
      for (const [url, body] of [
        [maps, { metadata: { ...metadata, name } }],
        [USERS, userOf({ metadata: { ...metadata, name } })],
      ] as const) {
        const answer = await suite.api.post(url, body);
        expect(answer.status).toBe(400);
        expect(answer.body.message).toContain(text);
      }
    });

    test.each<[string, Json, string]>([
      ['takes the metadata away', { metadata: null }, 'was undeterminable: name must be provided'],
      ['takes the name away', { metadata: { name: null } }, 'was undeterminable: name must be provided'],
      [
        'gives another name',
        { metadata: { name: 'other' } },
        'the name of the object (other) does not match the name on',
      ],
    ])('that a patch %s is refused with 400', async (_, patch, text) => {
      const name = unique('map');
      await suite.api.create(maps, { metadata: { name } });
      await suite.api.create(USERS, userOf({ metadata: { name } }));
      for (const url of [`${maps}/${name}`, `${USERS}/${name}`]) {
        const { status, body } = await suite.api.patch(url, patch);
        expect([status, body.reason]).toEqual([400, 'BadRequest']);
        expect(body.message).toContain(text);
      }
    });

    test('that a JSON patch takes away is refused with 400', async () => {
      const name = unique('map');
      await suite.api.create(maps, { metadata: { name } });
      const operations = [{ op: 'remove', path: '/metadata' }];
      const { status } = await suite.api.patch(`${maps}/${name}`, operations, 'application/json-patch+json');
      expect(status).toBe(400);
    });

    test('of what is cluster-wide has no namespace, whatever a body says', async () => {
      const name = unique('node');
      const { body } = await suite.api.post('/api/v1/nodes', { metadata: { name, namespace: 'elsewhere' } });
      expect(body.metadata.namespace).toBeUndefined();
      await suite.api.delete(`/api/v1/nodes/${name}`);
    });
  });
}
