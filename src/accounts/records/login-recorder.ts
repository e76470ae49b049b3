import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Logger } from '../../observability/logger.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import { normaliseAddress } from '../../runtime/source-address.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { SignInOutcome, SignInRecorder } from '../../users/sign-in.ts';
import { type AccountNames, userRef } from '../names.ts';
import type { StatusPatch } from '../states/status-patch.ts';
import type { WriteThrottle } from '../states/write-throttle.ts';
import type { UserRecord, UserRecords } from '../users/user-record.ts';
import { recordPrefix } from './record-owner.ts';
import { SuccessThrottle } from './success-throttle.ts';

export interface LoginRecorderParts {
  readonly names: AccountNames;
  readonly users: UserRecords;
  readonly records: Pick<ClusterObjects, 'create'>;
  readonly patchStatus: StatusPatch;
  readonly writeThrottle: WriteThrottle;
  readonly counted: { inc(labels: { result: 'written' | 'dropped' }): void };
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface LoginRecorder extends SignInRecorder {
  run(signal: AbortSignal): Promise<void>;
}

/** Attempts within this time make one record: successes of one user and source, or failures of one user. */
const MERGED_MS = 10_000;

/** At most ten records twice a second: 20 a second, enough for half of the sign-ins that two cores can do. */
const LOOK_MS = 500;
const MOST_AT_ONCE = 10;

/** About 500 kB each of successes and of failures. Records beyond that are dropped and counted. */
const MOST_WAITING = 1_000;

const MOST_KNOWN = 10_000;
const LAST_LOGIN_MS = 300_000;

const LONGEST_AGENT_BYTES = 256;
const SUFFIX_BYTES = 5;

const REASONS: Readonly<Record<SignInOutcome['outcome'], string>> = {
  succeeded: 'authenticated successfully',
  incorrect_password: 'incorrect password',
  throttled: 'auth rate limit exceeded',
};

interface Waiting {
  /** The last of the merged attempts. */
  outcome: SignInOutcome;
  count: number;
  readonly dueAt: number;
}

/** Writes login records after the sign-ins, in the background (docs/contract/accounts.md, section 8). Only User objects have records. */
export function createLoginRecorder(parts: LoginRecorderParts): LoginRecorder {
  return new Recorder(parts);
}

class Recorder implements LoginRecorder {
  readonly #parts: LoginRecorderParts;
  readonly #failure: LastingFailure;
  /**
   * Keyed by user and source, or by user alone while the user's pace delays them. Failures have a map of their own, so that they
   * push out no success.
   */
  readonly #successes = new Map<string, Waiting>();
  /** Keyed by user. */
  readonly #failures = new Map<string, Waiting>();
  readonly #successThrottle: SuccessThrottle;
  /** Keyed by user and source: until this time, a further success counts as the same sign-in. */
  readonly #succeeded = new BoundedMap<number>(MOST_KNOWN);
  /** When this process last wrote a user's last login. The user's object in memory may not show it yet. */
  readonly #lastLogins = new BoundedMap<number>(MOST_KNOWN);

  constructor(parts: LoginRecorderParts) {
    this.#parts = parts;
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    this.#successThrottle = new SuccessThrottle(parts.clock);
  }

  record(outcome: SignInOutcome): void {
    if (!outcome.user.isObject) return;
    if (outcome.outcome === 'succeeded') this.#succeed(outcome);
    else this.#fail(outcome);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      for (const [queue, due] of [
        [this.#successes, this.#dueSuccesses()],
        [this.#failures, this.#dueFailures()],
      ] as const)
        for (const [key, waiting] of due) {
          if (signal.aborted) return;
          queue.delete(key);
          await this.#write(waiting);
        }
    }
  }

