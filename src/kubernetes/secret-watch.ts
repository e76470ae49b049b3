import type { Backoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { StoredSecret } from '../secret-store.ts';
import { Attempt } from './attempt.ts';
import { isKubernetesObject, versionOf } from './checked-object.ts';
import { type Failure, failureOfErrorEvent } from './failure.ts';
import type { ListerWatcher } from './lister-watcher.ts';
import { Recovery, type Step, type WatchRun } from './recovery.ts';
import { compareResourceVersions } from './resource-version.ts';
import { toStoredSecret } from './secret-object.ts';
import { toStatus } from './status.ts';
import type { WatchEvent } from './watch-event.ts';

/** As `reflector.ts`, without the spread: there are few of these watches. */
const WATCH_SECONDS = 450;

export interface SecretWatchParts {
  readonly name: string;
  readonly source: ListerWatcher;
  read(): Promise<StoredSecret | undefined>;
  onChange(secret: StoredSecret | undefined): void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly backoff: Backoff;
}

/** Follows one Secret: reads it, then watches; a read takes the place of a reflector's list. */
export class SecretWatch {
  readonly #parts: SecretWatchParts;
  readonly #recovery: Recovery;
  /**
   * Where to resume; `''` after a read: such a watch begins with the state as it is now. The version of the Secret itself
   * will not do: the server forgets it when nothing changed for long, and would answer 410 for ever.
   */
  #resourceVersion = '';
  /** Events so far, to tell whether a read was overtaken by one. */
  #events = 0;
  /** What `onChange` was told last: a version, `absent`, or nothing yet. */
  #told: string | undefined;
  #failing = false;

  constructor(parts: SecretWatchParts) {
    this.#parts = parts;
    this.#recovery = new Recovery(parts.backoff);
  }

  async run(signal: AbortSignal): Promise<void> {
    let step: Step = { kind: 'list', from: 'newest', waitMs: 0 };
    while (!signal.aborted) {
      if (step.waitMs > 0) await this.#parts.clock.sleep(step.waitMs, signal);
      if (signal.aborted) return;
      step = step.kind === 'list' ? await this.#read(step) : await this.#watch(signal);
    }
  }

  async #read(step: Extract<Step, { kind: 'list' }>): Promise<Step> {
    try {
      this.#tell(await this.#parts.read());
      this.#resourceVersion = '';
      this.#parts.backoff.succeeded();
      return { kind: 'watch', waitMs: 0 };
    } catch (error) {
      const failure: Failure = { kind: 'refused', detail: (error as Error).message };
      this.#failed(failure);
      return this.#recovery.afterList(failure, step);
    }
  }

  async #watch(signal: AbortSignal): Promise<Step> {
    const { source, clock, backoff } = this.#parts;
    const attempt = new Attempt(clock, signal);
    const before = this.#resourceVersion;
    let acceptedAt: number | undefined;
    const sink = {
      accepted: () => {
        acceptedAt = clock.monotonic();
        attempt.allowQuiet();
        backoff.succeeded();
        this.#failing = false;
        if (before === '') void this.#confirm(signal);
      },
      bytes: attempt.heard,
      event: (event: WatchEvent) => this.#event(event),
    };
    const request = { resourceVersion: before, timeoutSeconds: WATCH_SECONDS };
    const failure = attempt.finish(await source.watch(request, sink, attempt.signal));
    if (failure.kind !== 'closed' && failure.kind !== 'quiet') this.#failed(failure);
    const run: WatchRun = {
      failure,
      livedMs: acceptedAt === undefined ? 0 : clock.monotonic() - acceptedAt,
      progressed: this.#resourceVersion !== before,
      resourceVersion: this.#resourceVersion,
    };
    return this.#recovery.afterWatch(run);
  }

  /** A watch that begins with the state says nothing of a Secret that went before it began: one more read does. */
  async #confirm(signal: AbortSignal): Promise<void> {
    const seen = this.#events;
    const secret = await this.#parts.read().catch(() => 'unknown' as const);
    if (secret !== 'unknown' && seen === this.#events && !signal.aborted) this.#tell(secret);
  }

  #event(event: WatchEvent): Failure | undefined {
    this.#events++;
    if (event.type === 'ERROR') return failureOfErrorEvent(toStatus(event.object, 0));
    const version = versionOf(event.object);
    if (version === '' || compareResourceVersions(version, this.#resourceVersion) <= 0) return undefined;
    this.#resourceVersion = version;
    if (event.type === 'DELETED') this.#tell(undefined);
    else if (event.type !== 'BOOKMARK' && isKubernetesObject(event.object)) this.#tell(toStoredSecret(event.object));
    return undefined;
  }

  /** A consumer that throws has a bug; it must not end the watch. */
  #tell(secret: StoredSecret | undefined): void {
    const version = secret?.version ?? 'absent';
    if (version === this.#told) return;
    this.#told = version;
    try {
      this.#parts.onChange(secret);
    } catch (error) {
      this.#parts.logger.error({ err: error, secret: this.#parts.name }, 'a change of a Secret was not taken');
    }
  }

  /** The first failure in a row is worth a warning. */
  #failed(failure: Failure): void {
    if (failure.kind === 'aborted' || this.#failing) return;
    this.#failing = true;
    const { logger, name } = this.#parts;
    logger.warn({ secret: name, end: failure.kind, detail: failure.detail }, 'a watch of a Secret failed');
  }
}
