import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import { Attempt } from './attempt.ts';
import type { CacheWriter } from './cache-writer.ts';
import { isKubernetesObject, keyOf } from './checked-object.ts';
import type { ListerWatcher } from './lister-watcher.ts';
import type { ReflectorMetrics } from './metrics.ts';
import { PAGE_SIZE } from './paged-list.ts';
import type { ReflectedStore, StoredEntry } from './store.ts';
import { VersionDigest } from './version-digest.ts';

/** Between two checks: 5 min, half as much again at most, so that replicas do not all ask at once. */
const PERIOD_MS = 300_000;
/** Entries hashed between two turns of the event loop: about 2 ms. */
const SLICE = 5_000;

export interface SelfCheckParts<E extends StoredEntry> {
  readonly source: ListerWatcher;
  readonly store: ReflectedStore<E>;
  readonly writer: CacheWriter<E>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ReflectorMetrics;
  /** The cache is wrong, seen twice. */
  onMismatch(): void;
}

type Result = 'match' | 'mismatch' | 'skipped';

/** Finds what no event will ever repair: a lost event, a history that diverged without an error (C-24, C-30). */
export class SelfCheck<E extends StoredEntry> {
  readonly #parts: SelfCheckParts<E>;

  constructor(parts: SelfCheckParts<E>) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, metrics, onMismatch } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(PERIOD_MS * (1 + random.fraction() / 2), signal);
      if (signal.aborted) return;
      const result = await this.#confirmed(signal);
      metrics.selfChecked(result);
      if (result === 'mismatch') onMismatch();
    }
  }

  async #confirmed(signal: AbortSignal): Promise<Result> {
    const first = await this.#compare(signal);
    return first === 'mismatch' ? this.#compare(signal) : first;
  }

  /** Skipped where nothing can be said: before the first sync, the version is out of history, the cluster is away. */
  async #compare(signal: AbortSignal): Promise<Result> {
    const { store, writer } = this.#parts;
    if (!writer.hasSynced() || writer.hasTooManyMalformed) return 'skipped';
    const version = writer.resourceVersion;
    const entries = [...store.entries()]; // in the same turn as the version: they belong together
    const theirs = await this.#listed(version, signal);
    if (!theirs) return 'skipped';
    return (await this.#digest(entries)).equals(theirs) ? 'match' : 'mismatch';
  }

  async #digest(entries: readonly E[]): Promise<VersionDigest> {
    const digest = new VersionDigest();
    for (let start = 0; start < entries.length; start += SLICE) {
      if (start > 0) await nextTurn();
      for (const { key, resourceVersion } of entries.slice(start, start + SLICE))
        this.#add(digest, key, resourceVersion);
    }
    return digest;
  }

  /** What could not be kept is on neither side. */
  #add(digest: VersionDigest, key: string, resourceVersion: string): void {
    if (!this.#parts.writer.isMalformed(key)) digest.add(key, resourceVersion);
  }

  async #listed(exact: string, signal: AbortSignal): Promise<VersionDigest | undefined> {
    const { source, clock } = this.#parts;
    const digest = new VersionDigest();
    let next = {};
    do {
      const attempt = new Attempt(clock, signal);
      const request = { version: { exact }, limit: PAGE_SIZE, metadataOnly: true, ...next };
      const page = attempt.finish(await source.list(request, attempt.heard, attempt.signal));
      if (page.kind !== 'page') return undefined;
      for (const item of page.items) {
        if (!isKubernetesObject(item)) return undefined;
        this.#add(digest, keyOf(item), item.metadata.resourceVersion);
      }
      if (page.continueToken === '') return digest;
      next = { continueToken: page.continueToken };
    } while (!signal.aborted);
    return undefined;
  }
}
