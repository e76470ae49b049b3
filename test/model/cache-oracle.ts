import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { compareResourceVersions, keyOf } from '../../src/kubernetes/object.ts';
import type { Replacement, StoredEntry } from '../../src/kubernetes/reflector/store.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Change, History, State } from './history.ts';
import { RecordingStore } from './recording-store.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { hold } from './violation.ts';

/** A list that was answered to its end, by pages or as a stream. */
export interface Served {
  readonly version: number;
  readonly state: State;
  /** Asked for at rv="". */
  readonly isQuorum: boolean;
  readonly signal: AbortSignal;
}

/**
 * What the cache must hold, told from what the server sent and from nothing else: I2, I3 and I4. It is `certain` until the
 * server loses or swaps events or comes back with another history; then only a list makes it so again.
 */
export class CacheOracle {
  readonly store: RecordingStore<StoredEntry>;
  readonly #tested: StoreUnderTest;
  readonly #history: History;
  #served: Served | undefined;
  #content: State = new Map();
  /** The version of the cache; -1 before the first list. */
  version = -1;
  epoch = 0;
  isCertain = true;
  /** After a restore the same version may have another content, which a store is told not to expect within one history. */
  #isContentKnown = true;
  /** When the cache last took a change or a list. */
  changedAt = 0;
  /** When the cache was last proven current. */
  provenAt = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #onListed: () => void;

  constructor(tested: StoreUnderTest, parts: { history: History; clock: Clock; onListed: () => void }) {
    this.#tested = tested;
    this.#history = parts.history;
    this.#clock = parts.clock;
    this.#onListed = parts.onListed;
    this.store = new RecordingStore(tested.store, (entries, replacement) => this.#replaced(entries, replacement));
  }

  get hasSynced(): boolean {
    return this.epoch > 0;
  }

  proven(): void {
    this.provenAt = this.#clock.monotonic();
  }

  /** The server has set itself back, or left an event out. */
  lost(): void {
    this.isCertain = false;
  }

  /** The server says that a list is complete; the next replacement must be it. */
  served(list: Served): void {
    this.#served = list;
  }

  /** Around one delivery: an event beyond the cache is written once, any other not at all (I3). */
  delivering(change: Change, send: () => void): void {
    const isNew = change.version > this.version;
    this.store.takeWrites();
    send();
    const writes = this.store.takeWrites();
    if (this.isCertain) hold(same(writes, isNew ? [writeOf(change)] : []), 'I3', () => ({ change, writes }));
    // After a restore the cache may have another object of that name, whose removal is no news to it: it stays at its version.
    const isDropped = !this.isCertain && writes.length === 0;
    if (!isNew || isDropped) return;
    this.version = change.version;
    this.changedAt = this.#clock.monotonic();
    if (this.isCertain) this.#content = this.#history.stateAt(change.version);
    this.proven();
  }

  bookmarked(version: number): void {
    if (version < this.version) return;
    this.version = version;
    this.proven();
  }

  /** The version that a watch resumes from: the cache's own. Without certainty it may be one of before. */
  resumes(version: number): void {
    if (this.isCertain) hold(version === this.version, 'I3', () => ({ resumes: version, cache: this.version }));
    hold(version <= this.version, 'I3', () => ({ resumes: version, cache: this.version }));
    this.version = version;
  }

  /** What a reader sees now: a whole set, with counts that agree (I4), and outside a delivery nothing was written (I3). */
  read(): void {
    const writes = this.store.takeWrites();
    hold(writes.length === 0, 'I3', () => ({ 'written without an event': writes }));
    const entries = [...this.#tested.store.entries()];
    hold(entries.length === this.#tested.store.size, 'I4', () => ({ size: this.#tested.store.size, entries }));
    if (!this.isCertain) return;
    const seen = entries.map((entry) => this.#textOf(entry)).sort();
    const wanted = textsOf(this.#content);
    const isSame = this.#isContentKnown ? same : sameVersions;
    hold(isSame(seen, wanted), 'I4', () => ({ seen, wanted }));
  }

  /** Whether the cache equals the server by (uid, name, rv), and where no history was lost by content too (I1). */
  equals(state: State): boolean {
    const seen = [...this.#tested.store.entries()].map((entry) => this.#textOf(entry)).sort();
    return (this.#history.timeline === 0 ? same : sameVersions)(seen, textsOf(state));
  }

  /** All that was served to its end is in the store, unless it was older than what we show and no quorum read. */
  settled(): void {
    const served = this.#served;
    this.#served = undefined;
    if (!served || served.signal.aborted || (!served.isQuorum && this.#isOlder(served))) return;
    hold(false, 'I3', () => ({ 'a complete list is not shown': served.version }));
  }

  #isOlder({ version, state }: Served): boolean {
    return version < this.version || this.#goesBack(state);
  }

  /** An object of the cache is older in this state, so the server has lost history. */
  #goesBack(state: State): boolean {
    for (const { key, uid, resourceVersion } of this.#tested.store.entries()) {
      const metadata = state.get(key)?.metadata;
      if (metadata?.uid === uid && compareResourceVersions(metadata.resourceVersion, resourceVersion) < 0) return true;
    }
    return false;
  }

  #replaced(entries: readonly StoredEntry[], { resourceVersion, sameHistory }: Replacement): void {
    const served = this.#served;
    hold(served !== undefined, 'I4', () => 'replaced without a complete list');
    this.#served = undefined;
    const seen = entries.map((entry) => this.#textOf(entry)).sort();
    hold(same(seen, textsOf(served.state)), 'I3', () => ({ replacement: seen, list: textsOf(served.state) }));
    hold(resourceVersion === this.#history.textOf(served.version), 'I3', () => ({
      resourceVersion,
      served: served.version,
    }));
    const isOlder = this.hasSynced && this.#isOlder(served);
    hold(!isOlder || served.isQuorum, 'I2', () => ({ list: served.version, cache: this.version }));
    hold(!(sameHistory && (isOlder || !this.hasSynced)), 'I2', () => 'an older list is called the same history');
    if (isOlder || !this.hasSynced) this.epoch++;
    this.#isContentKnown = !sameHistory || this.#history.timeline === 0;
    this.version = served.version;
    this.changedAt = this.#clock.monotonic();
    this.#content = served.state;
    this.isCertain = true;
    this.proven();
    this.#onListed();
  }

  #textOf(entry: StoredEntry): string {
    return `${entry.key} ${entry.uid} ${entry.resourceVersion} ${this.#tested.writeOf(entry)}`;
  }
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, at) => text === b[at]);

/** By (name, uid, rv): without the last word, which names the write. */
function sameVersions(a: readonly string[], b: readonly string[]): boolean {
  const bare = (texts: readonly string[]) => texts.map((text) => text.replace(/ \S+$/, ''));
  return same(bare(a), bare(b));
}

function textsOf(state: State): string[] {
  return [...state.values()].map(textOfObject).sort();
}

const textOfObject = (object: KubernetesObject): string => {
  const { metadata } = object;
  return `${keyOf(object)} ${metadata.uid} ${metadata.resourceVersion} ${metadata.labels?.['write']}`;
};

function writeOf({ type, object }: Change): string {
  const { uid, resourceVersion } = object.metadata;
  return type === 'DELETED' ? `remove ${keyOf(object)}` : `put ${keyOf(object)} ${uid} ${resourceVersion}`;
}
