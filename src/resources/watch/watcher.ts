import type { Clock } from '../../runtime/clock.ts';
import { cut } from '../../runtime/text/parameters.ts';
import { StatusError } from '../../status-error.ts';
import type { ListState } from '../entries/collection-version.ts';
import type { ResourceStore } from '../entries/store.ts';
import type { Within } from '../query/within.ts';
import type { Watch } from './watch.ts';
import type { InitialState, ScopeEvents, WatchBatches } from './watch-batches.ts';
import { COMMENT, RESET } from './watch-event.ts';
import type { WatchNaming } from './watch-version.ts';
import type { WatcherState } from './watch-view.ts';
import type { WatchViews } from './watch-views.ts';

/**
 * How long a client waits if its version is ahead of ours. Replicas see a change within milliseconds of each other. If we
 * have not reached the version by then, the cluster may have been restored to a state before it.
 */
const CATCH_UP_MS = 30_000;

export interface WatcherParts {
  readonly store: ResourceStore;
  readonly naming: WatchNaming;
  readonly batches: WatchBatches;
  readonly clock: Clock;
  readonly views: WatchViews;
  readonly bookmarks: boolean;
  /** All objects of the version that the store has. */
  all(): InitialState;
}

/** The start of a stream that begins with an initial state, or with what its client missed. */
export interface WatchStart {
  /** Whether it sends all objects, not only what the client missed. */
  readonly isFirst: boolean;
  /** The state that the client names. The watch sends nothing before we have reached it, so the client gets nothing older. */
  readonly awaited?: { readonly seen: ListState; readonly text: string } | undefined;
  /** What to begin with. `undefined` if we no longer know what the client missed. */
  beginning(): InitialState | undefined;
}

/** Sends one client the changes of the store, version by version. */
export class Watcher implements Watch {
  readonly #parts: WatcherParts;
  readonly #startsBy: number;
  #start: WatchStart | undefined;
  /** What the stream begins with, and the object at which it continues. */
  #beginning: { readonly plan: InitialState; readonly at: number } | undefined;
  #state: WatcherState;
  /** The bookmark that is still to be sent. `first` ends the initial events, `caught up` what a resumed client missed. */
  #due: 'first' | 'caught up' | undefined = 'caught up';
  /** Whether a `reset` comes next, by which the client forgets what it has. */
  #isReset = false;
  /** The events that tell of a change of rights, and the object at which they continue. */
  #rescoped: { readonly events: ScopeEvents; readonly at: number } | undefined;

  /** Sends what `start` says, if it is given, and then the changes since `state`. */
  constructor(parts: WatcherParts, state: WatcherState, start?: WatchStart) {
    this.#parts = parts;
    this.#state = state;
    this.#start = start;
    this.#startsBy = parts.clock.monotonic() + CATCH_UP_MS;
    if (start?.isFirst) this.#due = 'first';
  }

  get isBehind(): boolean {
    if (this.#start) return this.#canStart(this.#start) || this.#isTooLate;
    return (
      this.#due !== undefined || this.#parts.views.isChanging || this.#state.position !== this.#parts.store.version
    );
  }

  get isBeginning(): boolean {
    return this.#start?.isFirst ?? (this.#beginning !== undefined && this.#beginning.plan.since === undefined);
  }

  next(): Uint8Array | undefined {
    if (this.#start && !this.#takeStart(this.#start)) return undefined;
    const bytes =
      this.#takeReset() ??
      this.#nextOfBeginning() ??
      this.#nextOfChanges() ??
      this.#nextOfRights() ??
      this.#dueBookmark();
    return bytes?.length === 0 ? undefined : bytes;
  }

  rescope(within: Within): void {
    this.#parts.views.rescope(within);
    this.#rescoped = undefined;
  }

  bookmark(): Uint8Array | undefined {
    if (!this.#parts.bookmarks || this.#start || this.#beginning || this.#parts.views.isChanging) return undefined;
    return this.#due === 'first' ? this.#dueBookmark() : this.#bookmark(false);
  }

  keepAlive(): Uint8Array | undefined {
    const isCaughtUp = this.#due === undefined && this.#isComplete && !this.#parts.views.isChanging;
    if (isCaughtUp && this.#parts.bookmarks) return this.#bookmark(false);
    return this.#parts.views.present.form === 'events' ? COMMENT : undefined;
  }

  #canStart({ awaited }: WatchStart): boolean {
    return awaited === undefined || this.#parts.store.progress.hasSeen(awaited.seen);
  }

  get #isTooLate(): boolean {
    return this.#parts.clock.monotonic() >= this.#startsBy;
  }

  /** Returns false while the client is ahead of us. */
  #takeStart(start: WatchStart): boolean {
    const canStart = this.#canStart(start);
    if (!canStart && !this.#isTooLate) return false;
    const plan = canStart ? start.beginning() : undefined;
    this.#start = undefined;
    if (plan) this.#begin(plan);
    else this.#beginAnew(start.awaited?.text ?? '');
    return true;
  }

  #begin(plan: InitialState): void {
    const { version, before: complete } = plan;
    this.#beginning = { plan, at: 0 };
    this.#state = { ...this.#state, basis: version, position: version, newestSent: version, complete, seen: undefined };
    this.#isReset = this.#parts.views.present.form === 'events' && plan.since === undefined;
  }

  /** Begins again if we do not know what happened since the client's version. A client of JSON lines must reconnect. */
  #beginAnew(version: string): void {
    const { views, all } = this.#parts;
    if (views.present.form === 'json') throw expired(version);
    views.settle();
    this.#rescoped = undefined;
    this.#due = 'first';
    this.#begin(all());
  }

