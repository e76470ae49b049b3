import { type LastProof, neverProven } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { DropReason, ReflectorMetrics } from '../metrics.ts';
import { compareResourceVersions, isKubernetesObject, type KubernetesObject, keyOf, versionOf } from '../object.ts';
import { KeyTable } from './key-table.ts';
import type { WatchEvent } from './lister-watcher.ts';
import type { Freshness, ReflectedStore, StoredEntry } from './store.ts';

/** Each malformed object is logged once, and at most this many are logged. */
const NAMED_MALFORMED = 1_000;

/** Entries compared in one step, below a microsecond each. */
const STEP = 64;

/** A whole collection at one version. */
export interface CompleteList<E> {
  readonly entries: readonly E[];
  readonly resourceVersion: string;
}

/** A collection at an older version, and the changes that lead from there to what it is now. */
export interface Past<E extends StoredEntry> {
  readonly list: CompleteList<E>;
  /** In their order. */
  readonly changes: readonly PastChange<E>[];
  /** When the present list was requested, by the monotonic clock. */
  readonly provenAt: number;
}

/** What became of one object. */
export interface PastChange<E> {
  readonly key: string;
  readonly resourceVersion: string;
  /** `undefined`: it was removed. */
  readonly entry: E | undefined;
}

/** How a list compares with the cache. */
export interface Comparison {
  /**
   * The list is older than the cache, as a whole or in one object. If only one object is older, the list belongs to
   * another history: the server was restored, and has been written to since (C-24).
   */
  readonly isOlder: boolean;
  /** Objects that only this list revealed, although their events should have come. */
  readonly surprises: number;
}

type Replaced = 'restored' | 'same_epoch';

export interface CacheWriterParts<E extends StoredEntry> {
  readonly store: ReflectedStore<E>;
  readonly clock: Clock;
  readonly metrics: ReflectorMetrics;
  readonly logger: Logger;
}

/**
 * Orders the cluster's lists and events and writes them to the store. An epoch is the time between two restores of the
 * cluster. Within it neither an object nor the whole cache goes back in time (I2), even if events are repeated, reordered
 * or old.
 */
export class CacheWriter<E extends StoredEntry> implements Freshness {
  readonly #parts: CacheWriterParts<E>;
  readonly #proof = neverProven();
  readonly #malformed = new KeyTable<{ readonly key: string }>();
  #resourceVersion = '';
  #epoch = 0;
  #lists = 0;
  #activeAt: number;

  constructor(parts: CacheWriterParts<E>) {
    this.#parts = parts;
    this.#activeAt = parts.clock.monotonic();
  }

  /** All events up to this version are in the store; `''` before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** 0 before the first list; grows by one each time the server was restored. */
  get epoch(): number {
    return this.#epoch;
  }

  /** How many lists were written to the store. */
  get lists(): number {
    return this.#lists;
  }

  get proof(): LastProof {
    return this.#proof;
  }

  hasSynced = (): boolean => this.#epoch > 0;
  stalenessMs = (): number => this.#parts.clock.monotonic() - this.#proof.at;
  idleMs = (): number => this.#parts.clock.monotonic() - this.#activeAt;

