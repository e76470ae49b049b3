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
    const ours = new VersionDigest();
    for (const { key, resourceVersion } of store.entries()) {
      if (!writer.isMalformed(key)) ours.add(key, resourceVersion);
    }
    const theirs = await this.#listed(version, signal);
    if (!theirs) return 'skipped';
    return ours.equals(theirs) ? 'match' : 'mismatch';
  }

  async #listed(exact: string, signal: AbortSignal): Promise<VersionDigest | undefined> {
    const { source, writer, clock } = this.#parts;
    const digest = new VersionDigest();
    let next = {};
    do {
      const attempt = new Attempt(clock, signal);
      const request = { version: { exact }, limit: PAGE_SIZE, metadataOnly: true, ...next };
      const page = attempt.finish(await source.list(request, attempt.heard, attempt.signal));
      if (page.kind !== 'page') return undefined;
      for (const item of page.items) {
        if (!isKubernetesObject(item)) return undefined;
        const key = keyOf(item);
        if (!writer.isMalformed(key)) digest.add(key, item.metadata.resourceVersion);
      }
      if (page.continueToken === '') return digest;
      next = { continueToken: page.continueToken };
    } while (!signal.aborted);
    return undefined;
  }
}
