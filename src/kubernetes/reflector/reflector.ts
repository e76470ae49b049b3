import type { LastProof } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, Waiting } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import type { ReflectorMetrics, ReflectorState, RelistReason } from '../metrics.ts';
import { untilAborted } from './attempt.ts';
import { CacheWriter } from './cache-writer.ts';
import { type Failure, missingRightAfter } from './failure.ts';
import type { ListerWatcher } from './lister-watcher.ts';
import { type Listed, listInPages } from './paged-list.ts';
import { type PastSource, readPast } from './past.ts';
import { Recovery, type RecoveryStep, StreamedLists, type WatchRun } from './recovery.ts';
import { type CheckPlan, SelfCheck } from './self-check.ts';
import type { Freshness, ReflectedStore, StoredEntry } from './store.ts';
import { WatchSession } from './watch-session.ts';

/**
 * Watches ask the server to end them after a random time in this range, so that clients do not all come back at once.
 */
const SHORTEST_WATCH_SECONDS = 300;
const LONGEST_WATCH_SECONDS = 600;

export interface Reflector extends Freshness {
  /**
   * The right to the collection that we lack, in the words of the cluster's 403. `undefined` if no 403 came since the last
   * answer that shows that we have the right.
   */
  missingRight(): string | undefined;
  /** Mirrors the collection into the store until the signal aborts. Survives every failure; only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReflectorParts<E extends StoredEntry> {
  /** For the log. */
  readonly name: string;
  readonly source: ListerWatcher;
  readonly store: ReflectedStore<E>;
  readonly clock: Clock;
  readonly random: Random;
  readonly slices: TimeSlices;
  readonly logger: Logger;
  readonly metrics: ReflectorMetrics;
  readonly plan: CheckPlan;
  /** The mirror knows the changes since that version, if the cluster still has them. Absent: since its first list. */
  readonly past?: PastSource | undefined;
}

type ListStep = Extract<RecoveryStep, { kind: 'list' }>;

interface Taking {
  readonly step: ListStep;
  /** When we requested the list, by the monotonic clock. */
  readonly began: number;
  readonly signal: AbortSignal;
}

const WATCH_NOW: RecoveryStep = { kind: 'watch', waitMs: 0 };

/**
 * Lists, then watches, for ever. It is the only writer of its store. `Recovery` decides how to react to each failure,
 * and `CacheWriter` what an event does to the store; this class is the loop between them.
 */
export class StoreReflector<E extends StoredEntry> implements Reflector {
  readonly #parts: ReflectorParts<E>;
  readonly #writer: CacheWriter<E>;
  readonly proof: LastProof;
  readonly #backoff: Backoff;
  readonly #recovery: Recovery;
  #state: ReflectorState = 'listing';
  readonly #streamed: StreamedLists;
  readonly #failure: LastingFailure;
  #missingRight: string | undefined;
  /** Whether the server was unreachable since the last watch or list that succeeded. */
  #wasAway = false;
  #relistAsked: RelistReason | undefined;
  readonly #check: SelfCheck<E>;
  /** The wait between two watches. */
  readonly #waiting: Waiting;
  /** The watch that is running now. */
  #session: WatchSession<E> | undefined;

  constructor(parts: ReflectorParts<E>) {
    this.#parts = parts;
    this.#writer = new CacheWriter(parts);
    this.proof = this.#writer.proof;
    this.#backoff = new Backoff(parts.clock, parts.random);
    this.#recovery = new Recovery(this.#backoff);
    this.#waiting = new Waiting(parts.clock);
    this.#streamed = new StreamedLists(parts.clock);
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    const { source, store, clock, random, slices, metrics, plan } = parts;
    const onMismatch = (reason: RelistReason): void => this.#relist(reason);
    const writer = this.#writer;
    this.#check = new SelfCheck({ source, store, writer, clock, random, slices, metrics, plan, onMismatch });
    const reflector = this;
    metrics.expose({
      get state() {
        return reflector.#state;
      },
      get objects() {
        return store.size;
      },
      get epoch() {
        return reflector.#writer.epoch;
      },
      hasSynced: this.hasSynced,
      isForbidden: () => this.#missingRight !== undefined,
      stalenessMs: this.stalenessMs,
    });
  }

