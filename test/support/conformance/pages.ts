import { beforeEach, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path } from './api-client.ts';
import type { Suite } from './suite.ts';

const names = (list: Json): string[] => list.items.map((item: Json) => item.metadata.name);

export function describePages(suite: Suite): void {
  describe('pages of a list', () => {
    let secrets: string;
    beforeEach(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      for (const name of ['a', 'b', 'c', 'd', 'e'])
        await suite.api.create(secrets, { metadata: { name, labels: { page: 'yes' } } });
    });
    const page = async (query: Record<string, string | number>): Promise<Json> =>
      (await suite.api.get(path(secrets, query))).body;

    test('follow each other by continue, count what remains, and end without both', async () => {
      const first = await page({ limit: 2 });
      expect(names(first)).toEqual(['a', 'b']);
      expect(first.metadata).toEqual({
        resourceVersion: expect.any(String),
        continue: expect.any(String),
        remainingItemCount: 3,
      });
      const second = await page({ limit: 2, continue: first.metadata.continue });
      expect(names(second)).toEqual(['c', 'd']);
      expect(second.metadata).toMatchObject({
        resourceVersion: first.metadata.resourceVersion,
        remainingItemCount: 1,
      });
      const last = await page({ limit: 2, continue: second.metadata.continue });
      expect(names(last)).toEqual(['e']);
      expect(last.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
    });

    test('end at a page that is just full', async () => {
      const { metadata } = await page({ limit: 5 });
      expect(Object.keys(metadata)).toEqual(['resourceVersion']);
    });

    test('are of one version: what changes in between does not show', async () => {
      const first = await page({ limit: 2 });
      await suite.api.delete(`${secrets}/c`);
      await suite.api.create(secrets, { metadata: { name: 'cc' } });
      await suite.api.patch(`${secrets}/d`, { metadata: { labels: { page: 'changed' } } });
      const second = await page({ limit: 3, continue: first.metadata.continue });
      expect(names(second)).toEqual(['c', 'd', 'e']);
      expect(second.items[1].metadata.labels).toEqual({ page: 'yes' });
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(names(await page({ limit: 10 }))).toEqual(['a', 'b', 'cc', 'd', 'e']);
    });

    test('do not count what remains under a selector', async () => {
      const { metadata } = await page({ limit: 2, labelSelector: 'page=yes' });
      expect(metadata).toEqual({ resourceVersion: expect.any(String), continue: expect.any(String) });
    });

    test('give everything that remains when the next one asks for no limit', async () => {
      const first = await page({ limit: 2 });
      expect(names(await page({ continue: first.metadata.continue }))).toEqual(['c', 'd', 'e']);
    });

    test('refuse a continue token beside a resourceVersion', async () => {
      const { metadata } = await page({ limit: 2 });
      const answer = await page({ limit: 2, continue: metadata.continue, resourceVersion: metadata.resourceVersion });
      expect(answer).toMatchObject({
        message: 'specifying resource version is not allowed when using continue',
        reason: 'BadRequest',
        code: 400,
      });
    });

    test('refuse a continue token that no server made', async () => {
      const answer = await page({ limit: 2, continue: 'abc' });
      expect(answer).toMatchObject({ kind: 'Status', reason: 'BadRequest', code: 400 });
    });
  });
}