  isAheadOf(version: string): boolean {
    return compareResourceVersions(version, this.#resourceVersion) < 0;
  }

  /** Records an attempt or a received byte. */
  active(): void {
    this.#activeAt = this.#parts.clock.monotonic();
  }

  /** Records that the cluster has just proved the cache current. */
  proven(): void {
    this.#proof.at = this.#parts.clock.monotonic();
  }

  /** Turns a value into an entry. Returns `undefined` if it cannot be kept; counts it and logs it once per object. */
  toEntry(value: unknown): E | undefined {
    if (!isKubernetesObject(value)) {
      this.#parts.metrics.dropped('no_metadata');
      return undefined;
    }
    return this.#reduced(value);
  }

  /** How many bytes an entry takes, where the store knows it; else 0. */
  bytesOf(entry: E): number {
    return this.#parts.store.bytesOf?.(entry) ?? 0;
  }

  /** Whether the newest version of this object was left out as malformed. */
  isMalformed = (key: string): boolean => this.#malformed.get(key) !== undefined;

  /** Whether so many objects were left out that we may not remember all of them. */
  get hasTooManyMalformed(): boolean {
    return this.#malformed.size >= NAMED_MALFORMED;
  }

  /** Compares each entry of a complete list once with the unchanged cache. */
  *compare({ entries, resourceVersion }: CompleteList<E>): Steps<Comparison> {
    let isOlder = this.isAheadOf(resourceVersion);
    let surprises = 0;
    let looked = 0;
    for (const entry of entries) {
      const stored = this.#parts.store.get(entry.key);
      isOlder ||= goesBack(entry, stored);
      if (this.#isSurprise(entry, stored)) surprises++;
      if (++looked % STEP === 0) yield;
    }
    return { isOlder, surprises };
  }

  /**
   * Replaces the content of the cache with a list. A list older than the cache means that the server was restored.
   * `isSuspect`: the cache may be wrong, so equal versions prove nothing. The last step shows the whole list to readers. No
   * other change may come between `compare` and that step.
   */
  *replace({ entries, resourceVersion }: CompleteList<E>, found: Comparison, isSuspect: boolean): Steps<Replaced> {
    const isSameEpoch = !found.isOlder && this.#epoch > 0;
    const sameHistory = isSameEpoch && !isSuspect;
    const show = yield* this.#parts.store.prepare(entries, { sameHistory, resourceVersion });
    show();
    if (isSameEpoch) this.#parts.metrics.surprised(found.surprises);
    this.#resourceVersion = resourceVersion;
    this.#lists++;
    this.proven();
    if (isSameEpoch) return 'same_epoch';
    this.#begun();
    return found.isOlder ? 'restored' : 'same_epoch';
  }

  /** Begins with an older list and the changes since then. Readers see what the last one leads to, and nothing before it. */
  *begin({ list, changes, provenAt }: Past<E>): Steps<void> {
    const { store } = this.#parts;
    const { entries, resourceVersion } = list;
    const show = yield* store.prepare(entries, { sameHistory: false, resourceVersion });
    show();
    for (const { key, resourceVersion: version, entry } of changes) {
      if (entry) store.put(entry);
      else store.remove(key, version);
      yield;
    }
    this.#resourceVersion = changes.at(-1)?.resourceVersion ?? resourceVersion;
    this.#lists++;
    this.#proof.at = provenAt;
    this.#begun();
  }

  /** Begins an epoch: from now on the content is for readers. */
  #begun(): void {
    this.#epoch++;
    if (this.#epoch === 1) this.#parts.store.readable?.();
  }

  /** Applies an event other than ERROR. Returns true when it brought the cache forward. */
  apply(event: WatchEvent): boolean {
    if (event.type === 'BOOKMARK') return this.#bookmark(versionOf(event.object));
    const removed = event.type === 'DELETED';
    if (!removed && event.type !== 'ADDED' && event.type !== 'MODIFIED') return this.#drop('unknown_type');
    if (!isKubernetesObject(event.object)) return this.#drop('no_metadata');
    if (this.#isStale(event.object, removed)) return this.#drop('stale');
    this.#write(event.object, removed);
    return this.#advance(event.object.metadata.resourceVersion);
  }

  #reduced(object: KubernetesObject): E | undefined {
    try {
      const entry = this.#parts.store.toEntry(object);
      this.#malformed.delete(entry.key);
      return entry;
    } catch (error) {
      this.#skip(object, error);
      return undefined;
    }
  }

  /** A store that throws has a bug. We lose one object by it, but the reflector goes on. */
  #write(object: KubernetesObject, removed: boolean): void {
    const { store, logger } = this.#parts;
    try {
      const entry = removed ? undefined : this.#reduced(object);
      if (removed) store.remove(keyOf(object), object.metadata.resourceVersion);
      else if (entry) store.put(entry);
    } catch (error) {
      logger.error({ err: error, object: keyOf(object) }, 'a store failed to take a change');
    }
  }

  /** Whether an event is older than its object in the cache or, if the cache has no such object, than the whole cache. */
  #isStale(object: KubernetesObject, removed: boolean): boolean {
    const { uid, resourceVersion } = object.metadata;
    const stored = this.#parts.store.get(keyOf(object));
    if (!stored) return compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0;
    const order = compareResourceVersions(resourceVersion, stored.resourceVersion);
    // Another uid is another object of the same name. A later one replaces the stored one; the removal of an earlier one
    // is out of date.
    if (uid !== stored.uid) return removed || order <= 0;
    return removed ? order < 0 : order <= 0;
  }

  #bookmark(version: string): boolean {
    if (version === '') return this.#drop('no_metadata');
    if (this.isAheadOf(version)) return this.#drop('stale');
    return this.#advance(version);
  }

  #advance(version: string): boolean {
    this.proven();
    const forward = compareResourceVersions(version, this.#resourceVersion) > 0;
    if (forward) this.#resourceVersion = version;
    return forward;
  }

  #drop(reason: DropReason): false {
    this.#parts.metrics.dropped(reason);
    return false;
  }

  #skip(object: KubernetesObject, error: unknown): void {
    const { metrics, logger } = this.#parts;
    metrics.dropped('malformed');
    const key = keyOf(object);
    if (this.isMalformed(key) || this.#malformed.size >= NAMED_MALFORMED) return;
    this.#malformed.set({ key });
    logger.warn({ err: error, object: key }, 'leaving out an object that cannot be understood');
  }

  /** Whether the cache should have this version of the entry and has not: its event never came. Should not happen (I3). */
  #isSurprise({ uid, resourceVersion }: E, stored: E | undefined): boolean {
    if (compareResourceVersions(resourceVersion, this.#resourceVersion) > 0) return false;
    return stored?.uid !== uid || stored.resourceVersion !== resourceVersion;
  }
}

const goesBack = ({ uid, resourceVersion }: StoredEntry, stored: StoredEntry | undefined): boolean =>
  stored?.uid === uid && compareResourceVersions(resourceVersion, stored.resourceVersion) < 0;
