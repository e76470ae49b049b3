import { compareResourceVersions, type KubernetesObject, keyOf, versionOf } from '../object.ts';
import type { Failure } from './failure.ts';
import type { WatchEvent, WatchRequest, WatchSink } from './lister-watcher.ts';
import { endsInitialEvents } from './watch-session.ts';

/** The objects of a collection that a field selector selects, and those of them that the reflector's store has. */
export interface PartOfCollection {
  /** Whether the API server's answer to the field selector has this object. */
  selects(object: KubernetesObject): boolean;
  has(key: string): boolean;
}

/** A watch of a part of a collection: at first a watch of its own, and after `join` what comes from a watch of the whole collection. */
export class PartWatch {
  readonly request: WatchRequest;
  readonly #part: PartOfCollection;
  readonly #sink: WatchSink;
  readonly #ownEnds = new AbortController();
  readonly #ended = Promise.withResolvers<Failure>();
  #isAccepted = false;
  #isListing: boolean;
  #version: string;
  #state: 'own' | 'joined' | 'ended' = 'own';
  #isJoined = false;

  constructor(part: PartOfCollection, request: WatchRequest, sink: WatchSink) {
    this.#part = part;
    this.request = request;
    this.#sink = sink;
    this.#version = request.resourceVersion;
    this.#isListing = request.initialEvents === true;
  }

  /** The sink has got all changes up to this version. `undefined` before the server has accepted the watch or sent the whole list. */
  get version(): string | undefined {
    return this.#isAccepted && !this.#isListing ? this.#version : undefined;
  }

  /** Whether it ever joined. Then `ended` says how the watch ended. */
  get isJoined(): boolean {
    return this.#isJoined;
  }

  get ended(): Promise<Failure> {
    return this.#ended.promise;
  }

  /** Aborts when the watch of its own must end. */
  get ownSignal(): AbortSignal {
    return this.#ownEnds.signal;
  }

  busy(): Promise<void> | undefined {
    return this.#sink.busy?.();
  }

  /** The sink of the watch of its own. `moved` is called when `version` has changed. */
  ofOwn(moved: () => void): WatchSink {
    return {
      accepted: () => {
        this.#isAccepted = true;
        this.#sink.accepted();
        moved();
      },
      bytes: () => {
        if (this.#state === 'own') this.#sink.bytes();
      },
      event: (event) => {
        if (this.#state !== 'own') return { kind: 'aborted' };
        const failure = this.#sink.event(event);
        if (!failure && this.#moves(event)) moved();
        return failure;
      },
      busy: () => this.busy(),
    };
  }

  #moves(event: WatchEvent): boolean {
    const version = versionOf(event.object);
    if (this.#isListing) {
      if (!endsInitialEvents(event)) return false;
      this.#isListing = false;
      this.#version = version;
      return true;
    }
    if (compareResourceVersions(version, this.#version) <= 0) return false;
    this.#version = version;
    return true;
  }

  /** Ends the watch of its own. `recent`: all changes of the whole collection after its version, and perhaps some before. */
  join(recent: readonly WatchEvent[]): void {
    this.#state = 'joined';
    this.#isJoined = true;
    this.#ownEnds.abort();
    for (const event of recent) {
      if (compareResourceVersions(versionOf(event.object), this.#version) > 0) this.event(event);
    }
  }

  bytes(): void {
    if (this.#state === 'joined') this.#sink.bytes();
  }

  /** Takes an event of the whole collection. */
  event(event: WatchEvent): void {
    if (this.#state !== 'joined') return;
    const failure = this.#take(event);
    if (failure) this.end(failure);
  }

  /** A sink that throws ends its own watch, and not that of the whole collection. */
  #take(event: WatchEvent): Failure | undefined {
    try {
      const told = event.type === 'BOOKMARK' ? event : this.#ofPart(event);
      return told && this.#sink.event(told);
    } catch (error) {
      const name = error instanceof Error ? error.name : 'no error';
      return { kind: 'unreadable', detail: `an event could not be taken: ${name}` };
    }
  }

  /**
   * The event that a watch with the field selector sends for this change: an object that the selector no longer selects is DELETED, one
   * that it newly selects is ADDED ("Efficient detection of changes" of the API concepts).
   */
  #ofPart({ type, object }: WatchEvent): WatchEvent | undefined {
    const changed = object as unknown as KubernetesObject;
    const isKnown = this.#part.has(keyOf(changed));
    if (type !== 'DELETED' && this.#part.selects(changed)) return { type: isKnown ? 'MODIFIED' : 'ADDED', object };
    return isKnown ? { type: 'DELETED', object } : undefined;
  }

  end(failure: Failure): void {
    this.#state = 'ended';
    this.#ownEnds.abort();
    this.#ended.resolve(failure);
  }
}
