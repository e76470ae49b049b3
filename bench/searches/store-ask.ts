import { DIALECTS } from '../../src/documents/search/dialects.ts';
import { SearchStore } from '../../src/documents/search/search-store.ts';
import type { LogStoreRequest } from '../../src/documents/store/store-requests.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Ask } from '../load/connection.ts';
import type { SearchedKind } from './searched-kinds.ts';

/** A range of time in whole seconds. */
export interface SearchedTime {
  readonly start: number;
  readonly end: number;
}

/** The size of a page, and the order, that a query has by default. */
const PAGE = { order: 'desc', from: 0, size: 10 } as const;
/** The time limit of Gatehouse's searches, which is part of the request. */
const TIME_LIMIT_MS = 30_000;
/** An answer without documents. */
const NOTHING = { status: 200, body: { hits: { total: { value: 0 }, hits: [] } } };

/** The request that Gatehouse sends to an OpenSearch 2 for the search. It is taken from Gatehouse's own code, so both sides search the same. */
export async function askOfStore(searched: SearchedKind, time: SearchedTime): Promise<Ask> {
  const { kind, indexPrefix, parameters } = searched;
  const sent: LogStoreRequest[] = [];
  const client = {
    json: async (request: LogStoreRequest) => {
      sent.push(request);
      return NOTHING;
    },
  };
  const options = { kind, indexPrefix, dialect: DIALECTS.opensearchv2, timeLimitMs: TIME_LIMIT_MS };
  const store = new SearchStore(options, { client, clock: systemClock });
  const conditions = Object.entries(parameters).map(([name, value]) => {
    const comparison = kind.conditions[name];
    if (!comparison) throw new Error(`${kind.name} have no parameter ${name}`);
    return { ...comparison, values: [value] };
  });
  await store.find({ conditions, time }, PAGE, new AbortController().signal);
  const search = sent.find(({ purpose }) => purpose === 'search');
  if (!search) throw new Error(`${kind.name} are not searched in the store`);
  const { method, path, body } = search;
  return { method, path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