  /** Normalises the address, because one client may own a /64 and sign in from each of its addresses. */
  #succeed(outcome: SignInOutcome): void {
    const { name } = outcome.user;
    const now = this.#parts.clock.monotonic();
    const key = `${name} ${normaliseAddress(outcome.address)}`;
    const same = this.#successes.get(key);
    if (same) same.outcome = outcome;
    if ((this.#succeeded.get(key) ?? 0) > now) return;
    this.#succeeded.set(key, now + MERGED_MS);
    if (merge(this.#successes.get(name), outcome)) return;
    const dueAt = this.#successThrottle.take(name);
    this.#wait(this.#successes, dueAt > now ? name : key, { outcome, count: 1, dueAt });
  }

  #fail(outcome: SignInOutcome): void {
    this.#parts.writeThrottle.failed();
    const key = outcome.user.name;
    if (merge(this.#failures.get(key), outcome)) return;
    this.#wait(this.#failures, key, { outcome, count: 1, dueAt: this.#parts.clock.monotonic() + MERGED_MS });
  }

  #wait(queue: Map<string, Waiting>, key: string, waiting: Waiting): void {
    if (queue.size < MOST_WAITING) queue.set(key, waiting);
    else this.#parts.counted.inc({ result: 'dropped' });
  }

  #dueSuccesses(): readonly [string, Waiting][] {
    const now = this.#parts.clock.monotonic();
    return [...this.#successes].filter(([, { dueAt }]) => dueAt <= now).slice(0, MOST_AT_ONCE);
  }

  /** The failures to write now: three at most, as the throttle allows. The others stay, and later failures are merged into them. */
  #dueFailures(): readonly [string, Waiting][] {
    const { clock, writeThrottle } = this.#parts;
    const due: [string, Waiting][] = [];
    for (const entry of this.#failures)
      if (entry[1].dueAt <= clock.monotonic()) {
        if (!writeThrottle.take()) break;
        due.push(entry);
      }
    return due;
  }

  /** Drops a record that cannot be written: retries would delay everything else. */
  async #write({ outcome, count }: Waiting): Promise<void> {
    const { users, records, counted } = this.#parts;
    const user = users.get(outcome.user.name);
    if (user?.uid !== outcome.user.uid || user.isDeleting) return;
    try {
      await records.create(this.#toObject(outcome, count));
      counted.inc({ result: 'written' });
      if (outcome.outcome === 'succeeded') await this.#writeLastLogin(user);
      this.#failure.over({}, 'login records are written again');
    } catch (error) {
      counted.inc({ result: 'dropped' });
      this.#failure.failed({ err: error }, 'login records cannot be written');
    }
  }

  async #writeLastLogin({ name, uid, lastLoginTime }: UserRecord): Promise<void> {
    const now = this.#parts.clock.now();
    const stored = Date.parse(lastLoginTime);
    const last = Math.max(this.#lastLogins.get(name) ?? 0, Number.isNaN(stored) ? 0 : stored);
    if (now - last < LAST_LOGIN_MS && now >= last) return;
    this.#lastLogins.set(name, now);
    await this.#parts.patchStatus(name, { lastLoginTime: toRfc3339(now) }, { uid });
  }

  #toObject({ user, outcome, address, userAgent }: SignInOutcome, count: number) {
    const { names, random } = this.#parts;
    const suffix = random.bytes(SUFFIX_BYTES).toString('hex');
    return {
      metadata: {
        name: `${recordPrefix(user.name)}-${suffix}`,
        labels: { [names.userRef]: userRef(user.name) },
      },
      spec: {
        type: 'Token',
        provider: '',
        success: outcome === 'succeeded',
        reason: count === 1 ? REASONS[outcome] : `${REASONS[outcome]} (${count} attempts)`,
        sourceIP: address,
        userAgent: shortened(userAgent),
      },
    };
  }
}

/** Merges the outcome into the waiting record. Returns whether there is one. */
function merge(waiting: Waiting | undefined, outcome: SignInOutcome): boolean {
  if (!waiting) return false;
  waiting.outcome = outcome;
  waiting.count++;
  return true;
}

/** Removes control characters and cuts the text to whole characters in at most 256 bytes. */
function shortened(userAgent: string): string {
  const clean = userAgent.replaceAll(/\p{Cc}/gu, '');
  const bytes = Buffer.from(clean);
  if (bytes.length <= LONGEST_AGENT_BYTES) return clean;
  return new TextDecoder().decode(bytes.subarray(0, LONGEST_AGENT_BYTES), { stream: true });
}
