import type { AgingCopy } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecretRecords } from '../../secret-store.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { isFromMemory } from './memory-sessions.ts';
import { decodeSessions, encodeSessions, recordName } from './session-record.ts';
import { isEmpty, trimmed } from './session-rules.ts';
import { NOTHING_REMEMBERED, type SessionChange, type SessionStore, type UserSessions } from './sessions.ts';

export interface ClusterSessionsOptions {
  /** The name of a record is this prefix and a digest of the user's name. */
  readonly namePrefix: string;
  /** How long the records count as current without proof. After that no tokens are accepted (C-38). */
  readonly maxStalenessMs: number;
}

export interface ClusterSessionsParts {
  readonly records: SecretRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** Sessions that all replicas share: one record per user in the cluster, changed by compare-and-swap, read from memory. */
export interface ClusterSessions extends SessionStore {
  /** Removes records that no token needs any more. */
  run(signal: AbortSignal): Promise<void>;
}

/** 128 random bits. */
const ID_BYTES = 16;

/** After this many conflicts in a row the write fails, and the client gets a 503. */
const MOST_ATTEMPTS = 12;
/**
 * After each conflict we wait for a random time, up to 15 ms longer than before. So 12 attempts take at most a second.
 */
const PAUSE_STEP_MS = 15;

/**
 * The most changes of one user in one write. Each change copies the user's record, which has up to 1,300 entries; all of them
 * together take 8 ms.
 */
const MOST_TOGETHER = 128;

/**
 * Every replica looks for expired records, each at its own time. Every one to two hours is enough for records that live for hours.
 */
const SWEEP_MS = 3_600_000;

export function createClusterSessions(options: ClusterSessionsOptions, parts: ClusterSessionsParts): ClusterSessions {
  return new SharedSessions(options, parts);
}

class SharedSessions implements ClusterSessions {
  readonly #options: ClusterSessionsOptions;
  readonly #parts: ClusterSessionsParts;
  readonly #byUser = new Map<string, UserSessions>();
  /** The user of each record, by the record's name. */
  readonly #users = new Map<string, string>();
  readonly #unreadable = new Set<string>();
  /** For each user with a write in flight here, the changes that came since. They share the next write. */
  readonly #waiting = new Map<string, PendingChange[]>();

  readonly #listeners: ((user: string) => void)[] = [];

  readonly copies: readonly AgingCopy[];

  constructor(options: ClusterSessionsOptions, parts: ClusterSessionsParts) {
    this.#options = options;
    this.#parts = parts;
    this.copies = [{ data: 'sessions', proof: parts.records.proof, maxAgeMs: options.maxStalenessMs }];
    parts.records.onChange((name) => {
      const before = this.#users.get(name);
      this.#take(name);
      const user = this.#users.get(name) ?? before;
      if (user !== undefined) for (const changed of this.#listeners) changed(user);
    });
  }

  fault = (): string | undefined =>
    this.#parts.records.hasSynced() ? undefined : 'the session records are not loaded yet';

  newId = (): string => this.#parts.random.bytes(ID_BYTES).toString('base64url');

  /** The cluster has a record of every ended session, except of those that a process kept in memory. */
  knowsEndsOf = (sid: string): boolean => !isFromMemory(sid);

  read = (user: string): UserSessions => {
    const sessions = this.#byUser.get(user);
    if (sessions) return sessions;
    if (this.#unreadable.size > 0 && this.#unreadable.has(this.#nameOf(user)))
      throw serviceUnavailable('the session record of the user cannot be read', 5);
    return NOTHING_REMEMBERED;
  };

  /**
   * A change never joins a write that has begun: the state behind that write may lack changes of other replicas that the caller
   * knows already. The next write has all waiting changes; each is decided on the result of the one before.
   */
  update<T>(user: string, decide: (current: UserSessions) => SessionChange<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const change = toPending(decide, resolve, reject);
      const waiting = this.#waiting.get(user);
      if (waiting) waiting.push(change);
      else void this.#work(user, [change]);
    });
  }

