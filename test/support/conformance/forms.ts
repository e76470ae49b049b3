import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { inNamespace, type Json, path } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const TABLE = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

/** The forms in which objects are sent and received. */
export function describeForms(suite: Suite): void {
  describe('a form', () => {
    let maps: string;
    beforeAll(async () => {
      maps = inNamespace(await suite.api.newNamespace(), 'configmaps');
      await suite.api.create(maps, { metadata: { name: 'a' }, data: { x: '1', y: '<2>' } });
      await suite.api.create(maps, { metadata: { name: 'b' } });
    });

    test('for people is indented by two', async () => {
      const { body, text } = await suite.api.get(path(`${maps}/b`, { pretty: 'true' }));
      expect(text).toBe(JSON.stringify(body, null, 2));
    });

    test('is YAML for who asks for it, with the same content', async () => {
      const { headers, text } = await suite.api.get(`${maps}/a`, { headers: { accept: 'application/yaml' } });
      expect(headers['content-type']).toBe('application/yaml');
      expect(parse(text)).toEqual((await suite.api.get(`${maps}/a`)).body);
    });

    test('of a refusal is YAML, too', async () => {
      const { status, headers, text } = await suite.api.get(`${maps}/c`, { headers: { accept: 'application/yaml' } });
      expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'application/yaml' });
      expect(parse(text)).toMatchObject({ kind: 'Status', reason: 'NotFound', code: 404 });
    });

    test('is JSON again when that is named first', async () => {
      const { headers } = await suite.api.get(`${maps}/a`, {
        headers: { accept: 'application/json, application/yaml' },
      });
      expect(headers['content-type']).toBe('application/json');
    });

    test('of a list can be a Table, a row for each object', async () => {
      const { body } = await suite.api.get(maps, TABLE);
      expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
      expect(body.columnDefinitions.map(({ name, type }: Json) => [name, type])).toEqual([
        ['Name', 'string'],
        ['Data', 'string'],
        ['Age', 'string'],
      ]);
      const age = expect.stringMatching(/^\d+[sm]/);
      expect(body.rows.map(({ cells }: Json) => cells)).toEqual([
        ['a', 2, age],
        ['b', 0, age],
      ]);
      expect(body.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    });

    test('of one object can be a Table of one row', async () => {
      const { body } = await suite.api.get(`${maps}/a`, TABLE);
      expect(body.kind).toBe('Table');
      expect(body.rows.map(({ cells }: Json) => cells[0])).toEqual(['a']);
    });

    test('that is sent may be YAML', async () => {
      const { status, body } = await suite.api.post(maps, 'metadata: {name: c}\ndata: {k: v}\n', {
        headers: { 'content-type': 'application/yaml' },
      });
      expect([status, body.data]).toEqual([201, { k: 'v' }]);
    });

    test('that is sent and unknown is refused', async () => {
      const { status, body } = await suite.api.post(maps, 'x', { headers: { 'content-type': 'text/plain' } });
      expect(status).toBe(415);
      const types = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
      const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
      expect(body).toEqual(failure(415, 'UnsupportedMediaType', message));
    });

    test('is not told to HEAD: it is not served', async () => {
      expect(await suite.api.head(maps)).toMatchObject({ status: 405, text: '' });
      expect(await suite.api.head(maps, { token: suite.target.powerlessToken })).toMatchObject({ status: 403 });
    });
  });
}
