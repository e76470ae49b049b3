import type { NodeLister } from '../../../src/nodes/node-lister.ts';
import type { NodeWatch, NodeWatchSource } from '../../../src/nodes/node-watch.ts';
import type { WatchForm } from '../../../src/nodes/watch-event.ts';
import { parseNodeWatchQuery } from '../../../src/nodes/watch-query.ts';
import { StatusError } from '../../../src/status-error.ts';
import { applyEvents, type WatchEvent } from '../../support/watcher.ts';

/** Whole events, as a client reads them off the stream. */
function eventsOf(text: string, form: WatchForm): { events: WatchEvent[]; id: string; isReset: boolean } {
  const events: WatchEvent[] = [];
  let id = '';
  for (const line of text.split('\n')) {
    const data = form === 'json' ? line : line.startsWith('data: ') ? line.slice('data: '.length) : '';
    if (data !== '') events.push(JSON.parse(data) as WatchEvent);
    if (form === 'events' && line.startsWith('id: ')) id = line.slice('id: '.length);
  }
  const isReset = events[0]?.type === 'RESET';
  return { events: isReset ? [] : events, id, isReset };
}

/** Applies what it is told, and knows from where to go on. */
export class WatchClient {
  items: ReadonlyMap<string, unknown> = new Map();
  readonly told: WatchEvent[] = [];
  version = '';
  /** The client has just been told that it has everything. */
  onBookmark: () => void = () => {};
  readonly #source: NodeWatchSource & NodeLister;
  readonly #query: string;
  readonly #form: WatchForm;
  #watch: NodeWatch;

  constructor(source: NodeWatchSource & NodeLister, query = '', form: WatchForm = 'json') {
    this.#source = source;
    this.#query = query;
    this.#form = form;
    this.#watch = this.#open();
  }

  get isBehind(): boolean {
    this.#source.refresh();
    return this.#watch.isBehind;
  }

  /** Takes one batch, if there is one. False: it is up to date. */
  take(): boolean {
    this.#source.refresh();
    return this.#hear(this.#watch.next());
  }

  takeAll(): void {
    for (let left = 10_000; left > 0 && this.take(); left--);
  }

  /** The connection breaks within the next batch: no more than so many of its events arrive. */
  cut(events: number): void {
    this.#source.refresh();
    this.#hear(this.#watch.next(), events);
    this.reconnect();
  }

  /** As an idle stream would. */
  keepAlive(): void {
    this.#hear(this.#watch.keepAlive());
  }

  /** Goes on from the last version that it was told, or anew when that is too old. */
  reconnect(): void {
    try {
      this.#watch = this.#open();
    } catch (error) {
      if (!(error instanceof StatusError) || error.answer.code !== 410) throw error;
      this.version = '';
      this.#watch = this.#open();
    }
    if (this.version === '') this.items = new Map();
  }

  #open(): NodeWatch {
    this.#source.refresh();
    return this.#source.watch(
      parseNodeWatchQuery(`watch=true&resourceVersion=${this.version}${this.#query && `&${this.#query}`}`),
      this.#form,
    );
  }

  #hear(bytes: Uint8Array | undefined, most = Number.POSITIVE_INFINITY): boolean {
    if (!bytes) return false;
    const whole = Buffer.from(bytes).toString();
    const end = this.#form === 'json' ? '\n' : '\n\n';
    const arrived = whole.split(end).slice(0, -1).slice(0, most);
    const { events, id, isReset } = eventsOf(arrived.map((one) => `${one}${end}`).join(''), this.#form);
    if (isReset) this.items = new Map();
    this.items = applyEvents(events, this.items);
    this.told.push(...events);
    const bookmark = events.findLast(({ type }) => type === 'BOOKMARK');
    this.version = bookmark?.object.metadata.resourceVersion ?? (id || this.version);
    if (bookmark) this.onBookmark();
    return true;
  }
}
