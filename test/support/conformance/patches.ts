import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path, unique } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const APPLY = 'application/apply-patch+yaml';

export function describePatches(suite: Suite): void {
  describe('a patch', () => {
    let maps: string;
    beforeAll(async () => {
      maps = inNamespace(await suite.api.newNamespace(), 'configmaps');
    });
    const create = async (data: object): Promise<string> => {
      const name = unique('map');
      await suite.api.create(path(maps, { fieldManager: 'maker' }), { metadata: { name }, data });
      return `${maps}/${name}`;
    };
    const strategic = 'application/strategic-merge-patch+json';

    test('that is strategic merges', async () => {
      const url = await create({ a: '1', b: '2' });
      expect((await suite.api.patch(url, { data: { a: null, c: '3' } }, strategic)).body.data).toEqual({
        b: '2',
        c: '3',
      });
    });

    describe('of JSON operations', () => {
      const send = (url: string, operations: Json) => suite.api.patch(url, operations, 'application/json-patch+json');

      test('does one after the other', async () => {
        const url = await create({ a: '1', b: '2' });
        const { status, body } = await send(url, [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'remove', path: '/data/a' },
          { op: 'replace', path: '/data/b', value: '4' },
          { op: 'copy', from: '/data/b', path: '/data/c' },
          { op: 'add', path: '/metadata/annotations', value: { 'a.test/x': '3' } },
          { op: 'move', from: '/metadata/annotations/a.test~1x', path: '/data/d' },
          { op: 'replace', path: '/data/e', value: '5' },
          { op: 'add', path: '/metadata/finalizers', value: ['a.test/b'] },
          { op: 'add', path: '/metadata/finalizers/0', value: 'a.test/a' },
          { op: 'add', path: '/metadata/finalizers/-', value: 'a.test/c' },
          { op: 'remove', path: '/metadata/finalizers/1' },
        ]);
        expect(status).toBe(200);
        expect(body.data).toEqual({ b: '4', c: '4', d: '3', e: '5' });
        expect(body.metadata.finalizers).toEqual(['a.test/a', 'a.test/c']);
      });

      test.each([
        [{ op: 'test', path: '/data/a', value: '2' }],
        [{ op: 'remove', path: '/data/none' }],
        [{ op: 'add', path: '/none/a', value: '1' }],
      ])('that cannot be done changes nothing: %o', async (operation) => {
        const url = await create({ a: '1' });
        const { status, body } = await send(url, [{ op: 'add', path: '/data/b', value: '1' }, operation]);
        expect(status).toBe(422);
        const message = 'the server rejected our request due to an error in our request';
        expect(body).toEqual(failure(422, 'Invalid', message, {}));
        expect((await suite.api.get(url)).body.data).toEqual({ a: '1' });
      });

      test('that is no list is refused', async () => {
        expect(await send(await create({}), { op: 'remove' })).toMatchObject({
          status: 400,
          body: { reason: 'BadRequest' },
        });
      });
    });

    describe('that applies', () => {
      const apply = (url: string, data: object, query: Readonly<Record<string, string | boolean>>) =>
        suite.api.patch(path(url, query), configOf(url, data), APPLY);
      const configOf = (url: string, data: object): string =>
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: url.slice(url.lastIndexOf('/') + 1) },
          data,
        });
      const managers = (object: Json): Json =>
        object.metadata.managedFields.map(({ manager, operation }: Json) => `${operation} ${manager}`);

      test('makes an object that is not there, as YAML, too', async () => {
        const name = unique('map');
        const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {k: "1"}\n`;
        const url = path(`${maps}/${name}`, { fieldManager: 'one' });
        const { status, body } = await suite.api.patch(url, text, APPLY);
        expect([status, body.data]).toEqual([201, { k: '1' }]);
        expect(body.metadata.managedFields).toEqual([
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: expect.stringMatching(/Z$/),
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { 'f:k': {} } },
          },
        ]);
      });

      test('takes away what the manager wanted before, and leaves what others manage', async () => {
        const url = await create({ theirs: '1' });
        await apply(url, { a: '1', b: '2' }, { fieldManager: 'one' });
        const { status, body } = await apply(url, { b: '3' }, { fieldManager: 'one' });
        expect([status, body.data]).toEqual([200, { theirs: '1', b: '3' }]);
        expect(managers(body)).toEqual(['Apply one', 'Update maker']);
      });

      test('that changes nothing keeps the version', async () => {
        const url = await create({});
        const { body } = await apply(url, { a: '1' }, { fieldManager: 'one' });
        const again = await apply(url, { a: '1' }, { fieldManager: 'one' });
        expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
      });

      test('over what another manages is a conflict, unless it is forced', async () => {
        const url = await create({ a: '1' });
        const { status, body } = await apply(url, { a: '2' }, { fieldManager: 'one' });
        expect(status).toBe(409);
        expect(body).toMatchObject({
          reason: 'Conflict',
          message: expect.stringMatching(/^Apply failed with 1 conflict: conflict with "maker" using v1: \.data\.a$/),
          details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] },
        });
        const forced = await apply(url, { a: '2' }, { fieldManager: 'one', force: true });
        expect([forced.status, forced.body.data]).toEqual([200, { a: '2' }]);
        const entries = forced.body.metadata.managedFields as Json[];
        const owners = entries.filter(({ fieldsV1 }) => fieldsV1['f:data']['f:a']).map(({ manager }) => manager);
        expect(owners).toEqual(['one']);
      });

      test('names all conflicts, by manager', async () => {
        const url = await create({ a: '1', b: '1' });
        const { status, body } = await apply(url, { a: '2', b: '2' }, { fieldManager: 'one' });
        expect(status).toBe(409);
        expect(body.message).toMatch(
          /^Apply failed with 2 conflicts: conflicts with "maker" using v1:\n- \.data\.a\n- \.data\.b$/,
        );
        expect(body.details.causes).toHaveLength(2);
      });

      test('over what another applies names that one alone', async () => {
        const url = await create({});
        await apply(url, { a: '1' }, { fieldManager: 'one' });
        const { body } = await apply(url, { a: '2' }, { fieldManager: 'two' });
        expect(body.message).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
      });

      test('needs a manager', async () => {
        const { status, body } = await apply(await create({}), {}, {});
        expect(status).toBe(422);
        const message = 'Required value: is required for apply patch';
        expect(body).toEqual(
          failure(422, 'Invalid', `PatchOptions.meta.k8s.io "" is invalid: fieldManager: ${message}`, {
            group: 'meta.k8s.io',
            kind: 'PatchOptions',
            causes: [{ reason: 'FieldValueRequired', message, field: 'fieldManager' }],
          }),
        );
      });
    });

    test('of another kind makes its author the manager of what changes', async () => {
      const url = await create({ a: '1', b: '2' });
      const { body } = await suite.api.patch(path(url, { fieldManager: 'two' }), { data: { b: '3' } });
      const owned = body.metadata.managedFields.map(({ manager, fieldsV1 }: Json) => [
        manager,
        Object.keys(fieldsV1['f:data']).filter((name) => name !== '.'),
      ]);
      expect(owned).toEqual([
        ['maker', ['f:a']],
        ['two', ['f:b']],
      ]);
    });
  });
}
