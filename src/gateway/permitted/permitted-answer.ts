import type { Clock } from '../../runtime/clock.ts';
import type { Gateway } from '../gateway.ts';
import { badGateway } from '../refusals.ts';
import type { AskedCollection, PermittedCall } from './asked-collection.ts';
import { type AskedPage, type AskedQuery, queryOf, readListQuery } from './asked-query.ts';
import { readContinue } from './continue-token.ts';
import { jsonAccept } from './json-accept.ts';
import { type AheadSeats, ListAsCaller, type ListEnd } from './list-as-caller.ts';
import { listAsOurselves } from './list-as-ourselves.ts';
import { readPart, type SendPart } from './list-part.ts';
import { UnreadableList } from './list-splitter.ts';
import { type ListOut, MergedList } from './merged-list.ts';
import { type OwnReads, pathOf } from './own-reads.ts';
import { PermittedWatch } from './permitted-watch.ts';
import { expired, onlyJson } from './refusals.ts';
import { ScopeFilter } from './scope-filter.ts';
import type { ScopeHistory } from './scope-history.ts';
import type { ViewedScope } from './viewed-scope.ts';
import { scopeWarning } from './words.ts';

/**
 * Up to this many namespaces a list is made of their own lists, as the caller. Beyond it the lists of single namespaces cost the cluster
 * more than a list of everything (docs/decisions/0042-permitted-lists-by-filter.md has the measurement).
 */
const MOST_AS_CALLER = 64;

/** Headers of the client that are about the answer as a whole. */
const OF_THE_WHOLE = /^(accept|accept-encoding|range|if-.*)$/i;

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

export interface PermittedAnswerParts {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly reads: OwnReads;
  readonly viewed: ViewedScope;
  readonly history: ScopeHistory;
  /** Names the caller and the kind in the history. */
  readonly key: string;
  readonly seats: AheadSeats;
  onNoRight(asked: AskedCollection): void;
  /** Rejects if the cluster does not let us call it as this user. */
  prove(signal: AbortSignal): Promise<void>;
  currentView(signal: AbortSignal): Promise<ViewedScope>;
}

/** The answer to one list or watch, over the namespaces of a scope. */
export class PermittedAnswer {
  readonly #asked: AskedCollection;
  readonly #permitted: PermittedCall;
  readonly #parts: PermittedAnswerParts;
  readonly #query: AskedQuery;
  readonly #accept: string;
  readonly #filter: ScopeFilter;

  /** Throws a 400 or 406 for a query or `Accept` that cannot be answered. */
  constructor(permitted: PermittedCall, parts: PermittedAnswerParts) {
    this.#permitted = permitted;
    this.#asked = permitted.asked;
    this.#parts = parts;
    this.#query = readListQuery(permitted.query);
    const accept = jsonAccept(headerIn(permitted.call.rawHeaders, 'accept'));
    if (accept === undefined) throw onlyJson();
    this.#accept = accept;
    this.#filter = new ScopeFilter(parts.viewed.scope, { isOfNamespaces: this.#isOfNamespaces });
  }

  /** The number of namespaces that it is about. */
  get namespaces(): number {
    return this.#parts.viewed.scope.names.size;
  }

  /** Whose right the cluster checks: a list over few namespaces is made of lists as the caller. */
  get way(): 'as_caller' | 'as_ourselves' {
    const isFew = this.namespaces <= MOST_AS_CALLER && !this.#isOfNamespaces;
    return this.#asked.verb === 'list' && isFew ? 'as_caller' : 'as_ourselves';
  }

  /**
   * Sends the answer. Resolves to false, with nothing sent, if the call is to be passed on after all: the cluster refuses our own account.
   * Rejects with a `StatusError` while nothing was sent, and with any error after that.
   */
  async send(out: ListOut, signal: AbortSignal): Promise<boolean> {
    const { gateway, prove } = this.#parts;
    if (this.way === 'as_ourselves') await prove(signal);
    const sent = this.#asked.verb === 'watch' ? this.#watch(out, signal) : this.#list(out, signal);
    return sent.catch((error) => {
      if (error instanceof UnreadableList) throw badGateway(error);
      return gateway.fail(error, this.#permitted.call);
    });
  }

  get #isOfNamespaces(): boolean {
    return this.#asked.group === '' && this.#asked.resource === 'namespaces';
  }

