import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { isKubernetesObject, keyOf, versionOf } from '../checked-object.ts';
import type { ReflectorMetrics } from '../metrics.ts';
import type { KubernetesObject } from '../object.ts';
import { compareResourceVersions } from '../resource-version.ts';
import type { Freshness } from './freshness.ts';
import { KeyTable } from './key-table.ts';
import type { ReflectedStore, StoredEntry } from './store.ts';
import type { WatchEvent } from './watch-event.ts';

/** Malformed objects are named in the log once; beyond so many the log has told enough. */
const NAMED_MALFORMED = 1_000;

/** Entries compared in one step, below a microsecond each. */
const STEP = 64;

/** A whole collection at one version. */
export interface CompleteList<E> {
  readonly entries: readonly E[];
  readonly resourceVersion: string;
}

/** A list beside the cache. */
export interface Comparison {
  /**
   * Older than what is shown, as a whole or in one object. A list that is not older as a whole and has an older object is of another
   * history: the server was restored, and has written since (C-24).
   */
  readonly isOlder: boolean;
  /** Objects of which only this list tells, though their events should have come. */
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
 * Orders what the cluster says and writes it to the store: within an epoch no object and not the cache as a whole goes
 * back in time (I2), whatever is repeated, reordered or older. Knows nothing of requests.
 */
export class CacheWriter<E extends StoredEntry> implements Freshness {
  readonly #parts: CacheWriterParts<E>;
  readonly #malformed = new KeyTable<{ readonly key: string }>();
  #resourceVersion = '';
  #epoch = 0;
  #lists = 0;
  #provenAt = Number.NEGATIVE_INFINITY;
  #activeAt: number;

  constructor(parts: CacheWriterParts<E>) {
    this.#parts = parts;
    this.#activeAt = parts.clock.monotonic();
  }

  /** All events up to this version are in the store; `''` before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** 0 before the first list; one more at each restored server. */
  get epoch(): number {
    return this.#epoch;
  }

  /** How many lists went into the store. */
  get lists(): number {
    return this.#lists;
  }

  hasSynced = (): boolean => this.#epoch > 0;
  stalenessMs = (): number => this.#parts.clock.monotonic() - this.#provenAt;
  idleMs = (): number => this.#parts.clock.monotonic() - this.#activeAt;

  isAheadOf(version: string): boolean {
    return compareResourceVersions(version, this.#resourceVersion) < 0;
  }

  /** An attempt or a byte. */
  active(): void {
    this.#activeAt = this.#parts.clock.monotonic();
  }

  /** The cluster has just shown that nothing newer is missing here. */
  proven(): void {
    this.#provenAt = this.#parts.clock.monotonic();
  }

  /** `undefined` for a value that cannot be kept: counted, and logged once per object. */
  toEntry(value: unknown): E | undefined {
    if (!isKubernetesObject(value)) {
      this.#parts.metrics.dropped('no_metadata');
      return undefined;
    }
    try {
      const entry = this.#parts.store.toEntry(value);
      this.#malformed.delete(entry.key);
      return entry;
    } catch (error) {
      this.#skip(value, error);
      return undefined;
    }
  }

  /** Whether the newest version of this object was left out. */
  isMalformed = (key: string): boolean => this.#malformed.get(key) !== undefined;

  /** More objects were left out than are remembered. */
  get hasTooManyMalformed(): boolean {
    return this.#malformed.size >= NAMED_MALFORMED;
  }

  /** Looks at each entry of a complete list once, beside the cache as it is. */
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
   * Takes over the state of a list. An older one than before means that the server was restored. `isSuspect`: the cache was found
   * to differ, so that equal versions prove nothing. Nothing is seen of it before the last step, and all of it then; between
   * `compare` and that step there is no other change.
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
    this.#epoch++;
    return found.isOlder ? 'restored' : 'same_epoch';
  }

  /** Applies an event that is not ERROR. True when it brought the cache forward. */
  apply(event: WatchEvent): boolean {
    if (event.type === 'BOOKMARK') return this.#bookmark(versionOf(event.object));
    const removed = event.type === 'DELETED';
    if (!removed && event.type !== 'ADDED' && event.type !== 'MODIFIED') return this.#drop('unknown_type');
    if (!isKubernetesObject(event.object)) return this.#drop('no_metadata');
    if (this.#isStale(event.object, removed)) return this.#drop('stale');
    this.#write(event.object, removed);
    return this.#advance(event.object.metadata.resourceVersion);
  }

  /** A store that throws has a bug; it may cost one object, never the reflector. */
  #write(object: KubernetesObject, removed: boolean): void {
    const { store, logger } = this.#parts;
    try {
      const entry = removed ? undefined : this.toEntry(object);
      if (removed) store.remove(keyOf(object), object.metadata.resourceVersion);
      else if (entry) store.put(entry);
    } catch (error) {
      logger.error({ err: error, object: keyOf(object) }, 'a store failed to take a change');
    }
  }

  /** An event in the past of its object, or of the whole cache when the object is not (or no longer) there. */
  #isStale(object: KubernetesObject, removed: boolean): boolean {
    const { uid, resourceVersion } = object.metadata;
    const stored = this.#parts.store.get(keyOf(object));
    if (!stored) return compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0;
    const order = compareResourceVersions(resourceVersion, stored.resourceVersion);
    // Another uid is another object of the same name: a later one replaces, its predecessor's end is no news.
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

  #drop(reason: 'stale' | 'unknown_type' | 'no_metadata'): false {
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

  /** An entry no newer than the cache that it has not in this version: its event never came. There are none (I3). */
  #isSurprise({ uid, resourceVersion }: E, stored: E | undefined): boolean {
    if (compareResourceVersions(resourceVersion, this.#resourceVersion) > 0) return false;
    return stored?.uid !== uid || stored.resourceVersion !== resourceVersion;
  }
}

const goesBack = ({ uid, resourceVersion }: StoredEntry, stored: StoredEntry | undefined): boolean =>
  stored?.uid === uid && compareResourceVersions(resourceVersion, stored.resourceVersion) < 0;
