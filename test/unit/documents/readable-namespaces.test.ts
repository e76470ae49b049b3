import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Authorizer, RequestAttributes } from '../../../src/authorization/authorizer.ts';
import { createReviewSeats } from '../../../src/authorization/namespace-reviews.ts';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import { readableNamespaces } from '../../../src/documents/rights/readable-namespaces.ts';
import { serviceUnavailable } from '../../../src/status-error.ts';

const JOE = { name: 'joe', uid: 'u-1', groups: [] };
const KNOWN = ['shop', 'shop-staging', 'billing'].map((name, at) => ({ name, createdAt: at + 1 }));
const ANY = { namespaces: [], namespaceParts: [], workspaces: [], workspaceParts: [] };
const { right } = LOGS;

const namespaceOf = (attributes: RequestAttributes): string =>
  'resource' in attributes ? (attributes.resource.namespace ?? '*') : '';

/** Allows these namespaces; `*` is all of the cluster. Keeps what was asked. */
function allowing(...names: string[]) {
  const asked: RequestAttributes[] = [];
  const authorizer: Authorizer = {
    authorize: async (_, attributes) => {
      asked.push(attributes);
      return { allowed: names.includes(namespaceOf(attributes)), source: 'review' };
    },
  };
  return { authorizer, asked };
}

const read = (
  authorizer: Authorizer,
  query: Parameters<typeof readableNamespaces>[1] = ANY,
  known = KNOWN,
  signal = new AbortController().signal,
) => readableNamespaces(JOE, query, { right, authorizer, seats: createReviewSeats(), namespaces: () => known, signal });

describe('the namespaces that a caller may read', () => {
  test('L-04 are all, those that are gone too, with the right in the cluster', async () => {
    const { authorizer, asked } = allowing('*');
    expect(await read(authorizer)).toEqual({ everything: true });
    const podLogs = { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log' };
    expect(asked).toEqual([{ resource: podLogs }]);
  });

  test('L-05 are those that exist, of any age, where the right is in the cluster and some are asked for', async () => {
    const { authorizer, asked } = allowing('*');
    expect(await read(authorizer, { ...ANY, namespaces: ['shop', 'gone'] })).toEqual({
      everything: false,
      namespaces: [{ name: 'shop' }],
    });
    expect(asked.length).toBe(1);
  });

  test('L-04 are those with the right, since they exist', async () => {
    const { authorizer, asked } = allowing('shop', 'billing', 'gone');
    expect(await read(authorizer)).toEqual({
      everything: false,
      namespaces: [
        { name: 'shop', since: 1 },
        { name: 'billing', since: 3 },
      ],
    });
    expect(asked.map(namespaceOf)).toEqual(['*', 'shop', 'shop-staging', 'billing']);
  });

  test.each([
    [{ namespaces: ['shop', 'billing'], namespaceParts: [] }, ['shop', 'billing']],
    [{ namespaces: [], namespaceParts: ['shop'] }, ['shop', 'shop-staging']],
    [{ namespaces: [], namespaceParts: ['stag', 'bill'] }, ['shop-staging', 'billing']],
    [{ namespaces: ['shop', 'billing'], namespaceParts: ['shop'] }, ['shop']],
    [{ namespaces: ['sho'] }, []],
    [{ namespaces: ['gone'] }, []],
    [{ namespaceParts: ['*'] }, []],
  ])('of %o are asked about and no others', async (query, wanted) => {
    const { authorizer, asked } = allowing(...KNOWN.map(({ name }) => name), 'gone');
    const readable = await read(authorizer, { ...ANY, ...query });
    expect(readable).toMatchObject({ everything: false });
    expect('namespaces' in readable && readable.namespaces.map(({ name }) => name)).toEqual(wanted);
    expect(asked.map(namespaceOf)).toEqual(['*', ...wanted]);
  });

  test('are asked about 16 at a time, and keep their order', async () => {
    const known = Array.from({ length: 100 }, (_, at) => ({ name: `ns-${at}`, createdAt: at }));
    let [open, most] = [0, 0];
    const authorizer: Authorizer = {
      authorize: async (_, attributes) => {
        if (namespaceOf(attributes) === '*') return { allowed: false, source: 'review' };
        most = Math.max(most, ++open);
        for (let at = Number(namespaceOf(attributes).slice(3)) % 3; at >= 0; at--) await turn();
        open--;
        return { allowed: true, source: 'review' };
      },
    };
    const readable = await read(authorizer, ANY, known);
    expect(most).toBe(16);
    expect(readable).toEqual({
      everything: false,
      namespaces: known.map(({ name, createdAt: since }) => ({ name, since })),
    });
  });

  test.each(['*', 'shop-staging', 'billing'])(
    'are never fewer because the decision on %s cannot be had',
    async (name) => {
      const failure = serviceUnavailable('authorization is not available', 5);
      const authorizer: Authorizer = {
        authorize: async (_, attributes) => {
          if (namespaceOf(attributes) === name) throw failure;
          return { allowed: namespaceOf(attributes) !== '*', source: 'review' };
        },
      };
      await expect(read(authorizer)).rejects.toBe(failure);
    },
  );

  test('are asked about 16 at a time by all queries of one caller, and those of others do not wait for them', async () => {
    const known = Array.from({ length: 50 }, (_, at) => ({ name: `ns-${at}`, createdAt: at }));
    const open = new Map<string, number>();
    const answer = Promise.withResolvers<void>();
    const authorizer: Authorizer = {
      authorize: async ({ name }, attributes) => {
        if (namespaceOf(attributes) === '*') return { allowed: false, source: 'review' };
        open.set(name, (open.get(name) ?? 0) + 1);
        await answer.promise;
        return { allowed: true, source: 'review' };
      },
    };
    const parts = {
      right,
      authorizer,
      seats: createReviewSeats(),
      namespaces: () => known,
      signal: new AbortController().signal,
    };
    const asking = ['joe', 'joe', 'joe', 'ann'].map((name) => readableNamespaces({ ...JOE, name }, ANY, parts));
    await turn();
    expect([...open]).toEqual([
      ['joe', 16],
      ['ann', 16],
    ]);
    answer.resolve();
    for (const readable of await Promise.all(asking)) expect(readable).toMatchObject({ namespaces: { length: 50 } });
  });

  test('are asked about no further after the first failure', async () => {
    const known = Array.from({ length: 100 }, (_, at) => ({ name: `ns-${at}`, createdAt: at }));
    let asked = 0;
    const authorizer: Authorizer = {
      authorize: async (_, attributes) => {
        if (namespaceOf(attributes) === '*') return { allowed: false, source: 'review' };
        asked++;
        throw serviceUnavailable('authorization is not available', 5);
      },
    };
    await expect(read(authorizer, ANY, known)).rejects.toThrow();
    await turn();
    expect(asked).toBe(16);
  });

  test('are asked about no further when the caller has left, and are not fewer then', async () => {
    const known = Array.from({ length: 100 }, (_, at) => ({ name: `ns-${at}`, createdAt: at }));
    const leaving = new AbortController();
    let asked = 0;
    const authorizer: Authorizer = {
      authorize: async (_, attributes) => {
        if (++asked === 20) leaving.abort(new Error('the client has left'));
        return { allowed: namespaceOf(attributes) !== '*', source: 'review' };
      },
    };
    await expect(read(authorizer, ANY, known, leaving.signal)).rejects.toThrow('the client has left');
    expect(asked).toBeLessThan(40);
  });
});