  async #list(out: ListOut, signal: AbortSignal): Promise<boolean> {
    const { history, key } = this.#parts;
    const { scope } = this.#parts.viewed;
    const { continueToken } = this.#query;
    const position = continueToken === '' ? undefined : readContinue(continueToken, scope.id);
    if (continueToken !== '' && !position) throw expired();
    // The later pages would only repeat it.
    const warning = position ? [] : scopeWarning(this.#asked, this.namespaces);
    const into = new MergedList(out, warning);
    const end = await this.#run(into, position, signal);
    if (!('refused' in end)) {
      if (end.isWhole) history.listed(key, scope.id, end.version);
      else history.told(key, scope.id, end.version);
      return true;
    }
    const { status, headers, body } = end.refused;
    if (status === 403 && this.way === 'as_ourselves') this.#parts.onNoRight(this.#asked);
    if (status === 403 && !into.hasBegun) return false;
    if (into.hasBegun) throw new Error(`a part of the list was answered ${status}`);
    if (status === 410) throw expired();
    out.start(status, headers);
    void out.data(body);
    out.end();
    return true;
  }

  #run(into: MergedList, position: ReturnType<typeof readContinue>, signal: AbortSignal): Promise<ListEnd> {
    const { reads, seats } = this.#parts;
    const { scope } = this.#parts.viewed;
    const query = this.#query;
    const shared = { query, scopeId: scope.id, position, into };
    if (this.way === 'as_ourselves') {
      const keeps = (item: Buffer, array: string): boolean => this.#filter.hasItem(item, array);
      const send = (page: AskedPage): SendPart => reads.list(this.#asked, queryOf(query, page), this.#accept);
      return listAsOurselves({ ...shared, keeps, send }, signal);
    }
    const send = (namespace: string, page: AskedPage): SendPart => this.#sendAsCaller(namespace, page);
    return new ListAsCaller({ ...shared, namespaces: [...scope.names].toSorted(byBytes), seats, send }).run(signal);
  }

  #sendAsCaller(namespace: string, page: AskedPage): SendPart {
    const { call } = this.#permitted;
    const target = pathOf(this.#asked, namespace) + queryOf(this.#query, page);
    const kept = call.rawHeaders.filter((_, at, all) => !OF_THE_WHOLE.test(all[at - (at % 2)] as string));
    const rawHeaders = [...kept, 'Accept', this.#accept];
    return (answer, signal) => this.#parts.gateway.forward({ ...call, target, rawHeaders }, answer, signal);
  }

  async #watch(out: ListOut, signal: AbortSignal): Promise<boolean> {
    const { viewed, history, key, clock, reads, currentView } = this.#parts;
    const { version, versionMatch, sendsInitialEvents } = this.#query;
    // A watch that begins with all objects, or with the next event, goes on from nothing that the client has.
    const isResumed = version !== '' && version !== '0' && !sendsInitialEvents;
    if (isResumed && !history.accepts(key, viewed.viewId, version)) throw expired();
    this.#permitted.call.onSend?.();
    const watch = new PermittedWatch({
      ...{ clock, history, key, out, viewed, filter: this.#filter },
      send: reads.watch(this.#asked, queryOf(this.#query, { version, versionMatch }), this.#accept),
      currentView: () => currentView(signal),
      readVersion: () => this.#readVersion(signal),
    });
    if ((await watch.run(signal)) === 'ended') return true;
    this.#parts.onNoRight(this.#asked);
    return false;
  }

  async #readVersion(signal: AbortSignal): Promise<string | undefined> {
    const send = this.#parts.reads.list(this.#asked, '?limit=1', METADATA_LIST);
    const nothing = { begin: () => undefined, item: () => undefined, member: () => undefined, flush: () => undefined };
    const part = await readPart(send, nothing, signal);
    return part.refused ? undefined : part.version;
  }
}

/** The order of keys in etcd, which is that of the cluster's own lists. Names of namespaces are ASCII. */
const byBytes = (a: string, b: string): number => (a < b ? -1 : 1);

function headerIn(rawHeaders: readonly string[], name: string): string | undefined {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return values.length === 0 ? undefined : values.join(',');
}
