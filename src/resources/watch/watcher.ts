import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { ListState } from '../entries/collection-version.ts';
import type { ResourceStore } from '../entries/store.ts';
import { cut } from '../query/quoted.ts';
import type { Watch } from './watch.ts';
import type { Beginning, WatchBatches } from './watch-batches.ts';
import { COMMENT, RESET } from './watch-event.ts';
import type { WatchNaming } from './watch-naming.ts';
import type { Standing, WatchView } from './watch-view.ts';

/**
 * How long a client waits whose version is ahead of ours: replicas hear of a change within milliseconds of each other. What has
 * not come by then may be of a history that a restored cluster has no more.
 */
const CATCH_UP_MS = 30_000;

export interface WatcherParts {
  readonly store: ResourceStore;
  readonly naming: WatchNaming;
  readonly batches: WatchBatches;
  readonly clock: Clock;
  readonly view: WatchView;
  readonly bookmarks: boolean;
  /** All objects of the version that the store has. */
  all(): Beginning;
}

/** How a stream starts that does not just go on. */
export interface WatchStart {
  /** It tells all objects, not only what the client missed. */
  readonly isFirst: boolean;
  /** What the client names is to be here before anything is told, so that nothing older follows what it has. */
  readonly awaited?: { readonly seen: ListState; readonly text: string } | undefined;
  /** What to begin with; `undefined` when what the client missed is not known any more. */
  beginning(): Beginning | undefined;
}

/** Tells one client of what changes, along the versions of the store. */
export class Watcher implements Watch {
  readonly #parts: WatcherParts;
  readonly #startsBy: number;
  #start: WatchStart | undefined;
  /** What is left of what it begins with: from which object on. */
  #beginning: { readonly plan: Beginning; readonly at: number } | undefined;
  #standing: Standing;
  /** The bookmark that says that a first state, or what was missed, is complete. */
  #due: 'first' | 'caught up' | undefined = 'caught up';
  /** Its reader is to be told to forget what it has. */
  #isReset = false;

  /** Goes on from where the client stands, after `start` if there is one. */
  constructor(parts: WatcherParts, standing: Standing, start?: WatchStart) {
    this.#parts = parts;
    this.#standing = standing;
    this.#start = start;
    this.#startsBy = parts.clock.monotonic() + CATCH_UP_MS;
    if (start?.isFirst) this.#due = 'first';
  }

  get isBehind(): boolean {
    if (this.#start) return this.#canStart(this.#start) || this.#isTooLate;
    return this.#due !== undefined || this.#standing.position !== this.#parts.store.version;
  }

  get isBeginning(): boolean {
    return this.#start?.isFirst ?? (this.#beginning !== undefined && this.#beginning.plan.since === undefined);
  }

  next(): Uint8Array | undefined {
    if (this.#start && !this.#takeStart(this.#start)) return undefined;
    return this.#takeReset() ?? this.#nextOfBeginning() ?? this.#nextOfChanges() ?? this.#dueBookmark();
  }

  bookmark(): Uint8Array | undefined {
    if (!this.#parts.bookmarks || this.#start || this.#beginning) return undefined;
    return this.#due === 'first' ? this.#dueBookmark() : this.#bookmark(false);
  }

  keepAlive(): Uint8Array | undefined {
    const isTold = this.#due === undefined && this.#isComplete;
    if (isTold && this.#parts.bookmarks) return this.#bookmark(false);
    return this.#parts.view.form === 'events' ? COMMENT : undefined;
  }

  #canStart({ awaited }: WatchStart): boolean {
    return awaited === undefined || this.#parts.store.progress.hasSeen(awaited.seen);
  }

  get #isTooLate(): boolean {
    return this.#parts.clock.monotonic() >= this.#startsBy;
  }

  /** False while the client is ahead of us. */
  #takeStart(start: WatchStart): boolean {
    const canStart = this.#canStart(start);
    if (!canStart && !this.#isTooLate) return false;
    const plan = canStart ? start.beginning() : undefined;
    this.#start = undefined;
    if (plan) this.#begin(plan);
    else this.#beginAnew(start.awaited?.text ?? '');
    return true;
  }

  #begin(plan: Beginning): void {
    const { version, before: complete } = plan;
    this.#beginning = { plan, at: 0 };
    this.#standing = { ...this.#standing, basis: version, position: version, told: version, complete, seen: undefined };
    this.#isReset = this.#parts.view.form === 'events' && plan.since === undefined;
  }

  /** What happened since is not known: it begins anew, on a new connection where that is its client's to do. */
  #beginAnew(version: string): void {
    const { view, all } = this.#parts;
    if (view.form === 'json') throw expired(version);
    this.#due = 'first';
    this.#begin(all());
  }

  #takeReset(): Uint8Array | undefined {
    const reset = this.#isReset ? RESET : undefined;
    this.#isReset = false;
    return reset;
  }

  #nextOfBeginning(): Uint8Array | undefined {
    const { batches, store, view } = this.#parts;
    while (this.#beginning) {
      const { plan, at } = this.#beginning;
      // A removal that was forgotten meanwhile is told by nothing that follows.
      if (!store.changes.knows(plan.version)) return this.#reset(plan.complete);
      const { bytes, next } = batches.begin(plan, at, view);
      const isDone = next >= plan.keys.length;
      this.#beginning = isDone ? undefined : { plan, at: next };
      const told = store.version;
      const seen = told > plan.version ? store.progress.seen : undefined;
      this.#standing = { ...this.#standing, told, seen, complete: isDone ? plan.complete : plan.before };
      if (bytes.length > 0) return bytes;
    }
    return undefined;
  }

  #nextOfChanges(): Uint8Array | undefined {
    const { batches, store, view } = this.#parts;
    while (!(this.#due && this.#isComplete) && this.#standing.position !== store.version) {
      if (!store.changes.knows(this.#standing.position)) return this.#reset(this.#standing.complete);
      const { bytes, next } = batches.after(this.#standing, view);
      this.#standing = next;
      if (bytes.length > 0) return bytes;
    }
    return undefined;
  }

  #reset(version: string): Uint8Array | undefined {
    this.#beginAnew(version);
    return this.#takeReset();
  }

  /** Its reader has the list of one version, and nothing that is newer. */
  get #isComplete(): boolean {
    const { basis, position, told } = this.#standing;
    return !this.#start && !this.#beginning && basis === position && told <= basis;
  }

  #dueBookmark(): Uint8Array | undefined {
    const due = this.#due;
    this.#due = undefined;
    return due && this.#parts.bookmarks ? this.#bookmark(due === 'first') : undefined;
  }

  /** Pods that change no sum bring a client forward as well. */
  #bookmark(isFirst: boolean): Uint8Array {
    const { batches, naming, store, view } = this.#parts;
    const { basis, position, complete, seen } = this.#standing;
    const told = seen ? naming.ahead(complete, seen) : complete;
    const whole = position === store.version ? naming.current() : told;
    return batches.bookmark(basis === position ? whole : naming.midway(position, complete), { isFirst }, view);
  }
}

/** As the API server says it: whoever reads this begins anew without a version. */
export const expired = (version: string): StatusError =>
  new StatusError({
    code: 410,
    reason: 'Expired',
    message: `too old resource version: ${cut(version)}: begin again without one`,
  });
