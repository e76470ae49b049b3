import { isConflict } from '../../kubernetes/client/api-client.ts';
import type { Logger } from '../../observability/logger.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { ThrottleLimit } from '../../runtime/limits/failure-throttle.ts';
import type { Random } from '../../runtime/random.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { ThrottleControl } from '../../users/sign-in.ts';
import type { User, UserState } from '../../users/user.ts';
import type { UserRecord, UserRecords } from '../users/user-record.ts';
import type { StatusPatch } from './status-patch.ts';
import type { WriteThrottle } from './write-throttle.ts';

export interface UserStatesParts {
  readonly users: UserRecords;
  /** The user as the directory has it, with or without a password. */
  byName(name: string): Pick<User, 'uid' | 'passwordHash'> | undefined;
  readonly throttle: Pick<ThrottleControl, 'unlock'>;
  readonly patchStatus: StatusPatch;
  readonly writeThrottle: WriteThrottle;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The states of User objects (docs/contract/accounts.md, section 4). */
export interface UserStates {
  /**
   * Call it when the bucket that counts a user's failed sign-ins from all addresses is full on this replica. The state is then
   * written once, as soon as the throttle of writes allows it.
   */
  limited(name: string): void;
  /** Activates new users, and users whose lock has expired. Runs on every replica; the first one makes the change. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Each replica checks every second which users' states must change. It then waits up to 2 s, so that another replica can make the
 * change first. So a user without a state is active within 5 s.
 */
const LOOK_MS = 1_000;
const SPREAD_MS = 2_000;
/** How long after a write the same user is checked again. The watch shows the change long before. */
const AGAIN_MS = 10_000;
/** Up to 20 users a second. */
const MOST_AT_ONCE = 20;
const MOST_LIMITED = 1_000;

const NEW_REASON = 'the user has a password';
const OVER_REASON = 'the time of too many failed sign-ins is over';

export function createUserStates(throttled: ThrottleLimit, parts: UserStatesParts): UserStates {
  return new States(throttled, parts);
}

interface Watched {
  readonly state: string;
  dueAt: number;
}

class States implements UserStates {
  readonly #throttled: ThrottleLimit;
  readonly #parts: UserStatesParts;
  readonly #failure: LastingFailure;
  /** New and locked users, whose state changes without a request. */
  readonly #watched = new Map<string, Watched>();
  /** For each user whose bucket is full but whose state does not say so yet: the end of the window. */
  readonly #limited = new BoundedMap<number>(MOST_LIMITED);

  constructor(throttled: ThrottleLimit, parts: UserStatesParts) {
    this.#throttled = throttled;
    this.#parts = parts;
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    parts.users.onChange((name) => this.#changed(name));
  }

  limited(name: string): void {
    this.#limited.set(name, this.#parts.clock.monotonic() + this.#throttled.windowMs);
    void this.#tellLimited();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.#tellLimited();
      for (const [name, watched] of this.#due()) await this.#activate(name, watched);
    }
  }

  #changed(name: string): void {
    const user = this.#parts.users.get(name);
    const before = this.#watched.get(name);
    if (before?.state === 'AuthLimitExceeded' && user?.state === 'Active') this.#parts.throttle.unlock(user);
    const isWatched = user && !user.isIncomplete && !user.isDeleting && WATCHED.has(user.state);
    if (!isWatched) this.#watched.delete(name);
    else if (before?.state !== user.state) {
      const dueAt = this.#parts.clock.monotonic() + this.#parts.random.fraction() * SPREAD_MS;
      this.#watched.set(name, { state: user.state, dueAt });
    }
  }

  #due(): readonly [string, Watched][] {
    const due: [string, Watched][] = [];
    for (const entry of this.#watched) {
      if (due.length === MOST_AT_ONCE) break;
      if (entry[1].dueAt <= this.#parts.clock.monotonic() && this.#isOver(entry[0])) due.push(entry);
    }
    return due;
  }

  /** Whether this user becomes active now. */
  #isOver(name: string): boolean {
    const user = this.#parts.users.get(name);
    if (!user) return false;
    if (user.state === '') {
      const known = this.#parts.byName(name);
      return known?.uid === user.uid && known.passwordHash !== undefined;
    }
    const since = Date.parse(user.lastTransitionTime);
    return Number.isNaN(since) || since + this.#throttled.windowMs <= this.#parts.clock.now();
  }

  async #activate(name: string, watched: Watched): Promise<void> {
    const user = this.#parts.users.get(name);
    if (!user) return;
    watched.dueAt = this.#parts.clock.monotonic() + AGAIN_MS;
    await this.#write(user, 'Active', user.state === '' ? NEW_REASON : OVER_REASON);
  }

  /** Writes the state of the limited users. If the throttle does not allow it yet, a user waits, but not longer than the window. */
  async #tellLimited(): Promise<void> {
    const { clock, users, writeThrottle } = this.#parts;
    for (const [name, until] of this.#limited.entries()) {
      const user = users.get(name);
      const isMoot = until <= clock.monotonic() || !user || (user.state !== 'Active' && user.state !== '');
      if (!isMoot && !writeThrottle.take()) return;
      this.#limited.delete(name);
      if (isMoot) continue;
      const { limit, windowMs } = this.#throttled;
      await this.#write(user, 'AuthLimitExceeded', `${limit} failed sign-ins within ${windowMs / 60_000} min`);
    }
  }

  /** Writes only if the user still has the version that we checked, so a change made meanwhile wins. */
  async #write({ name, uid, resourceVersion }: UserRecord, state: UserState, reason: string): Promise<void> {
    const lastTransitionTime = toRfc3339(this.#parts.clock.now());
    try {
      await this.#parts.patchStatus(name, { state, reason, lastTransitionTime }, { uid, resourceVersion });
      this.#failure.over({}, 'states of users are written again');
    } catch (error) {
      if (!isConflict(error))
        this.#failure.failed({ err: error, user: name, state }, 'the state of a user cannot be written');
    }
  }
}

const WATCHED: ReadonlySet<string> = new Set(['', 'AuthLimitExceeded']);
