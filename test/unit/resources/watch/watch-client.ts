import type { Lister } from '../../../../src/resources/cache.ts';
import type { Watch, WatchSource } from '../../../../src/resources/watch/watch.ts';
import type { WatchForm } from '../../../../src/resources/watch/watch-event.ts';
import type { WatchQuery } from '../../../../src/resources/watch/watch-query.ts';
import { StatusError } from '../../../../src/status-error.ts';
import { applyEvents, type WatchEvent } from '../../../support/watcher.ts';
import { parseNodeWatchQuery } from '../node-objects.ts';

/** Whole events, as a client reads them off the stream; no more than so many. */
function eventsOf(text: string, form: WatchForm, most: number): WatchEvent[] {
  const lines = text.split('\n').flatMap((line) => {
    const data = form === 'json' ? line : line.startsWith('data: ') ? line.slice('data: '.length) : '';
    return data === '' ? [] : [data];
  });
  return lines.slice(0, most).map((line) => JSON.parse(line) as WatchEvent);
}

export interface WatchClientOptions {
  readonly query?: string;
  readonly form?: WatchForm;
  /** What it goes on from: its last bookmark, or the last event of any kind, as client-go does. */
  readonly goesOnFrom?: 'bookmark' | 'event';
  /** The parser of the kind that it watches. Default: that of nodes. */
  readonly parse?: (queryString: string) => WatchQuery;
}

type Source = WatchSource & Lister;

/** Applies what it is told, and knows from where to go on. */
export class WatchClient {
  items: ReadonlyMap<string, unknown> = new Map();
  readonly told: WatchEvent[] = [];
  /** Where it goes on; empty: nowhere, it has to begin anew. */
  version = '';
  /** How much it was told before it began anew for the last time. */
  forgotAt = 0;
  /** How often it was told to begin anew. */
  expired = 0;
  /** Called with the version of each bookmark: the client has been told that it has everything. */
  onBookmark: (version: string) => void = () => {};
  source: Source;
  readonly #options: Required<WatchClientOptions>;
  #watch: Watch;

  constructor(source: Source, options: WatchClientOptions = {}) {
    this.source = source;
    this.#options = { query: '', form: 'json', goesOnFrom: 'bookmark', parse: parseNodeWatchQuery, ...options };
    this.#watch = this.#open();
  }

  get isBehind(): boolean {
    this.source.refresh();
    return this.#watch.isBehind;
  }

  /** Takes one batch, if there is one. False: it is up to date. */
  take(): boolean {
    return this.#hear(this.#next());
  }

  takeAll(): void {
    for (let left = 10_000; left > 0 && this.take(); left--);
  }

  /** The connection breaks within the next batch: no more than so many of its events arrive. */
  cut(events: number): void {
    this.#hear(this.#next(), events);
    this.reconnect();
  }

  /** As an idle stream would. */
  keepAlive(): void {
    this.#hear(this.#watch.keepAlive());
  }

  /** Goes on from where it can, or anew when that is too old. */
  reconnect(source: Source = this.source): void {
    this.source = source;
    if (this.version === '') this.#forget();
    this.#watch = this.#openOrExpired() ?? this.#open();
  }

  #next(): Uint8Array | undefined {
    this.source.refresh();
    try {
      let bytes = this.#watch.next();
      while (!bytes && this.#watch.isBehind) bytes = this.#watch.next();
      return bytes;
    } catch (error) {
      this.#beginAnew(error);
      this.#watch = this.#open();
      return this.#watch.next();
    }
  }

  #openOrExpired(): Watch | undefined {
    try {
      return this.#open();
    } catch (error) {
      this.#beginAnew(error);
      return undefined;
    }
  }

  #beginAnew(error: unknown): void {
    if (!(error instanceof StatusError) || error.answer.code !== 410) throw error;
    this.expired++;
    this.#forget();
  }

  #reset(): true {
    if (this.told.length > 0) this.expired++;
    this.#forget();
    return true;
  }

  #forget(): void {
    this.version = '';
    this.items = new Map();
    this.forgotAt = this.told.length;
  }

  #open(): Watch {
    this.source.refresh();
    const { query, form, parse } = this.#options;
    const text = `watch=true&resourceVersion=${this.version}${query && `&${query}`}`;
    return this.source.watch(parse(text), form);
  }

  #hear(bytes: Uint8Array | undefined, most = Number.POSITIVE_INFINITY): boolean {
    if (!bytes) return false;
    const { form, goesOnFrom } = this.#options;
    const events = eventsOf(Buffer.from(bytes).toString(), form, most);
    if (events[0]?.type === 'RESET') return this.#reset();
    this.items = applyEvents(events, this.items);
    this.told.push(...events);
    for (const { type, object } of events) {
      const { resourceVersion } = object.metadata;
      const canGoOn = !/-0(-|$)/.test(resourceVersion);
      if (type === 'BOOKMARK' || (goesOnFrom === 'event' && canGoOn)) this.version = resourceVersion;
      if (type === 'BOOKMARK') this.onBookmark(resourceVersion);
    }
    return true;
  }
}
