import { asObject } from '../../runtime/text/json-value.ts';
import { StoreError } from '../../stores/store-error.ts';
import type { Page } from '../document-query.ts';
import type { Interval } from '../query/interval.ts';
import type {
  DocumentSearch,
  DocumentStore,
  Found,
  FoundMessage,
  Histogram,
  Statistics,
} from '../store/document-store.ts';
import type { LogStoreClient } from '../store/store-requests.ts';
import { type DialectName, dialectIn } from './dialects.ts';
import { readAnswer } from './search-answer.ts';

/** The kind of a store: a dialect of Elasticsearch's search API, or Loki. */
export type StoreKind = DialectName | 'loki';

/**
 * A store whose kind is detected at the first search, because it may be unavailable at the start. After an outage the kind is detected
 * again, because another store may then be at the address.
 */
export class DetectingStore implements DocumentStore {
  readonly #client: Pick<LogStoreClient, 'json'>;
  readonly #create: (kind: StoreKind) => DocumentStore;
  #known: DocumentStore | undefined;

  constructor(client: Pick<LogStoreClient, 'json'>, create: (kind: StoreKind) => DocumentStore) {
    this.#client = client;
    this.#create = create;
  }

  find(search: DocumentSearch, page: Page, signal: AbortSignal): Promise<Found> {
    return this.#with(signal, (store) => store.find(search, page, signal));
  }

  count(search: DocumentSearch, signal: AbortSignal): Promise<Statistics> {
    return this.#with(signal, (store) => store.count(search, signal));
  }

  histogram(search: DocumentSearch, interval: Interval, signal: AbortSignal): Promise<Histogram> {
    return this.#with(signal, (store) => store.histogram(search, interval, signal));
  }

  async *messages(search: DocumentSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
    const store = await this.#detected(signal);
    try {
      yield* store.messages(search, signal);
    } catch (error) {
      throw this.#noted(error, signal);
    }
  }

  async #with<Result>(signal: AbortSignal, ask: (store: DocumentStore) => Promise<Result>): Promise<Result> {
    const store = await this.#detected(signal);
    return ask(store).catch((error) => {
      throw this.#noted(error, signal);
    });
  }

  /** Forgets the kind of the store if the error shows that the store is away. An aborted search does not show that. */
  #noted(error: unknown, signal: AbortSignal): unknown {
    if (!signal.aborted && error instanceof StoreError && error.kind === 'away') this.#known = undefined;
    return error;
  }

  async #detected(signal: AbortSignal): Promise<DocumentStore> {
    this.#known ??= this.#create(await detect(this.#client, signal));
    return this.#known;
  }
}

async function detect(client: Pick<LogStoreClient, 'json'>, signal: AbortSignal): Promise<StoreKind> {
  const answer = await client.json({ purpose: 'detect', method: 'GET', path: '/' }, signal);
  if (isNoSearchStore(answer.status, answer.text) && (await isLoki(client, signal))) return 'loki';
  return dialectIn(readAnswer(answer));
}

/** Loki answers `/` with 404, and the gateway of its Helm chart with the text `OK`. */
const isNoSearchStore = (status: number, text: string | undefined): boolean =>
  text !== undefined && (status === 200 || status === 404);

async function isLoki(client: Pick<LogStoreClient, 'json'>, signal: AbortSignal): Promise<boolean> {
  const path = '/loki/api/v1/status/buildinfo';
  const { status, body } = await client.json({ purpose: 'detect', method: 'GET', path }, signal);
  return status === 200 && typeof asObject(body)['version'] === 'string';
}
