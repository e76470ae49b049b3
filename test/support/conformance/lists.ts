import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, path, unique } from './api-client.ts';
import type { Suite } from './suite.ts';

const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export function describeLists(suite: Suite): void {
  describe('a list', () => {
    let secrets: string;
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      for (const name of ['b', 'a', 'c']) await suite.api.create(secrets, { metadata: { name }, data: { x: 'eA==' } });
    });

    test('has its kind, one version, and items in the order of their names, without kind and apiVersion', async () => {
      const { status, headers, body } = await suite.api.get(secrets);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json');
      expect(Object.keys(body).sort()).toEqual(['apiVersion', 'items', 'kind', 'metadata']);
      expect(body).toMatchObject({ kind: 'SecretList', apiVersion: 'v1' });
      expect(body.metadata).toEqual({ resourceVersion: expect.stringMatching(/^[1-9]\d*$/) });
      expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['a', 'b', 'c']);
      for (const item of body.items) expect(Object.keys(item).sort()).toEqual(['data', 'metadata', 'type']);
    });

    test('is empty, not missing, where nothing is, even in a namespace that does not exist', async () => {
      const { status, body } = await suite.api.get(inNamespace('no-such-namespace', 'secrets'));
      expect(status).toBe(200);
      expect(body).toEqual({
        kind: 'SecretList',
        apiVersion: 'v1',
        metadata: { resourceVersion: expect.any(String) },
        items: [],
      });
    });

    test('is complete with a limit of 0', async () => {
      const { body } = await suite.api.get(path(secrets, { limit: 0 }));
      expect(body.items).toHaveLength(3);
      expect(Object.keys(body.metadata)).toEqual(['resourceVersion']);
    });

    test('refuses a limit that is no number', async () => {
      const { status, body } = await suite.api.get(path(secrets, { limit: 'abc' }));
      expect(status).toBe(400);
      expect(body).toMatchObject({ kind: 'Status', reason: 'BadRequest', code: 400 });
    });

    test('has metadata only when that is asked for', async () => {
      const { body, headers } = await suite.api.get(secrets, { headers: { accept: METADATA_ONLY } });
      expect(headers['content-type']).toBe('application/json');
      expect(body).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
      for (const item of body.items) {
        expect(Object.keys(item)).toEqual(['kind', 'apiVersion', 'metadata']);
        expect(item).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
      }
    });

    test('is compressed from 128 KiB on for a client that takes gzip, and only then', async () => {
      const long = inNamespace(await suite.api.newNamespace(), 'secrets');
      const gzip = { headers: { 'accept-encoding': 'gzip' } };
      // Base64 of 60,000 bytes is 80,000 characters: one object stays below the limit, two are above it.
      const data = { filler: Buffer.alloc(60_000, 'x').toString('base64') };
      await suite.api.create(long, { metadata: { name: unique('long') }, data });
      expect((await suite.api.get(long, gzip)).headers['content-encoding']).toBeUndefined();
      await suite.api.create(long, { metadata: { name: unique('long') }, data });
      const compressed = await suite.api.get(long, gzip);
      expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
      expect(compressed.body.items).toHaveLength(2);
      expect((await suite.api.get(long)).headers['content-encoding']).toBeUndefined();
    });
  });
}
