import { isConflict } from '../../kubernetes/client/api-client.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import type { UserRecord, UserRecords } from '../users/user-record.ts';
import type { Job } from './job.ts';

/** What a user may need, in order of urgency. */
type Need = 'removal' | 'expiry' | 'guarding' | 'migration';

export interface KeeperParts {
  readonly users: UserRecords;
  /** Whether all users and passwords are known. No job runs before that. */
  isKnown(): boolean;
  /** The job for each need; a need without a job is ignored here. */
  readonly jobs: Readonly<Partial<Record<Need, Job>>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** How long a user may be incomplete. Creating a user takes at most 45 s; the other half allows for a watch that is behind. */
const INCOMPLETE_MS = 90_000;

/** Four rounds a second, each with at most five users: at most 20 users a second, which is 60 writes. */
const LOOK_MS = 250;
const MOST_AT_ONCE = 5;

/** All replicas plan the same job. A random delay lets one of them finish it before the others begin. */
const SPREAD_MS = 1_000;

/** The watch usually shows the change long before this; if not, the user is checked again. */
const DONE_MS = 10_000;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

interface Task {
  readonly uid: string;
  readonly need: Need;
  dueAt: number;
  failures: number;
}

/** Completes what is left to do for users whom other tools created, changed or deleted, and for users whose creation broke off. */
export interface Keeper {
  run(signal: AbortSignal): Promise<void>;
}

/** Deletes a user whom nobody completed. */
export const createExpiry =
  (objects: Pick<ClusterObjects, 'remove'>): Job =>
  async ({ name, uid, resourceVersion }) => {
    await objects.remove(name, { uid, resourceVersion });
    return undefined;
  };

/** Runs on every replica, so each job must be safe to repeat. */
export function createKeeper(parts: KeeperParts): Keeper {
  return new UserKeeper(parts);
}

class UserKeeper implements Keeper {
  readonly #parts: KeeperParts;
  readonly #tasks = new Map<string, Task>();
  readonly #failure: LastingFailure;
  #isKnown = false;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    parts.users.onChange((name) => this.#isKnown && this.#plan(name));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, users, isKnown } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      if (!this.#isKnown && isKnown()) {
        this.#isKnown = true;
        for (const { name } of users.all()) this.#plan(name);
      }
      for (const [name, task] of this.#due()) if (!signal.aborted) await this.#work(name, task, signal);
    }
  }

  #plan(name: string): void {
    const user = this.#parts.users.get(name);
    const need = user && this.#needOf(user);
    const before = this.#tasks.get(name);
    if (!need) this.#tasks.delete(name);
    else if (before?.need !== need || before.uid !== user.uid) {
      // The time counts from when this process sees the user: the clock of the process that began the create may differ.
      const waitMs = (need === 'expiry' ? INCOMPLETE_MS : 0) + this.#parts.random.fraction() * SPREAD_MS;
      const dueAt = this.#parts.clock.monotonic() + waitMs;
      this.#tasks.set(name, { uid: user.uid, need, dueAt, failures: 0 });
    }
  }

  #needOf(user: UserRecord): Need | undefined {
    const { isDeleting, hasFinalizer, isIncomplete, storedPassword } = user;
    const needs: readonly (readonly [Need, boolean])[] = [
      ['removal', isDeleting && hasFinalizer],
      ['expiry', !isDeleting && isIncomplete],
      ['guarding', !isDeleting && !hasFinalizer],
      ['migration', !isDeleting && storedPassword !== undefined],
    ];
    return needs.find(([need, isThere]) => isThere && this.#parts.jobs[need])?.[0];
  }

  #due(): readonly [string, Task][] {
    const now = this.#parts.clock.monotonic();
    const due: [string, Task][] = [];
    for (const entry of this.#tasks) {
      if (due.length === MOST_AT_ONCE) break;
      if (entry[1].dueAt <= now) due.push(entry);
    }
    return due;
  }

  async #work(name: string, task: Task, signal: AbortSignal): Promise<void> {
    const { users, jobs, clock, random } = this.#parts;
    const user = users.get(name);
    const job = jobs[task.need];
    if (!user || !job || this.#needOf(user) !== task.need) return this.#plan(name);
    try {
      const againMs = await job(user, signal);
      task.failures = 0;
      task.dueAt = clock.monotonic() + (againMs ?? DONE_MS);
      this.#failure.over({}, 'users are kept in order again');
    } catch (error) {
      if (!isConflict(error))
        this.#failure.failed({ err: error, user: name, need: task.need }, 'a user cannot be kept in order');
      const retryMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(task.failures++, 10));
      task.dueAt = clock.monotonic() + (retryMs * (1 + random.fraction())) / 2;
    }
    // The user goes to the end of the queue, so that a job that fails again and again holds nobody up.
    if (this.#tasks.get(name) !== task) return;
    this.#tasks.delete(name);
    this.#tasks.set(name, task);
  }
}
