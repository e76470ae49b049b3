import { neverProven } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { SecretStore, StoredSecret } from '../../secret-store.ts';
import { ClusterError } from '../client/api-client.ts';
import { isKubernetesObject } from '../object.ts';
import { ReflectorRequest } from '../reflector/attempt.ts';
import { type Failure, failureOfErrorEvent, missingRightAfter } from '../reflector/failure.ts';
import type { ListerWatcher, WatchEvent } from '../reflector/lister-watcher.ts';
import { Recovery, type WatchRun } from '../reflector/recovery.ts';
import { missingRightIn, toStatus } from '../status.ts';
import { type SecretRequests, toStoredSecret } from './secret-requests.ts';

export interface ClusterSecretsParts {
  readonly requests: SecretRequests;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The source of one Secret's events: `fieldSelector=metadata.name=<name>`, which needs no right to list. */
  watcherOf(fieldSelector: string): ListerWatcher;
  newBackoff(): Backoff;
}

/** Secrets of one namespace, by name. Needs the rights to get, create, update and watch, but never to list. */
export class ClusterSecrets implements SecretStore {
  readonly #parts: ClusterSecretsParts;
  /** The last watch of each watched Secret. */
  readonly #watches = new Map<string, SecretWatch>();
  /** When each watched Secret was last proved current. Callers of `proofOf` keep the value, so each name has only one. */
  readonly #proofs = new Map<string, { at: number }>();
  /** The rights that we lack, by verb and name of the Secret. */
  readonly #missing = new Map<string, string>();

  constructor(parts: ClusterSecretsParts) {
    this.#parts = parts;
  }

  async read(name: string): Promise<StoredSecret | undefined> {
    const object = await this.#judged(`get ${name}`, this.#parts.requests.get(name));
    if (object) this.#missing.delete(`create ${name}`); // somebody made it
    return object && toStoredSecret(object);
  }

  async create(name: string, data: Readonly<Record<string, Buffer>>): Promise<StoredSecret | 'exists'> {
    const made = await this.#judged(`create ${name}`, this.#parts.requests.create(name, data));
    return made === 'exists' ? made : toStoredSecret(made);
  }

  /** Reads first, so that labels, annotations and owners that others put on the Secret stay. */
  async update(
    name: string,
    data: Readonly<Record<string, Buffer>>,
    version: string,
  ): Promise<StoredSecret | 'conflict'> {
    const current = await this.#parts.requests.get(name);
    if (current?.metadata.resourceVersion !== version) return 'conflict';
    const updated = await this.#parts.requests.replace(current, data);
    return updated === 'conflict' ? updated : toStoredSecret(updated);
  }

  watch(name: string, onChange: (secret: StoredSecret | undefined) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger, watcherOf, newBackoff } = this.#parts;
    const source = watcherOf(`metadata.name=${name}`);
    const read = (): Promise<StoredSecret | undefined> => this.read(name);
    const proof = this.proofOf(name);
    const watch = new SecretWatch({ name, source, proof, read, onChange, clock, logger, backoff: newBackoff() });
    this.#watches.set(name, watch);
    return watch.run(signal);
  }

  proofOf(name: string): { at: number } {
    const known = this.#proofs.get(name);
    const proof = known ?? neverProven();
    if (!known) this.#proofs.set(name, proof);
    return proof;
  }

  missingRight = (name: string): string | undefined =>
    this.#watches.get(name)?.missingRight() ?? this.#missing.get(`get ${name}`) ?? this.#missing.get(`create ${name}`);

  /** Records whether the answer shows that we have or lack the right to this action. */
  async #judged<T>(action: string, answer: Promise<T>): Promise<T> {
    try {
      const result = await answer;
      this.#missing.delete(action);
      return result;
    } catch (error) {
      const missing = error instanceof ClusterError ? missingRightIn(error.status) : undefined;
      if (missing !== undefined) this.#missing.set(action, missing);
      throw error;
    }
  }
}

/** How long a watch lasts. There are few of these watches, so no random part spreads their ends, as in `reflector.ts`. */
const WATCH_SECONDS = 450;
/** "Start at the most recent": the stream begins with the current Secret, if there is one. */
const NOW = '';

export interface SecretWatchParts {
  readonly name: string;
  readonly source: ListerWatcher;
  /** Written when an event, a bookmark or a read proves that nothing newer is missing. */
  readonly proof: { at: number };
  read(): Promise<StoredSecret | undefined>;
  onChange(secret: StoredSecret | undefined): void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly backoff: Backoff;
}

