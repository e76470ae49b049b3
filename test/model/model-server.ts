import type { Failure } from '../../src/kubernetes/reflector/failure.ts';
import type {
  ListerWatcher,
  ListPage,
  ListRequest,
  WatchRequest,
  WatchSink,
} from '../../src/kubernetes/reflector/lister-watcher.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { ListFault, Setting, WatchFault } from './commands.ts';
import { type Change, History } from './history.ts';
import { ListPages, tooLarge } from './list-pages.ts';
import { ModelWatch } from './model-watch.ts';
import { ABORTED, bookmark, errorEvent, initialEventsEnd, THROTTLED, toEvent, tooLargeEvent } from './wire.ts';
import type { Witness } from './witness.ts';

const SLOW_MS = 20_000;

/**
 * An API server in memory with the history of one collection, whose every answer may go wrong. Time passes only where a
 * list is slow; all else is answered at once.
 */
export class ModelServer implements ListerWatcher {
  readonly history: History;
  readonly #setting: Setting;
  readonly #clock: Clock;
  readonly #witness: Witness;
  readonly #pages: ListPages;
  readonly #watches = new Set<ModelWatch>();
  readonly listFaults: ListFault[] = [];
  readonly watchFaults: WatchFault[] = [];
  /** Refuses connections before this time. */
  downUntil = 0;
  /** Requests that are answered 401. */
  unauthorized = 0;
  /** How far this replica of the API server is behind etcd. */
  #behind = 0;
  #isSilent = false;
  #waitingForBytes: (() => void)[] = [];
  /** Timers of the server's own, so that the reflector's can be counted. */
  pendingTimers = 0;

  constructor(setting: Setting, clock: Clock, witness: Witness) {
    this.history = new History(setting.base, setting.store === 'pods');
    this.#setting = setting;
    this.#clock = clock;
    this.#witness = witness;
    this.#pages = new ListPages({ history: this.history, setting, witness, seen: () => this.#seen });
  }

