import { type Clock, Waiting } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import type { CheckResult, ReflectorMetrics, RelistReason } from '../metrics.ts';
import { isKubernetesObject, keyOf } from '../object.ts';
import { ReflectorRequest } from './attempt.ts';
import type { CacheWriter } from './cache-writer.ts';
import { textHash } from './key-table.ts';
import type { ListerWatcher } from './lister-watcher.ts';
import { PAGE_SIZE } from './paged-list.ts';
import type { ReflectedStore, StoredEntry } from './store.ts';

/** The time between two checks: 5 min, plus up to half of that at random, so that replicas do not all ask at once. */
const PERIOD_MS = 300_000;
const SPREAD = 1.5;
/**
 * A collection up to this size is checked in every period, because the check takes at most 40 pages. That covers all nodes
 * of the largest cluster that Kubernetes supports. For a larger collection each check that finds no difference doubles the
 * wait for the next one.
 */
const CHEAP_OBJECTS = 40 * PAGE_SIZE;
/** The time from a reconnect to its check: 2 to 5 s, so that not all reflectors list while the server is coming up. */
const AFTER_RECONNECT_MS = 2_000;
const RECONNECT_SPREAD_MS = 3_000;
/**
 * The least time between two checks, for all causes together. A restore is then noticed within 20 s of the reconnect, inside the
 * 30 s of C-23.
 */
const SHORTEST_PERIOD_MS = 20_000;
/**
 * How often we repeat an early check that had no result because the cluster was still starting. The last repetition comes a
 * minute later.
 */
const EARLY_RETRIES = 3;
/** Entries hashed in one step. */
const STEP = 64;

/** The smallest value of `longestPeriodMs`. With it, every check comes 5 to 7.5 min after the one before. */
export const SHORTEST_LONGEST_PERIOD_MS = PERIOD_MS * SPREAD;

/** How often a collection is compared with the cluster while nothing points to a fault. */
export interface CheckPlan {
  /** The longest time between two checks, however often they found no difference and however many objects there are. */
  readonly longestPeriodMs: number;
  /**
   * Called before each regular check. Default: always true. A check after a reconnect or a sign of a restore happens in any
   * case.
   */
  isWanted?(signal: AbortSignal): Promise<boolean>;
}

export interface SelfCheckParts<E extends StoredEntry> {
  readonly source: ListerWatcher;
  readonly store: ReflectedStore<E>;
  readonly writer: CacheWriter<E>;
  readonly clock: Clock;
  readonly random: Random;
  readonly slices: TimeSlices;
  readonly metrics: ReflectorMetrics;
  readonly plan: CheckPlan;
  /** Called when two comparisons in a row found the cache wrong. */
  onMismatch(reason: RelistReason): void;
}

/** `out_of_reach`: the cluster has not reached our version yet, or no longer has it because it was restored. */
type Result = CheckResult | 'out_of_reach';

/**
 * Finds errors that no event would ever repair: a lost event, a history that diverged without an error (C-24, C-30), and a
 * restored cluster, which accepts a watch from a version that it has not reached again and stays silent (C-23).
 */
export class SelfCheck<E extends StoredEntry> {
  readonly #parts: SelfCheckParts<E>;
  readonly #waiting: Waiting;
  /** When the last check ended, on the monotonic clock. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  #retriesLeft = 0;
  /** Something points to a fault: the next check is not a regular one. */
  #isAsked = false;
  /** Checks in a row that found no difference. */
  #agreed = 0;
  #hasLetOthersGoFirst = false;

  constructor(parts: SelfCheckParts<E>) {
    this.#parts = parts;
    this.#waiting = new Waiting(parts.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, metrics, writer } = this.#parts;
    while (!signal.aborted) {
      this.#checkBy(clock.monotonic() + this.#periodMs());
      await this.#due(signal);
      if (signal.aborted) return;
      const isWanted = this.#isAsked || (await this.#isWanted(signal));
      this.#isAsked = false;
      this.#checkedAt = clock.monotonic();
      this.#dueAt = Number.POSITIVE_INFINITY;
      const retries = this.#retriesLeft;
      this.#retriesLeft = 0;
      if (!isWanted) continue;
      const { lists } = writer;
      const found = await this.#confirmed(signal);
      const result = writer.lists === lists ? found : 'skipped'; // a list came in between and may have repaired everything
      metrics.selfChecked(result === 'out_of_reach' ? 'mismatch' : result);
      this.#report(result);
      if (result !== 'skipped') this.#agreed = result === 'match' ? this.#agreed + 1 : 0;
      if (found === 'skipped' && retries > 0) this.#checkSoon(retries - 1);
    }
  }

  /** Checks at once: the cluster has shown a version below ours. */
  now(): void {
    this.#isAsked = true;
    this.#retriesLeft = EARLY_RETRIES;
    this.#checkBy(this.#parts.clock.monotonic());
  }

  /** Checks soon: the cluster was unreachable, and may have come back in another state. */
  reconnected(): void {
    this.#checkSoon(EARLY_RETRIES);
  }