  hasSynced = (): boolean => this.#writer.hasSynced();
  stalenessMs = (): number => this.#writer.stalenessMs();
  idleMs = (): number => this.#writer.idleMs();
  missingRight = (): string | undefined => this.#missingRight;

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#loop(signal), this.#check.run(signal)]);
  }

  async #loop(signal: AbortSignal): Promise<void> {
    let step = await this.#begin(signal);
    while (!signal.aborted) {
      step = this.#unlessAsked(step);
      await this.#wait(step, signal);
      if (signal.aborted) return;
      if (this.#relistAsked && step.kind === 'watch') continue;
      step = step.kind === 'watch' ? await this.#watch(signal) : await this.#list(step, signal);
    }
  }

  async #begin(signal: AbortSignal): Promise<RecoveryStep> {
    const { past, clock, slices, logger, name } = this.#parts;
    const read = past && (await readPast({ ...past, writer: this.#writer, clock, slices }, signal));
    if (read?.kind === 'past' && !signal.aborted) {
      await slices.run(untilAborted(this.#writer.begin(read), signal));
      return WATCH_NOW;
    }
    if (read && read.kind !== 'past') logger.debug({ resource: name, past: read }, 'the list begins without its past');
    return { kind: 'list', from: 'newest', waitMs: 0 };
  }

  /** A relist requested by the self-check comes before the next watch, which would go on with a wrong cache. */
  #unlessAsked(step: RecoveryStep): RecoveryStep {
    const reason = this.#relistAsked;
    if (!reason || step.kind === 'list') return step;
    this.#relistAsked = undefined;
    return this.#recovery.relist('newest', reason);
  }

  async #wait({ kind, waitMs }: RecoveryStep, signal: AbortSignal): Promise<void> {
    if (waitMs <= 0) return;
    this.#state = 'backing_off';
    await (kind === 'watch' ? this.#waiting : this.#parts.clock).sleep(waitMs, signal);
  }

  async #watch(signal: AbortSignal): Promise<RecoveryStep> {
    this.#state = 'watching';
    const session = this.#newSession(this.#writer.resourceVersion, undefined);
    return this.#afterWatch(await session.run(signal));
  }

  #afterWatch(run: WatchRun): RecoveryStep {
    this.#session = undefined;
    if (this.#relistAsked) {
      this.#recovery.watched(run.livedMs);
      return this.#unlessAsked(WATCH_NOW);
    }
    this.#ended('watch', run.failure);
    return this.#recovery.afterWatch(run);
  }

  /** Called when the self-check found the cache wrong. Ends the watch, or the wait for it, so that the loop lists. */
  #relist(reason: RelistReason): void {
    this.#parts.logger.error({ resource: this.#parts.name }, 'the cache differs from the cluster; listing again');
    this.#relistAsked = reason;
    this.#waiting.end();
    this.#session?.stop();
  }

  #list(step: ListStep, signal: AbortSignal): Promise<RecoveryStep> {
    this.#state = 'listing';
    const version = step.from === 'last' ? this.#writer.resourceVersion : '';
    return this.#streamed.areWanted
      ? this.#listByStream(step, version, signal)
      : this.#listByPages(step, version, signal);
  }

  async #listByStream(step: ListStep, version: string, signal: AbortSignal): Promise<RecoveryStep> {
    const session = this.#newSession(version, step);
    const run = await session.run(signal);
    if (session.isListing) return this.#streamFailed(run.failure, step, session.wasAccepted);
    this.#streamed.succeeded();
    return this.#afterWatch(run);
  }

  /** If a server accepted the stream and did not complete it properly, lists use pages for a while. */
  #streamFailed(failure: Failure, step: ListStep, wasAccepted: boolean): RecoveryStep {
    const { kind } = failure;
    const incomplete = kind === 'closed' || kind === 'refused' || kind === 'stream_error' || kind === 'unreadable';
    if (kind === 'unsupported' || (wasAccepted && incomplete)) this.#streamed.failed();
    return kind === 'unsupported' ? { ...step, waitMs: 0 } : this.#listFailed(failure, step);
  }

  async #listByPages(step: ListStep, notOlderThan: string, signal: AbortSignal): Promise<RecoveryStep> {
    const { source, clock, slices } = this.#parts;
    const began = clock.monotonic();
    const pause = async (failure: Failure): Promise<void> => {
      await this.#wait(this.#recovery.afterList(failure, step), signal);
      this.#state = 'listing';
    };
    const version = notOlderThan === '' ? '' : { notOlderThan };
    const listed = await listInPages({ source, clock, slices, writer: this.#writer, pause }, version, signal);
    const failure = listed.kind === 'listed' ? await this.#accept(listed, { step, began, signal }) : listed;
    return failure ? this.#listFailed(failure, step) : WATCH_NOW;
  }

  #newSession(resourceVersion: string, list: ListStep | undefined): WatchSession<E> {
    const { source, clock, metrics, random } = this.#parts;
    const began = clock.monotonic();
    const spread = LONGEST_WATCH_SECONDS - SHORTEST_WATCH_SECONDS;
    const timeoutSeconds = SHORTEST_WATCH_SECONDS + Math.floor(random.fraction() * spread);
    const parts = {
      source,
      clock,
      metrics,
      writer: this.#writer,
      onAccepted: () => {
        if (list) return;
        if (this.#wasAway) this.#check.reconnected();
        this.#healthy();
      },
      onLowerBookmark: () => this.#check.now(),
      onListed: (listed: Listed<E>, signal: AbortSignal) =>
        list ? this.#accept(listed, { step: list, began, signal }) : undefined,
    };
    const request = { resourceVersion, timeoutSeconds, ...(list ? { initialEvents: true } : {}) };
    this.#session = new WatchSession(parts, request);
    return this.#session;
  }

  /**
   * Writes the list to the store in slices; readers see it when the last one is done. If the signal aborts before, the
   * store stays as it was. Nobody else writes to the store meanwhile: the source pauses, and the session holds the events
   * that have already come.
   */
  #accept(listed: Listed<E>, taking: Taking): Failure | undefined | Promise<Failure | undefined> {
    return this.#parts.slices.run(untilAborted(this.#take(listed, taking), taking.signal));
  }

  /**
   * Replaces the store's content with the list, unless the list is older than the cache: only a quorum read may go back
   * (I2).
   */
  *#take(listed: Listed<E>, { step, began }: Taking): Steps<Failure | undefined> {
    const { metrics, clock, logger, name } = this.#parts;
    const found = yield* this.#writer.compare(listed);
    if (found.isOlder && step.from === 'last')
      return { kind: 'too_large_version', detail: 'the list is older than the cache' };
    const asked = this.#relistAsked;
    const reason = asked ?? step.reason;
    const isSuspect = reason === 'self_check' || reason === 'too_large_version';
    const result = yield* this.#writer.replace(listed, found, isSuspect);
    if (asked) this.#relistAsked = undefined;
    metrics.listed('ok', (clock.monotonic() - began) / 1000);
    if (result === 'restored') metrics.relisted('restored');
    else if (step.reason) metrics.relisted(step.reason);
    if (result === 'restored') logger.warn({ resource: name }, 'the cluster went back in time; the cache followed it');
    this.#state = 'watching';
    this.#healthy();
    return undefined;
  }

  #listFailed(failure: Failure, step: ListStep): RecoveryStep {
    this.#parts.metrics.listed(failure.kind, 0);
    this.#ended('list', failure);
    return this.#recovery.afterList(failure, step);
  }

  #healthy(): void {
    this.#backoff.succeeded();
    this.#failure.over({ resource: this.#parts.name }, 'the cluster answers again');
    this.#missingRight = undefined;
    this.#wasAway = false;
  }

  #ended(what: 'list' | 'watch', failure: Failure): void {
    const { metrics, name } = this.#parts;
    if (failure.kind === 'aborted') return;
    if (what === 'watch') metrics.watchEnded(failure.kind);
    this.#missingRight = missingRightAfter(failure, this.#missingRight);
    if (failure.kind === 'reset' || failure.kind === 'refused') this.#wasAway = true;
    if (failure.kind === 'closed' || failure.kind === 'quiet') return;
    const { kind: end, detail } = failure;
    this.#failure.failed({ resource: name, end, detail }, `a ${what} failed`, this.#missingRight);
  }
}
