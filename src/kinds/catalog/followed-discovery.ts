import { type LastProof, neverProven } from '../../data-age.ts';
import type { DiscoveredKinds, DiscoveryReader } from '../../kubernetes/discovery/discovery-reader.ts';
import type { Logger } from '../../observability/logger.ts';
import { onAbort } from '../../runtime/abort.ts';
import { type Clock, Waiting } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import { serviceUnavailable } from '../../status-error.ts';

interface FollowedDiscoveryParts {
  readonly discovery: DiscoveryReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with what was known before and what is known now, when the two differ. */
  changed(before: DiscoveredKinds, now: DiscoveredKinds): void;
}

/**
 * From the beginning of a read to that of the next. A new custom resource is in the cluster's discovery within 2 s, so it is served within
 * 10 s (KD-01). Also the shortest time between two reads, whatever is asked.
 */
const READ_EVERY_MS = 5_000;
/** Kinds are in use for this long after a use. It is the default of `kinds.idle`, after which their objects are given up. */
const IN_USE_MS = 600_000;

/**
 * What the cluster's discovery says, read again every 5 s while somebody uses it, and not at all otherwise. All users share one read.
 * After a failed read, what was known stays.
 */
export class FollowedDiscovery {
  readonly #parts: FollowedDiscoveryParts;
  readonly #failure: LastingFailure;
  readonly #waiting: Waiting;
  readonly #ended = new AbortController();
  readonly #proof = neverProven();
  #found: DiscoveredKinds | undefined;
  /** What the last read gave: the same object as the time before while the cluster answers 304. */
  #lastRead: DiscoveredKinds | undefined;
  #reading: Promise<void> | undefined;
  #usedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Why the last read that failed did so. */
  #fault: unknown;
  /** Nobody used it for a while, so what was known may be old. The next use waits for a read. */
  #isPaused = true;

  constructor(parts: FollowedDiscoveryParts) {
    this.#parts = parts;
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    this.#waiting = new Waiting(parts.clock);
  }

  /** When what is known was last read from the cluster. */
  get proof(): LastProof {
    return this.#proof;
  }

  /**
   * What is known, at once while it is followed. The first use, and the first after a pause, waits for a read. Rejects with a 503 if
   * nothing is known.
   */
  current(): DiscoveredKinds | Promise<DiscoveredKinds> {
    this.#usedAt = this.#parts.clock.monotonic();
    this.#waiting.end();
    return this.#found && !this.#isPaused ? this.#found : this.newer();
  }

  /** What a read says that began less than 5 s ago or begins now. If it fails, what was known; with nothing known rejects with a 503. */
  async newer(): Promise<DiscoveredKinds> {
    if (this.#reading || this.#msUntilRead() <= 0) await this.#read();
    if (this.#found) return this.#found;
    const seconds = Math.max(1, Math.ceil(this.#msUntilRead() / 1000));
    throw serviceUnavailable('the kinds of the cluster are not known yet', seconds, this.#fault);
  }

  /** Reads again while it is used, until the signal aborts. Only a bug makes it throw. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    onAbort(signal, () => this.#ended.abort());
    while (!signal.aborted) {
      const wait = this.#msUntilRead();
      if (clock.monotonic() - this.#usedAt >= IN_USE_MS) {
        this.#isPaused = true;
        await this.#waiting.sleep(IN_USE_MS, signal);
      } else if (wait > 0) await clock.sleep(wait, signal);
      else await this.#read();
    }
  }

  #msUntilRead = (): number => this.#triedAt + READ_EVERY_MS - this.#parts.clock.monotonic();

  #read(): Promise<void> {
    this.#reading ??= this.#tryToRead().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #tryToRead(): Promise<void> {
    const { discovery, clock } = this.#parts;
    const { signal } = this.#ended;
    const beganAt = clock.monotonic();
    this.#triedAt = beganAt;
    const found = await discovery.read(signal).catch((error: unknown) => {
      this.#fault = error;
      if (!signal.aborted) this.#failure.failed({ err: error }, 'the discovery of the cluster cannot be read');
    });
    this.#isPaused = false;
    if (!found) return;
    this.#proof.at = beganAt;
    this.#failure.over({}, 'the discovery of the cluster answers again');
    this.#adopt(found);
  }

  #adopt(found: DiscoveredKinds): void {
    const before = this.#found;
    if (found === this.#lastRead) return;
    this.#lastRead = found;
    const now = before ? keepEqual(before, found) : found;
    if (now === before) return;
    this.#found = now;
    if (before) this.#parts.changed(before, now);
  }
}

/**
 * What was found, with the objects of before for the kinds that have not changed, so that what is remembered for them stays. If nothing has
 * changed, returns `before` itself. Takes 2 ms for 1,000 kinds.
 */
function keepEqual(before: DiscoveredKinds, found: DiscoveredKinds): DiscoveredKinds {
  const known = new Map(before.kinds.map((kind) => [JSON.stringify(kind), kind] as const));
  const kinds = found.kinds.map((kind) => known.get(JSON.stringify(kind)) ?? kind);
  const isEqual =
    kinds.length === before.kinds.length &&
    kinds.every((kind, index) => kind === before.kinds[index]) &&
    isSameSet(found.awayGroups, before.awayGroups);
  return isEqual ? before : { kinds, awayGroups: found.awayGroups };
}

const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((member) => b.has(member));
