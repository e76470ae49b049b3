import type { AskedPage, AskedQuery } from './asked-query.ts';
import { type ListPosition, writeContinue } from './continue-token.ts';
import { type HeldItems, readAhead } from './held-part.ts';
import type { ListPart, RefusedPart, SendPart } from './list-part.ts';
import type { MergedList } from './merged-list.ts';
import { expired } from './refusals.ts';

/** How many namespaces are read before their turn, for one list and for all lists together. */
const AHEAD = 15;
const AHEAD_OF_ALL = 128;

/** The namespaces that all lists read before their turn: 16 MiB at most, and a quarter of the connections. */
export class AheadSeats {
  #taken = 0;

  take(): boolean {
    if (this.#taken >= AHEAD_OF_ALL) return false;
    this.#taken++;
    return true;
  }

  release(): void {
    this.#taken--;
  }
}

interface ListAsCallerParts {
  readonly query: AskedQuery;
  readonly scopeId: string;
  /** In the order of the list. */
  readonly namespaces: readonly string[];
  readonly position: ListPosition | undefined;
  readonly into: MergedList;
  readonly seats: AheadSeats;
  /** One request for the list of a namespace. */
  send(namespace: string, page: AskedPage): SendPart;
}

/** How a list ended. `isWhole`: no namespace of the scope was left out. */
export type ListEnd = { readonly version: string; readonly isWhole: boolean } | { readonly refused: RefusedPart };

const KEEPS_ALL = (): boolean => true;

/**
 * Lists the namespaces one after the other, each as the caller, so that the cluster judges each. All have the version of the first. Small
 * ones are read before their turn. A namespace that the cluster refuses is left out; any other refusal is that of the whole list.
 */
export class ListAsCaller {
  readonly #parts: ListAsCallerParts;
  readonly #ahead = new Map<number, Promise<HeldItems | undefined>>();
  #version: string;
  #isWhole = true;
  /** Whether small lists are expected. */
  #goesAhead = true;

  constructor(parts: ListAsCallerParts) {
    this.#parts = parts;
    this.#version = parts.position?.version ?? '';
  }

  /** Rejects as `Gateway.forward` does, and with a 410. */
  async run(signal: AbortSignal): Promise<ListEnd> {
    const over = new AbortController();
    try {
      return await this.#run(AbortSignal.any([signal, over.signal]));
    } finally {
      over.abort(); // ends what is still read ahead
    }
  }

  async #run(signal: AbortSignal): Promise<ListEnd> {
    const { namespaces, position, into } = this.#parts;
    let token = position?.token;
    let at = position?.namespace === undefined ? 0 : namespaces.indexOf(position.namespace);
    if (at < 0) throw expired();
    while (at < namespaces.length) {
      if (this.#left === 0) return this.#finish({ namespace: namespaces[at], token });
      const end = await this.#next(at, token, signal);
      const { refused } = end;
      if (refused && refused.status !== 403) return { refused };
      if (refused) this.#isWhole = false;
      else this.#version ||= end.version;
      token = end.token || undefined;
      if (token === undefined) at++;
    }
    return into.hasParts ? this.#finish(undefined) : { refused: NOTHING };
  }

  #finish(next: Pick<ListPosition, 'namespace' | 'token'> | undefined): ListEnd {
    const { into, scopeId } = this.#parts;
    const version = this.#version;
    into.finish(version, next && writeContinue({ scopeId, version, ...next }));
    return { version, isWhole: this.#isWhole };
  }

  /** How many items the client still takes. */
  get #left(): number {
    const { query, into } = this.#parts;
    return query.limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, query.limit - into.items);
  }

  /** Adds the next part. What was read before its turn is used if it fits into this page; otherwise it is asked for again. */
  async #next(at: number, token: string | undefined, signal: AbortSignal): Promise<ListPart> {
    const { namespaces, into, query } = this.#parts;
    this.#readAhead(at, signal);
    const held = await this.#ahead.get(at);
    this.#ahead.delete(at);
    if (held?.part.token === '' && held.items <= this.#left) {
      await held.replay(into.sink(KEEPS_ALL));
      return held.part;
    }
    const limit = query.limit === 0 ? 0 : this.#left;
    return into.add(this.#parts.send(namespaces[at] as string, this.#page(limit, token)), KEEPS_ALL, signal);
  }

  #page(limit: number, token?: string): AskedPage {
    const { query } = this.#parts;
    if (token !== undefined) return { limit, continueToken: token };
    if (this.#version !== '') return { limit, version: this.#version, versionMatch: 'Exact' };
    return { limit, version: query.version, versionMatch: query.versionMatch };
  }

  /** Begins to read the namespaces after this one. Not before the version is known, which the first one brings. */
  #readAhead(at: number, signal: AbortSignal): void {
    const { namespaces, seats, query } = this.#parts;
    if (this.#version === '' || !this.#goesAhead) return;
    for (let next = at + 1; next <= at + AHEAD && next < namespaces.length; next++) {
      if (this.#ahead.has(next)) continue;
      if (!seats.take()) return;
      const limit = query.limit === 0 ? 0 : this.#left;
      const reading = readAhead(this.#parts.send(namespaces[next] as string, this.#page(limit)), signal);
      const judged = reading.then((held) => {
        seats.release();
        if (!held) this.#goesAhead = false;
        return held;
      });
      this.#ahead.set(next, judged);
    }
  }
}

/** No namespace could be listed: the call is passed on, and the cluster refuses it. */
const NOTHING: RefusedPart = { status: 403, headers: [], body: Buffer.alloc(0) };