  #checkSoon(retries: number): void {
    const { clock, random } = this.#parts;
    this.#isAsked = true;
    this.#retriesLeft = Math.max(this.#retriesLeft, retries);
    this.#checkBy(clock.monotonic() + AFTER_RECONNECT_MS + random.fraction() * RECONNECT_SPREAD_MS);
  }

  get #isLarge(): boolean {
    return this.#parts.store.size > CHEAP_OBJECTS;
  }

  #periodMs(): number {
    const { plan, random } = this.#parts;
    const shortest = this.#isLarge ? Math.min(PERIOD_MS * 2 ** this.#agreed, plan.longestPeriodMs / SPREAD) : PERIOD_MS;
    return shortest * (1 + random.fraction() * (SPREAD - 1));
  }

  /** The first check of a large collection comes one period later, so that the nodes are checked before the pods. */
  async #isWanted(signal: AbortSignal): Promise<boolean> {
    const letsOthersGoFirst = this.#isLarge && !this.#hasLetOthersGoFirst;
    this.#hasLetOthersGoFirst = true;
    if (letsOthersGoFirst) return false;
    return (await this.#parts.plan.isWanted?.(signal)) ?? true;
  }

  #checkBy(at: number): void {
    this.#dueAt = Math.min(this.#dueAt, Math.max(at, this.#checkedAt + SHORTEST_PERIOD_MS));
    this.#waiting.end();
  }

  /** Waits until the check is due. `#checkBy` may make it due earlier meanwhile. */
  async #due(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const ms = this.#dueAt - this.#parts.clock.monotonic();
      if (ms <= 0) return;
      await this.#waiting.sleep(ms, signal);
    }
  }

  #report(result: Result): void {
    const { onMismatch } = this.#parts;
    if (result === 'mismatch') onMismatch('self_check');
    if (result === 'out_of_reach') onMismatch('too_large_version');
  }

  async #confirmed(signal: AbortSignal): Promise<Result> {
    const first = await this.#compare(signal);
    return first === 'mismatch' || first === 'out_of_reach' ? this.#compare(signal) : first;
  }

  /**
   * Returns `skipped` if there can be no result: before the first sync, if we left out too many malformed objects, if the
   * version is no longer in the server's history, or if the cluster is unreachable.
   */
  async #compare(signal: AbortSignal): Promise<Result> {
    const { store, writer, slices } = this.#parts;
    if (!writer.hasSynced() || writer.hasTooManyMalformed) return 'skipped';
    const version = writer.resourceVersion;
    const entries = store.entries(); // read in the same turn as the version, so that they belong together
    const theirs = await this.#listed(version, signal);
    if (!(theirs instanceof VersionDigest)) return theirs;
    return (await slices.run(this.#digest(entries))).equals(theirs) ? 'match' : 'mismatch';
  }

  *#digest(entries: readonly E[]): Steps<VersionDigest> {
    const digest = new VersionDigest();
    for (const [at, entry] of entries.entries()) {
      this.#add(digest, entry);
      if (at % STEP === 0) yield;
    }
    return digest;
  }

  /** Leaves malformed objects out, both of our digest and of the cluster's. */
  #add(digest: VersionDigest, entry: StoredEntry): void {
    if (!this.#parts.writer.isMalformed(entry.key)) digest.add(entry);
  }

  async #listed(exact: string, signal: AbortSignal): Promise<VersionDigest | Result> {
    const { source, clock } = this.#parts;
    const digest = new VersionDigest();
    let next = {};
    do {
      const attempt = new ReflectorRequest(clock, signal);
      const request = { version: { exact }, limit: PAGE_SIZE, metadataOnly: true, ...next };
      const page = attempt.finish(await source.list(request, attempt.heard, attempt.signal));
      if (page.kind === 'too_large_version') return 'out_of_reach';
      if (page.kind !== 'page') return 'skipped';
      for (const item of page.items) {
        if (!isKubernetesObject(item)) return 'skipped';
        const { uid, resourceVersion } = item.metadata;
        this.#add(digest, { key: keyOf(item), uid, resourceVersion });
      }
      if (page.continueToken === '') return digest;
      next = { continueToken: page.continueToken };
    } while (!signal.aborted);
    return 'skipped';
  }
}

/**
 * A digest over (key, uid, resourceVersion) in any order: the number of entries, and the sum of their hashes modulo
 * 2^32. Two different sets of the same size look equal once in 4,000 million comparisons; the next check, five minutes
 * later, compares them again.
 */
export class VersionDigest {
  #sum = 0;
  #count = 0;

  /** Includes the uid, because a restored cluster may make another object of the same name at the same version. */
  add({ key, uid, resourceVersion }: StoredEntry): void {
    this.#sum = (this.#sum + mixed(textHash(`/${uid}/${resourceVersion}`, textHash(key)))) >>> 0;
    this.#count++;
  }

  equals(other: VersionDigest): boolean {
    return this.#sum === other.#sum && this.#count === other.#count;
  }
}

/**
 * Spreads each bit over all others (the finaliser of MurmurHash3). FNV alone does not do that for its last bytes, so
 * sums of versions that differ in the last digit would cancel each other out.
 */
function mixed(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
