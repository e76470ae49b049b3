import { describe, expect, test } from 'vitest';
import type { DocumentQuery } from '../../../src/documents/document-query.ts';
import { DetectingStore } from '../../../src/documents/search/detecting-store.ts';
import type { DocumentSearch, DocumentStore } from '../../../src/documents/store/document-store.ts';
import type { LogStoreRequest } from '../../../src/documents/store/store-requests.ts';
import type { StoreAnswer } from '../../../src/stores/store-client.ts';
import { StoreError } from '../../../src/stores/store-error.ts';

const SEARCH = {} as DocumentSearch;
const PAGE: DocumentQuery['page'] = { order: 'desc', from: 0, size: 10 };
const FOUND = { total: 0, records: [] };
const ELASTICSEARCH_7 = { status: 200, body: { version: { number: '7.10.2' } } };

/** A store that has to be detected, what it was found to be, each time, and asked for it, and what its searches come to. */
function detecting({ answers = [], ...outcome }: { error?: unknown; answers?: StoreAnswer[] } = {}) {
  const kinds: string[] = [];
  const answer = (): Promise<typeof FOUND> =>
    outcome.error === undefined ? Promise.resolve(FOUND) : Promise.reject(outcome.error);
  const found = {
    find: answer,
    async *messages() {
      await answer();
      yield [];
    },
  } as unknown as DocumentStore;
  const create = (kind: string): DocumentStore => {
    kinds.push(kind);
    return found;
  };
  const requests: string[] = [];
  const json = async ({ purpose, path }: LogStoreRequest): Promise<StoreAnswer> => {
    requests.push(`${purpose} ${path}`);
    return answers.shift() ?? ELASTICSEARCH_7;
  };
  return { store: new DetectingStore({ json }, create), kinds, requests, outcome };
}

/** Two searches by each way, the first of which fails so. */
async function detectedAfter(error: unknown, signal: AbortSignal): Promise<number[]> {
  const asked: number[] = [];
  for (const way of ['find', 'messages'] as const) {
    const { store, kinds, outcome } = detecting({ error });
    const search = async () =>
      way === 'find' ? store.find(SEARCH, PAGE, signal) : store.messages(SEARCH, signal).next();
    await expect(search()).rejects.toBe(error);
    delete outcome.error;
    await search();
    expect(new Set(kinds)).toEqual(new Set(['7']));
    asked.push(kinds.length);
  }
  return asked;
}

describe('what the store is', () => {
  const { signal } = new AbortController();

  test('is asked at the first search, and not again', async () => {
    const { store, kinds, requests } = detecting();
    expect(kinds).toEqual([]);
    for (let time = 0; time < 2; time++) await store.find(SEARCH, PAGE, signal);
    expect([kinds, requests]).toEqual([['7'], ['detect /']]);
  });

  test.each([
    [404, '404 page not found'],
    [200, 'OK'],
  ])('is Loki where the answer to its root is %i %s and Loki says its version', async (status, text) => {
    const answers = [
      { status, body: undefined, text },
      { status: 200, body: { version: '3.7.8' } },
    ];
    const { store, kinds, requests } = detecting({ answers });
    await store.find(SEARCH, PAGE, signal);
    expect([kinds, requests]).toEqual([['loki'], ['detect /', 'detect /loki/api/v1/status/buildinfo']]);
  });

  test.each([
    [503, 'not ready'],
    [302, 'moved'],
  ])('is not asked of Loki where the answer to its root is %i %s', async (status, text) => {
    const { store, requests } = detecting({ answers: [{ status, body: undefined, text }] });
    await expect(store.find(SEARCH, PAGE, signal)).rejects.toMatchObject({ kind: 'away' });
    expect(requests).toEqual(['detect /']);
  });

  test('L-11 is asked again after it was away', async () => {
    expect(await detectedAfter(new StoreError('away', 'no answer'), signal)).toEqual([2, 2]);
  });

  test.each(['refused', 'slow', 'full'] as const)('is not asked again after a search was %s', async (kind) => {
    expect(await detectedAfter(new StoreError(kind, 'so'), signal)).toEqual([1, 1]);
  });

  test('is not asked again after a fault of ours', async () => {
    expect(await detectedAfter(Object.assign(new Error('ours'), { kind: 'away' }), signal)).toEqual([1, 1]);
  });

  test('is not asked again after a caller has left, whose request then has no answer', async () => {
    expect(await detectedAfter(new StoreError('away', 'ended'), AbortSignal.abort())).toEqual([1, 1]);
  });
});