  onChange = (changed: (user: string) => void): void => void this.#listeners.push(changed);

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(SWEEP_MS * (1 + random.fraction()), signal);
      await this.#sweep(signal);
    }
  }

  async #work(user: string, first: readonly PendingChange[]): Promise<void> {
    const waiting: PendingChange[] = [];
    this.#waiting.set(user, waiting);
    for (let changes = first; changes.length > 0; changes = waiting.splice(0, MOST_TOGETHER)) {
      const undecided = new Set(changes);
      await this.#swap(user, undecided).catch((error: unknown) => {
        for (const change of undecided) change.reject(error);
      });
    }
    this.#waiting.delete(user);
  }

  /**
   * Decides on the record in memory. If that is out of date, the write fails, and the changes are decided again on the stored
   * record.
   */
  async #swap(user: string, undecided: Set<PendingChange>): Promise<void> {
    const { clock, random, records } = this.#parts;
    const name = this.#nameOf(user);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (attempt > 0) {
        const pauseMs = Math.floor(random.fraction() * attempt * PAUSE_STEP_MS);
        if (pauseMs > 0) await clock.sleep(pauseMs);
        await records.refresh(name);
      }
      const { next, outcomes } = decideAll(this.read(user), undecided);
      if (next && !(await this.#store(name, user, next))) continue;
      for (const settle of outcomes) settle();
      return;
    }
    throw new Error(`a session record was changed by others ${MOST_ATTEMPTS} times in a row`);
  }

  /** Resolves to `false` if another change was stored first. */
  async #store(name: string, user: string, next: UserSessions): Promise<boolean> {
    const { records, clock } = this.#parts;
    const kept = trimmed(next, Math.floor(clock.now() / 1000));
    const stored = records.get(name);
    if (isEmpty(kept)) return !stored || (await records.remove(name, stored.version)) === 'removed';
    const data = encodeSessions(user, kept);
    if (!stored) return (await records.create(name, data)) === 'created';
    return (await records.update(name, data, stored.version)) === 'updated';
  }

  /**
   * Takes over the current state of a record. If it cannot be parsed, `read` throws for its user.
   */
  #take(name: string): void {
    const secret = this.#parts.records.get(name);
    const owner = this.#users.get(name);
    this.#unreadable.delete(name);
    if (owner !== undefined) this.#byUser.delete(owner);
    this.#users.delete(name);
    if (!secret) return;
    try {
      const { user, sessions } = decodeSessions(secret.data);
      if (this.#nameOf(user) !== name) throw new Error('it is not named after its user');
      this.#users.set(name, user);
      this.#byUser.set(user, sessions);
    } catch (error) {
      this.#unreadable.add(name);
      const reason = (error as Error).message;
      this.#parts.events.report('session_record_unreadable', { secret: name, reason });
    }
  }

  /** Removes only records in which everything has expired. A record that is still needed is trimmed at its next change. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const { clock, records, logger } = this.#parts;
    const now = Math.floor(clock.now() / 1000);
    for (const [user, sessions] of [...this.#byUser]) {
      if (signal.aborted) return;
      if (!isEmpty(trimmed(sessions, now))) continue;
      const name = this.#nameOf(user);
      const version = records.get(name)?.version;
      if (version === undefined) continue;
      await records.remove(name, version).catch((error: unknown) => {
        logger.warn({ err: error, secret: name }, 'an expired session record cannot be removed yet');
      });
    }
  }

  #nameOf = (user: string): string => recordName(this.#options.namePrefix, user);
}

/** A change whose promise is still pending. Calling the outcome of `decide` resolves the promise. */
interface PendingChange {
  decide(current: UserSessions): SessionChange<() => void>;
  reject(error: unknown): void;
}

/** Hides the type of the outcome, so that changes of every kind can wait in one list. */
const toPending = <T>(
  decide: (current: UserSessions) => SessionChange<T>,
  resolve: (outcome: T) => void,
  reject: (error: unknown) => void,
): PendingChange => ({
  reject,
  decide: (current) => {
    const { next, outcome } = decide(current);
    return { ...(next ? { next } : {}), outcome: () => resolve(outcome) };
  },
});

/**
 * Decides one change after the other; `next` is the state after the last. A change that throws is settled at once. So are those
 * before the first one that needs a write, because their outcome does not depend on the write.
 */
function decideAll(
  current: UserSessions,
  undecided: Set<PendingChange>,
): { readonly next?: UserSessions; readonly outcomes: readonly (() => void)[] } {
  let next: UserSessions | undefined;
  const outcomes: (() => void)[] = [];
  for (const change of undecided) {
    try {
      const decided = change.decide(next ?? current);
      if (decided.next || next) outcomes.push(decided.outcome);
      else {
        undecided.delete(change);
        decided.outcome();
      }
      next = decided.next ?? next;
    } catch (error) {
      undecided.delete(change);
      change.reject(error);
    }
  }
  return { ...(next ? { next } : {}), outcomes };
}