/**
 * Follows the state of one Secret. Every watch begins with the current state, because the version of a Secret is soon
 * older than the server's history: a watch from there would get a 410 for ever. Nobody needs the states in between. A
 * `StoreReflector` would need the right to list Secrets, because it lists when it cannot resume at a version. Both loops
 * use `ReflectorRequest`, which ends a silent watch, and `Recovery`, which says how long to wait after a failure.
 */
export class SecretWatch {
  readonly #parts: SecretWatchParts;
  readonly #recovery: Recovery;
  /** What `onChange` was last called with: a version, `absent`, or nothing yet. */
  #reported: string | undefined;
  readonly #failure: LastingFailure;
  #missingRight: string | undefined;

  constructor(parts: SecretWatchParts) {
    this.#parts = parts;
    this.#recovery = new Recovery(parts.backoff);
    this.#failure = new LastingFailure(parts.clock, parts.logger);
  }

  /** See `Reflector.missingRight`. */
  missingRight = (): string | undefined => this.#missingRight;

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { waitMs } = this.#recovery.afterWatch(await this.#watch(signal));
      if (waitMs > 0) await this.#parts.clock.sleep(waitMs, signal);
    }
  }

  async #watch(signal: AbortSignal): Promise<WatchRun> {
    const { source, clock } = this.#parts;
    const attempt = new ReflectorRequest(clock, signal);
    const round = { acceptedAt: undefined as number | undefined, hasState: false, isOver: false };
    const sink = {
      accepted: () => {
        round.acceptedAt = clock.monotonic();
        this.#missingRight = undefined;
        attempt.allowQuiet();
        void this.#readOnce(round, attempt);
      },
      bytes: attempt.heard,
      event: (event: WatchEvent) => this.#event(event, round),
    };
    const request = { resourceVersion: NOW, timeoutSeconds: WATCH_SECONDS };
    const failure = attempt.finish(await source.watch(request, sink, attempt.signal));
    round.isOver = true;
    if (failure.kind !== 'closed' && failure.kind !== 'quiet') this.#failed(failure);
    const livedMs = round.acceptedAt === undefined ? 0 : clock.monotonic() - round.acceptedAt;
    return { failure, livedMs, progressed: round.hasState, resourceVersion: NOW };
  }

  /**
   * Reads the Secret once, because a watch has no event for an absent one. An event that comes meanwhile is newer and wins.
   * If the read gets no answer, the watch begins again.
   */
  async #readOnce(round: { hasState: boolean; readonly isOver: boolean }, attempt: ReflectorRequest): Promise<void> {
    try {
      const secret = await this.#parts.read();
      if (round.hasState || round.isOver) return;
      round.hasState = true;
      this.#healthy();
      this.#report(secret);
    } catch (error) {
      if (!round.hasState) attempt.end({ kind: 'refused', detail: (error as Error).message });
    }
  }

  #event(event: WatchEvent, round: { hasState: boolean }): Failure | undefined {
    if (event.type === 'ERROR') return failureOfErrorEvent(toStatus(event.object, 0));
    // Once this watch has brought a state, a bookmark proves that the state is still current.
    if (event.type === 'BOOKMARK' && round.hasState) this.#healthy();
    if (event.type === 'BOOKMARK' || !isKubernetesObject(event.object)) return undefined;
    round.hasState = true;
    this.#healthy();
    this.#report(event.type === 'DELETED' ? undefined : toStoredSecret(event.object));
    return undefined;
  }

  #healthy(): void {
    this.#parts.proof.at = this.#parts.clock.monotonic();
    this.#parts.backoff.succeeded();
    this.#failure.over({ secret: this.#parts.name }, 'the cluster answers again');
  }

  /** A consumer that throws has a bug. That must not end the watch. */
  #report(secret: StoredSecret | undefined): void {
    const version = secret?.version ?? 'absent';
    if (version === this.#reported) return;
    this.#reported = version;
    try {
      this.#parts.onChange(secret);
    } catch (error) {
      this.#parts.logger.error({ err: error, secret: this.#parts.name }, 'a change of a Secret was not taken');
    }
  }

  #failed(failure: Failure): void {
    if (failure.kind === 'aborted') return;
    this.#missingRight = missingRightAfter(failure, this.#missingRight);
    const { kind: end, detail } = failure;
    this.#failure.failed({ secret: this.#parts.name, end, detail }, 'a watch of a Secret failed', this.#missingRight);
  }
}
