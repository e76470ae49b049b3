import { beforeAll, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path } from './api-client.ts';
import { failure, type Suite, tooLarge } from './suite.ts';

/** A version that no test cluster reaches. */
const FUTURE = '999999999';

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list */
export function describeResourceVersions(suite: Suite): void {
  describe('a list at a resourceVersion', () => {
    let secrets: string;
    let old: string;
    beforeAll(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
      for (const name of ['a', 'b']) await suite.api.create(secrets, { metadata: { name } });
      old = await suite.api.version(secrets);
      await suite.api.create(secrets, { metadata: { name: 'c' } });
    });
    const list = async (query: Record<string, string | number>): Promise<Json> =>
      (await suite.api.get(path(secrets, query))).body;

    test('0 ignores the limit', async () => {
      // The watch cache may be a moment behind.
      await expect.poll(async () => (await list({ resourceVersion: '0' })).items.length).toBe(3);
      const { items, metadata } = await list({ resourceVersion: '0', limit: 1 });
      expect(items).toHaveLength(3);
      expect(Object.keys(metadata)).toEqual(['resourceVersion']);
    });

    test('without limit is at least that new: the newest', async () => {
      expect((await list({ resourceVersion: old })).items).toHaveLength(3);
    });

    test('with limit is exactly that one', async () => {
      const { items, metadata } = await list({ resourceVersion: old, limit: 10 });
      expect(items).toHaveLength(2);
      expect(metadata).toEqual({ resourceVersion: old });
    });

    test('with Exact is exactly that one', async () => {
      const { items, metadata } = await list({ resourceVersion: old, resourceVersionMatch: 'Exact' });
      expect(items).toHaveLength(2);
      expect(metadata).toEqual({ resourceVersion: old });
    });

    test('with NotOlderThan is the newest, and pages of it follow each other', async () => {
      const query = { resourceVersion: old, resourceVersionMatch: 'NotOlderThan', limit: 2 };
      const first = await list(query);
      expect(first.items).toHaveLength(2);
      expect(first.metadata.remainingItemCount).toBe(1);
      expect(BigInt(first.metadata.resourceVersion)).toBeGreaterThan(BigInt(old));
      expect((await list({ continue: first.metadata.continue })).items).toHaveLength(1);
    });

    test.each([
      { resourceVersion: FUTURE },
      { resourceVersion: FUTURE, resourceVersionMatch: 'NotOlderThan', limit: 1 },
      { resourceVersion: FUTURE, resourceVersionMatch: 'Exact' },
    ])('that is still to come is refused with 504 and its cause: %o', async (query) => {
      const { status, body } = await suite.api.get(path(secrets, query));
      expect(status).toBe(504);
      expect(body).toEqual(tooLarge(FUTURE));
    });

    test('that is no number is refused', async () => {
      expect(await list({ resourceVersion: 'abc' })).toMatchObject({ reason: 'BadRequest', code: 400 });
    });

    test.each([
      [{ resourceVersionMatch: 'Exact' }, 'resourceVersionMatch is forbidden unless resourceVersion is provided'],
      [
        { resourceVersionMatch: 'Exact', resourceVersion: '0' },
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ],
      [{ sendInitialEvents: 'true' }, 'sendInitialEvents is forbidden for list'],
    ])('refuses what does not belong together: %o', async (query, message) => {
      const { status, body } = await suite.api.get(path(secrets, query));
      const field = message.split(' ')[0];
      expect(status).toBe(422);
      expect(body).toEqual(
        failure(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: Forbidden: ${message}`, {
          group: 'meta.k8s.io',
          kind: 'ListOptions',
          causes: [{ reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field }],
        }),
      );
    });
  });
}
