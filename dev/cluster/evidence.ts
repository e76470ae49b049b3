import type { ApiRequest, Verb } from './request.ts';
import { Waiters } from './waiters.ts';

/**
 * The number of raw requests that are kept. The oldest are dropped first, so that a long soak does not fill the memory.
 */
const REQUESTS_KEPT = 10_000;

/** Records what the server has received. Tests use it to check the number of requests and their exact bytes. */
export class Evidence {
  readonly #counts = new Map<string, number>();
  readonly #openWatches = new Map<string, number>();
  readonly #waiters = new Waiters();
  #requests: ApiRequest[] = [];
  #connections = 0;
  #openConnections = 0;

  /** TCP connections accepted since the start. */
  get connections(): number {
    return this.#connections;
  }

  get openConnections(): number {
    return this.#openConnections;
  }

  /** The last 10,000 requests, oldest first. */
  get requests(): readonly ApiRequest[] {
    return this.#requests;
  }

  /**
   * Requests of a verb on a kind (`nodes`, `certificates.cert-manager.io`) or on another path (`/apis`) since the start or the last
   * `reset`; a page of a list counts as a list.
   */
  count(verb: Verb, kind: string): number {
    return this.#counts.get(`${verb} ${kind}`) ?? 0;
  }

  /** The number of lists; a list with several pages counts once. */
  listStarts(kind: string): number {
    return this.count('list', kind) - this.count('list page', kind);
  }

  /** Watches being streamed now, of one kind or of all. */
  openWatches(kind?: string): number {
    if (kind !== undefined) return this.#openWatches.get(kind) ?? 0;
    return [...this.#openWatches.values()].reduce((sum, open) => sum + open, 0);
  }

  /** Forgets counts and requests. Open watches stay open, and connections stay counted. */
  reset(): void {
    this.#counts.clear();
    this.#requests = [];
  }

  /** Resolves as soon as the condition holds, which is checked again after each request, connection and watch. */
  until(condition: () => boolean, signal: AbortSignal = AbortSignal.timeout(60_000)): Promise<void> {
    return this.#waiters.until(condition, signal, () => 'the simulated cluster did not see what was waited for');
  }

  /** For the server. */
  connectionOpened(): number {
    this.#openConnections++;
    this.#connections++;
    this.#waiters.lookAgain();
    return this.#connections;
  }

  /** For the server. */
  connectionClosed(): void {
    this.#openConnections--;
    this.#waiters.lookAgain();
  }

  /** For the server. */
  requestRead(request: ApiRequest): void {
    const { verb, target, query } = request;
    if (this.#requests.length >= REQUESTS_KEPT) this.#requests = this.#requests.slice(REQUESTS_KEPT / 2);
    this.#requests.push(request);
    const kind = target?.kind.name ?? request.path;
    this.#add(this.#counts, `${verb} ${kind}`, 1);
    if (verb === 'list' && query.get('continue')) this.#add(this.#counts, `list page ${kind}`, 1);
    this.#waiters.lookAgain();
  }

  /** For the server: counts an open watch until the returned function is called. */
  watchOpened(kind: string): () => void {
    this.#add(this.#openWatches, kind, 1);
    this.#waiters.lookAgain();
    return () => {
      this.#add(this.#openWatches, kind, -1);
      this.#waiters.lookAgain();
    };
  }

  #add(counts: Map<string, number>, key: string, by: number): void {
    counts.set(key, (counts.get(key) ?? 0) + by);
  }
}
