import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { compareResourceVersions, isKubernetesObject, versionOf } from '../object.ts';
import type { Failure } from './failure.ts';
import type { ListerWatcher, WatchEvent, WatchRequest, WatchSink } from './lister-watcher.ts';
import { type PartOfCollection, PartWatch } from './part-watch.ts';
import { endsInitialEvents } from './watch-session.ts';

/**
 * The server ends every watch after some minutes, and the reflector reopens it within some ms. Followers wait so long for that. After a
 * longer outage they open watches of their own.
 */
const REOPENED_WITHIN_MS = 1_000;

/**
 * How many of its newest events the watch keeps while a follower is not at the same version yet. In a flood the two watches are some
 * chunks of 64 kB apart, each with at most some tens of events.
 */
const MOST_RECENT = 256;

const CLOSED: Failure = { kind: 'closed' };

/** The changes of the whole collection, from the end of its list on. */
interface Stretch {
  /** The watch that brings the changes. `undefined`: the server has ended it, and it is not open again yet. */
  open: object | undefined;
  /** `recent` has all changes after this version and up to `newest`. */
  start: string;
  newest: string;
  recent: WatchEvent[];
  /** See `WatchSink.busy`. */
  busy(): Promise<void> | undefined;
}

/**
 * Lets the reflector of a part of a collection, which a field selector describes, do without a watch of its own while another reflector
 * watches the whole collection.
 *
 * A follower begins with a watch of its own. As soon as the shared watch knows all changes after the version that the follower has, the
 * follower's own watch ends, and it gets the changes of its part from the shared one, exactly as its own watch would have brought them.
 * When the shared watch ends, the follower's watch ends too, as if the server had closed it. A reset stays a reset, because a reflector
 * compares its store with the cluster after one. The follower's reflector goes on from its last version with a watch of its own, so
 * nothing is lost or comes twice.
 */
export class SharedWatch {
  readonly #clock: Clock;
  readonly #waiting = new Set<PartWatch>();
  readonly #joined = new Set<PartWatch>();
  #stretch: Stretch | undefined;
  #cancelWait: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The lister-watcher of the whole collection. Its watches can be followed from now on. */
  publish(whole: ListerWatcher): ListerWatcher {
    return {
      list: (request, progress, signal) => whole.list(request, progress, signal),
      watch: (request, sink, signal) => this.#watchWhole(whole, { request, sink }, signal),
    };
  }

  /** The lister-watcher of a part of the collection. Its lists are its own; its watches follow the shared one when there is one. */
  follow(own: ListerWatcher, part: PartOfCollection): ListerWatcher {
    return {
      list: (request, progress, signal) => own.list(request, progress, signal),
      watch: (request, sink, signal) => this.#watchPart(own, new PartWatch(part, request, sink), signal),
    };
  }

  async #watchWhole(
    whole: ListerWatcher,
    { request, sink }: { readonly request: WatchRequest; readonly sink: WatchSink },
    signal: AbortSignal,
  ): Promise<Failure> {
    const watch = {};
    const busy = (): Promise<void> | undefined => sink.busy?.();
    const ended = await whole.watch(
      request,
      {
        accepted: () => {
          sink.accepted();
          if (!request.initialEvents) this.#begin({ watch, busy, version: request.resourceVersion });
        },
        bytes: () => {
          sink.bytes();
          if (this.#stretch?.open === watch) for (const follower of this.#joined) follower.bytes();
        },
        event: (event) => {
          const failure = sink.event(event);
          if (this.#stretch?.open === watch) this.#event(event);
          else if (!failure && endsInitialEvents(event)) this.#begin({ watch, busy, version: versionOf(event.object) });
          return failure;
        },
        busy,
      },
      signal,
    );
    this.#ended(watch, ended);
    return ended;
  }

  async #watchPart(own: ListerWatcher, follower: PartWatch, signal: AbortSignal): Promise<Failure> {
    const stopListening = onAbort(signal, () => follower.end({ kind: 'aborted' }));
    const meet = (): void => this.#meet(follower);
    this.#waiting.add(follower);
    const ended = await own.watch(follower.request, follower.ofOwn(meet), follower.ownSignal);
    this.#waiting.delete(follower);
    const failure = follower.isJoined ? await follower.ended : ended;
    this.#joined.delete(follower);
    stopListening();
    return failure;
  }

  /** The shared watch brings all changes after this version from now on. */
  #begin({ watch, version, busy }: { watch: object; version: string; busy: Stretch['busy'] }): void {
    this.#cancelWait();
    if (this.#stretch?.newest === version) {
      this.#stretch.open = watch;
      this.#stretch.busy = busy;
    } else {
      this.#drop();
      this.#stretch = { open: watch, start: version, newest: version, recent: [], busy };
    }
    this.#meetAll();
  }

  #event(event: WatchEvent): void {
    const stretch = this.#stretch;
    const version = versionOf(event.object);
    if (!stretch || version === '') return;
    if (event.type !== 'BOOKMARK') {
      if (!isChange(event)) return;
      stretch.recent.push(event);
    }
    if (compareResourceVersions(version, stretch.newest) > 0) stretch.newest = version;
    for (const follower of this.#joined) follower.event(event);
    this.#meetAll();
    this.#forget(stretch);
  }

  /** Keeps the recent changes only while a follower may need them. */
  #forget(stretch: Stretch): void {
    if (this.#waiting.size === 0) {
      stretch.recent = [];
      stretch.start = stretch.newest;
    }
    while (stretch.recent.length > MOST_RECENT) stretch.start = versionOf(stretch.recent.shift()?.object);
  }

  #meetAll(): void {
    for (const follower of this.#waiting) this.#meet(follower);
  }

  /** Lets a follower go over to the shared watch if that knows all changes after the follower's version. */
  #meet(follower: PartWatch): void {
    const stretch = this.#stretch;
    if (!stretch?.open || !isWithin(stretch, follower.version)) return;
    // While either of the two lists is written to its store, the watch pauses.
    const busy = stretch.busy() ?? follower.busy();
    if (busy) {
      busy.then(
        () => this.#meet(follower),
        () => undefined,
      );
      return;
    }
    if (!this.#waiting.delete(follower)) return;
    this.#joined.add(follower);
    follower.join(stretch.recent);
  }

  #ended(watch: object, failure: Failure): void {
    if (this.#stretch?.open !== watch) return;
    this.#stretch.open = undefined;
    if (failure.kind === 'closed') this.#cancelWait = this.#clock.after(REOPENED_WITHIN_MS, () => this.#drop());
    else this.#drop(failure.kind === 'reset' ? failure : CLOSED);
  }

  #drop(failure: Failure = CLOSED): void {
    this.#cancelWait();
    this.#stretch = undefined;
    for (const follower of this.#joined) follower.end(failure);
    this.#joined.clear();
  }
}

const isWithin = ({ start, newest }: Stretch, version: string | undefined): boolean =>
  version !== undefined &&
  compareResourceVersions(start, version) <= 0 &&
  compareResourceVersions(version, newest) <= 0;

const CHANGES: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED']);

/** An event that is not one is for the reflector of the whole collection to count. */
const isChange = ({ type, object }: WatchEvent): boolean => CHANGES.has(type) && isKubernetesObject(object);