  #takeReset(): Uint8Array | undefined {
    const reset = this.#isReset ? RESET : undefined;
    this.#isReset = false;
    return reset;
  }

  /** Returns no bytes if the batch has no object for this client and there are more objects to look at. */
  #nextOfBeginning(): Uint8Array | undefined {
    const { batches, store, views } = this.#parts;
    while (this.#beginning) {
      const { plan, at } = this.#beginning;
      if (this.#isForgotten(plan)) return this.#reset(plan.complete);
      const { bytes, next } = batches.begin(plan, at, views.present);
      const isDone = next >= plan.keys.length;
      this.#beginning = isDone ? undefined : { plan, at: next };
      const newestSent = store.version;
      const seen = newestSent > plan.version ? store.progress.seen : undefined;
      this.#state = { ...this.#state, newestSent, seen, complete: isDone ? plan.complete : plan.before };
      if (bytes.length > 0 || !isDone) return bytes;
    }
    return undefined;
  }

  /**
   * Whether the log forgot a removal that the client must learn of: one after the plan was made, or one that the client
   * missed. No later event reports a missed removal if a new object has the same name and the client does not see it.
   */
  #isForgotten({ version, since }: InitialState): boolean {
    const { changes } = this.#parts.store;
    return !changes.knows(version) || (since !== undefined && !changes.knowsAfter(since.state.objects.newest));
  }

  /** Returns no bytes in the same case as `#nextOfBeginning`. */
  #nextOfChanges(): Uint8Array | undefined {
    const { batches, store, views } = this.#parts;
    while (!(this.#due && this.#isComplete) && this.#state.position !== store.version) {
      if (!store.changes.knows(this.#state.position)) return this.#reset(this.#state.complete);
      const { bytes, next } = batches.after(this.#state, views.present);
      this.#state = next;
      if (bytes.length > 0 || next.position !== store.version) return bytes;
    }
    return undefined;
  }

  /** Comes when the client has all changes. An object that changes meanwhile is sent again, or DELETED again, which does no harm. */
  #nextOfRights(): Uint8Array | undefined {
    const { batches, store, views } = this.#parts;
    if (!views.isChanging || this.#beginning || this.#state.position !== store.version) return undefined;
    const { events, at } = this.#rescoped ?? { events: this.#scopeEvents(), at: 0 };
    const { bytes, next } = batches.rescoped({ events, at }, this.#state, views.present);
    if (next < events.lost.length + events.gained.length) {
      this.#rescoped = { events, at: next };
      return bytes;
    }
    this.#rescoped = undefined;
    views.settle();
    this.#due ??= 'caught up';
    return bytes;
  }

  #scopeEvents(): ScopeEvents {
    const { lost, gained } = this.#parts.views.changes();
    const { store } = this.#parts;
    return { lost: store.keysIn(lost), gained: store.keysIn(gained) };
  }

  #reset(version: string): Uint8Array | undefined {
    this.#beginAnew(version);
    return this.#takeReset();
  }

  /** Whether the client has the list of one version, and nothing newer. */
  get #isComplete(): boolean {
    const { basis, position, newestSent } = this.#state;
    return !this.#start && !this.#beginning && basis === position && newestSent <= basis;
  }

  #dueBookmark(): Uint8Array | undefined {
    const due = this.#due;
    this.#due = undefined;
    return due && this.#parts.bookmarks ? this.#bookmark(due === 'first') : undefined;
  }

  /** The version grows even if no object changed, for example by pods that change no sum. */
  #bookmark(isFirst: boolean): Uint8Array {
    const { batches, naming, store, views } = this.#parts;
    const { basis, position, complete, seen } = this.#state;
    const sent = seen ? naming.ahead(complete, seen) : complete;
    const whole = position === store.version ? naming.current() : sent;
    return batches.bookmark(basis === position ? whole : naming.midway(position, complete), { isFirst }, views.present);
  }
}

/** The message begins with the API server's words. Clients that look for them begin again without a version. */
export const expired = (version: string): StatusError =>
  new StatusError('Expired', {
    message: `too old resource version: ${cut(version)}: begin again without one`,
  });