  /** The watches that something can be sent on. */
  get openWatches(): ModelWatch[] {
    if (this.#isSilent) return [];
    return [...this.#watches].filter((watch) => watch.isOpen && watch.isAccepted && !watch.isDead);
  }

  /** What this replica has seen. */
  get #seen(): number {
    return Math.max(0, this.history.version - this.#behind);
  }

  /** Sends what the open watches have not been told. */
  flush(): void {
    for (const watch of this.openWatches) {
      for (const change of this.history.changesAfter(watch.sent, this.#seen)) {
        if (!watch.isOpen) break;
        watch.sent = change.version;
        this.send(watch, change);
      }
      watch.sent = Math.max(watch.sent, this.#seen);
    }
  }

  send(watch: ModelWatch, change: Change): void {
    this.#witness.active();
    this.#witness.delivering(change, () => watch.send(toEvent(change)));
  }

  /** `tooLow` by so many versions: no server should. */
  sendBookmarks(tooLow = 0): void {
    this.flush(); // what comes before it on the stream
    const version = Math.max(0, this.#seen - tooLow);
    for (const watch of this.openWatches) {
      this.#witness.active();
      this.#witness.bookmarked(version);
      watch.send(bookmark(this.history.textOf(version)));
    }
  }

  endAll(failure: Failure): void {
    for (const watch of this.openWatches) watch.end(failure);
  }

  /** What is open now gets nothing any more, and no end. */
  killAll(): void {
    for (const watch of this.#watches) watch.isDead ||= watch.isAccepted;
  }

  fallBehind(by: number): void {
    this.#behind = by;
  }

  silence(): void {
    this.#isSilent = true;
  }

  /** The line works, the server is whole and up to date; what waits to be sent comes. */
  heal(): void {
    this.#isSilent = false;
    this.#behind = 0;
    this.downUntil = 0;
    this.unauthorized = 0;
    this.listFaults.length = 0;
    this.watchFaults.length = 0;
    const waiting = this.#waitingForBytes;
    this.#waitingForBytes = [];
    for (const answer of waiting) answer();
    this.flush();
  }

  async list(request: ListRequest, progress: () => void, signal: AbortSignal): Promise<ListPage | Failure> {
    if (!request.metadataOnly) this.#witness.active();
    if (!request.continueToken) this.#witness.listStarts(request);
    const away = await this.#reached(signal);
    if (away) return away;
    const fault = this.listFaults.shift();
    const heard = request.metadataOnly ? progress : () => this.#heard(progress);
    const failure = fault ? await this.#failList(fault, { request, progress: heard }, signal) : undefined;
    if (failure) return failure;
    heard();
    return signal.aborted ? ABORTED : this.#pages.page(request, fault === 'older', signal);
  }

  async watch(request: WatchRequest, sink: WatchSink, signal: AbortSignal): Promise<Failure> {
    this.#witness.active();
    if (request.initialEvents) this.#witness.listStarts(request);
    else this.#witness.watchStarts(request);
    const watch = new ModelWatch(request, sink, signal);
    this.#watches.add(watch);
    const refusal = (await this.#reached(signal)) ?? this.#answer(watch, this.watchFaults.shift());
    if (refusal) watch.end(refusal);
    const failure = await watch.ended;
    this.#watches.delete(watch);
    this.#witness.watchEnded(watch, failure);
    return failure;
  }

  #heard(progress: () => void): void {
    this.#witness.active();
    progress();
  }

  async #reached(signal: AbortSignal): Promise<Failure | undefined> {
    if (this.#clock.monotonic() < this.downUntil) return { kind: 'refused', detail: 'down' };
    if (this.#isSilent) {
      await new Promise<void>((resolve) => {
        this.#waitingForBytes.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    if (signal.aborted) return ABORTED;
    if (this.unauthorized > 0) {
      this.unauthorized--;
      return { kind: 'refused', detail: '401' };
    }
    return undefined;
  }

  async #failList(
    fault: ListFault,
    { request, progress }: { readonly request: ListRequest; readonly progress: () => void },
    signal: AbortSignal,
  ): Promise<Failure | undefined> {
    if (fault === 'older') return undefined;
    if (fault === 'slow') return this.#slowly(progress, signal);
    if (fault === 'hangs') {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return ABORTED;
    }
    if (fault === 'throttled') return THROTTLED;
    const isCheck = request.metadataOnly && fault !== 'too_large_version';
    if ((fault === 'expired' || fault === 'too_large_version') && !isCheck) this.#witness.outOfReach(fault);
    return { kind: fault };
  }

  async #slowly(progress: () => void, signal: AbortSignal): Promise<undefined> {
    for (let part = 0; part < 3; part++) {
      this.pendingTimers++;
      await this.#clock.sleep(SLOW_MS, signal);
      this.pendingTimers--;
      if (!signal.aborted) progress();
    }
    return undefined;
  }

  /** Accepts the watch and sends what is due, or says how it is refused. */
  #answer(watch: ModelWatch, fault: WatchFault | undefined): Failure | undefined {
    switch (fault) {
      case 'hangs':
        watch.isDead = true;
        return undefined;
      case 'refused':
        return { kind: 'refused' };
      case 'throttled':
        return THROTTLED;
      case 'expired':
      case 'too_large_version':
        this.#witness.outOfReach(fault);
        return { kind: fault };
      default:
        return watch.request.initialEvents ? this.#startWithState(watch, fault) : this.#start(watch, fault);
    }
  }

  #startWithState(watch: ModelWatch, fault: WatchFault | undefined): Failure | undefined {
    const { history } = this;
    const { watchList } = this.#setting;
    const asked = watch.request.resourceVersion;
    if (watchList === 'unsupported') return { kind: 'unsupported' };
    const version = asked === '' ? history.version : this.#seen;
    if (asked !== '' && history.versionOf(asked) > version) return tooLarge(this.#witness);
    this.#accept(watch);
    const state = history.stateAt(version);
    const sent = [...state.values()].slice(0, fault === 'half_state' ? state.size / 2 : state.size);
    for (const object of sent) watch.send({ type: 'ADDED', object: { ...object } });
    watch.sent = version;
    if (fault === 'half_state') watch.isDead = true;
    else if (watchList === 'ignored') watch.send(bookmark(history.textOf(version)));
    else {
      this.#witness.served({ version, state, isQuorum: asked === '', signal: watch.signal });
      watch.send(initialEventsEnd(history.textOf(version)));
    }
    this.#spoil(watch, fault);
    return undefined;
  }

  #start(watch: ModelWatch, fault: WatchFault | undefined): Failure | undefined {
    const { history } = this;
    const version = history.versionOf(watch.request.resourceVersion);
    const isExpired = version < history.compacted;
    const isTooLarge = version > this.#seen && this.#setting.says !== 'nothing';
    if (isExpired || isTooLarge) this.#witness.outOfReach(isExpired ? 'expired' : 'too large');
    if ((isExpired || isTooLarge) && this.#setting.says !== 'event')
      return { kind: isExpired ? 'expired' : 'too_large_version' };
    watch.sent = version;
    this.#accept(watch);
    if (isExpired || isTooLarge) watch.send(isExpired ? errorEvent(410) : tooLargeEvent());
    this.flush();
    this.#spoil(watch, fault);
    return undefined;
  }

  #accept(watch: ModelWatch): void {
    this.#witness.active();
    watch.accept();
    this.#witness.accepted(watch);
  }

  #spoil(watch: ModelWatch, fault: WatchFault | undefined): void {
    if (!fault || fault === 'half_state' || !watch.isOpen) return;
    if (fault.startsWith('late_') && this.#behind === 0) {
      this.history.passOver();
      watch.sent = this.history.version;
      this.#witness.active();
      this.#witness.bookmarked(this.history.version);
      watch.send(bookmark(this.history.textOf(this.history.version)));
    }
    if (fault.endsWith('410')) this.#witness.outOfReach(fault);
    if (fault === 'error_410' || fault === 'late_410') watch.send(errorEvent(410));
    else if (fault === 'error_429' || fault === 'error_500') watch.send(errorEvent(fault === 'error_429' ? 429 : 500));
    else if (fault === 'late_closed' || fault === 'closed') watch.end({ kind: 'closed' });
    else if (fault === 'reset' || fault === 'unreadable') watch.end({ kind: fault });
  }
}
