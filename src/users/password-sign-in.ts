import type { Registry } from 'prom-client';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { FailureThrottle } from '../runtime/limits/failure-throttle.ts';
import { FairSeats } from '../runtime/limits/fair-seats.ts';
import type { SecurityEvents } from '../security-events.ts';
import { type Attempter, type BucketName, LoginThrottle, type LoginThrottleOptions } from './login-throttle.ts';
import { createPasswordMetrics, type PasswordMetrics, registerHashMetric } from './metrics.ts';
import {
  type Bcrypt,
  type CompareParts,
  createPasswordCompare,
  type HashCosts,
  hashPassword,
} from './password-hash.ts';
import type { PasswordSignIn, SignInAttempt, SignInResult, ThrottleControl } from './sign-in.ts';
import { isUserName, type User, type UserDirectory, type UserList } from './user.ts';

export interface PasswordOptions extends HashCosts {
  readonly throttle: LoginThrottleOptions;
  readonly gate: GateOptions;
}

export interface PasswordParts extends Pick<CompareParts, 'events'> {
  /** Default: the library. */
  readonly bcrypt?: Bcrypt | undefined;
  readonly users: UserDirectory & UserList;
  readonly clock: Clock;
  readonly registry: Registry;
}

/** Every refusal has the same answer, so that it does not reveal the reason (N-14). */
const REFUSED: SignInResult = { kind: 'refused' };

/**
 * The gate was full, the wait too long, or the client gone. This is no failed sign-in, so no bucket counts it.
 */
const BUSY = { kind: 'busy', retryAfterSeconds: 1 } as const;

/** Builds the password check: resolve, throttle, gate, compare, state, buckets. */
export function createPasswordSignIn(
  options: PasswordOptions,
  parts: PasswordParts,
): PasswordSignIn & { readonly throttle: ThrottleControl } {
  const { users, clock, registry, bcrypt } = parts;
  const metrics = createPasswordMetrics(registry);
  registerHashMetric(registry, options, users);
  const throttle = new LoginThrottle(options.throttle, clock);
  const gate = new PasswordGate(options.gate, clock, metrics);
  const limited: LimitListener[] = [];
  const { turnedAway, judge } = createJudge(options, parts, { metrics, throttle, limited });

  const signIn = async ({ username, password, source, signal }: SignInAttempt): Promise<SignInResult> => {
    const user = resolveUser(users, username);
    const attempter = { user: user?.name, typed: username, source, limitedBy: limitedBy(user) };
    const refusal = turnedAway(attempter);
    if (refusal) return refusal;
    const leave = await gate.enter(source, signal);
    return leave ? judge({ user, password, attempter }).finally(leave) : BUSY;
  };
  // The library writes `$2y$`, as PHP does; `$2b$` names the same algorithm and is the prefix that most programs know.
  const hash: PasswordSignIn['hash'] = async (password, { source, signal }) => {
    const leave = await gate.enter(source, signal);
    if (!leave) return BUSY;
    return hashPassword(password, options.cost, bcrypt)
      .then((made) => ({ kind: 'ok', hash: made.replace(/^\$2y\$/, '$$2b$$') }) as const)
      .finally(leave);
  };
  return { signIn, userOf: (typed) => resolveUser(users, typed), hash, throttle: controlOf(throttle, limited) };
}

type LimitListener = (user: User) => void;

const controlOf = (throttle: LoginThrottle, limited: LimitListener[]): ThrottleControl => ({
  unlock: (user) => throttle.unlock(user),
  known: (user, source, ageMs) => throttle.known(user, source, ageMs),
  onLimited: (listener) => void limited.push(listener),
});

interface Judge {
  /** If the throttle turns the attempt away, counts that and returns the answer. `undefined` if the attempt may go on. */
  turnedAway(attempter: Attempter): SignInResult | undefined;
  /** Compares the password of an attempt that has a seat of the gate. */
  judge(attempt: ResolvedAttempt): Promise<SignInResult>;
}

interface JudgeParts {
  readonly metrics: PasswordMetrics;
  readonly throttle: LoginThrottle;
  /** Called when an attempt has filled the bucket of its user. */
  readonly limited: readonly LimitListener[];
}

function createJudge(
  options: HashCosts,
  { users, clock, bcrypt, events }: PasswordParts,
  { metrics, throttle, limited }: JudgeParts,
): Judge {
  const compare = createPasswordCompare(options, { bcrypt, events, duration: metrics.duration });
  const failures = new FailureWatch({ clock, events });

  const turnedAway: Judge['turnedAway'] = (attempter) => {
    const throttled = throttle.check(attempter);
    if (!throttled) return undefined;
    metrics.throttled.inc({ bucket: throttled.bucket });
    failures.turnedAway();
    return { kind: 'throttled', retryAfterSeconds: Math.max(1, Math.ceil(throttled.waitMs / 1000)) };
  };

  const judge: Judge['judge'] = async ({ user, password, attempter }) => {
    // Checked again, because other attempts may have filled a bucket while this one waited in the queue.
    const refusal = turnedAway(attempter);
    if (refusal) return refusal;
    // Counted before the compare, so that concurrent attempts cannot exceed the limit (N-15).
    const counted = throttle.failed(attempter);
    const matches = await compare(counted.mayMatch ? user : undefined, password).catch((error: unknown) => {
      counted.takeBack();
      throw error;
    });
    const current = matches ? activeUser(users, user) : undefined;
    if (!current) {
      const full = counted.stands();
      failures.refused({ user, source: attempter.source }, full);
      if (user && full.includes('user')) for (const listener of limited) listener(user);
      return REFUSED;
    }
    counted.takeBack();
    throttle.succeeded(attempter);
    return { kind: 'ok', user: current };
  };
  return { turnedAway, judge };
}

interface ResolvedAttempt {
  readonly user: User | undefined;
  readonly password: string;
  readonly attempter: Attempter;
}

/**
 * Finds the user by name if the text could be one, else by e-mail. Look-ups read an index, so no name takes longer than
 * another.
 */
function resolveUser(users: UserDirectory, typed: string): User | undefined {
  if (isUserName(typed)) return users.byName(typed);
  return typed.includes('@') ? users.byEmail(typed) : undefined;
}

/** The state of a User object is set by a replica whose bucket is full, that of a user in the users file by an operator. */
const limitedBy = (user: User | undefined): Attempter['limitedBy'] =>
  user?.state !== 'AuthLimitExceeded' ? undefined : user.isObject ? 'replica' : 'operator';

/** The user as the directory has it now; `undefined` if the user was disabled or got another password during the compare. */
function activeUser(users: UserDirectory, compared: User | undefined): User | undefined {
  const current = compared && users.byName(compared.name);
  return current?.passwordHash === compared?.passwordHash && current?.state !== 'Disabled' ? current : undefined;
}

/**
 * A hundred failures a minute over all names and addresses are reported (A-43, docs/promises.md). If 1,000 people sign in within a
 * quarter of an hour and one in ten mistypes, that makes 7 a minute. A flood as fast as the gate lets it through, 40 a second, is reported
 * within 3 s.
 */
const MANY = { limit: 100, windowMs: 60_000 };

const EVERYBODY = 'everybody';

/** Reports full buckets and many failed sign-ins in the audit trail. It refuses nobody. */
export class FailureWatch {
  readonly #all: FailureThrottle;
  readonly #events: SecurityEvents;

  constructor({ clock, events }: { readonly clock: Clock; readonly events: SecurityEvents }) {
    this.#all = new FailureThrottle(MANY, clock);
    this.#events = events;
  }

  /**
   * Counts a wrong password or an unknown name, and reports the buckets that it filled. The typed name is not reported.
   */
  refused({ user, source }: { user: User | undefined; source: string }, full: readonly BucketName[]): void {
    for (const bucket of full)
      this.#events.report('sign_in_throttled', { ...(user && { user: user.name }), source, bucket });
    this.turnedAway();
  }

  /**
   * Counts an attempt that the throttle turned away. It counts as a failure here: when one name is tried from a thousand
   * addresses, all attempts after the fifth are turned away.
   */
  turnedAway(): void {
    if (this.#all.add(EVERYBODY).stands())
      this.#events.report('sign_in_failures_many', { failures: MANY.limit, withinSeconds: MANY.windowMs / 1000 });
  }
}

export interface GateOptions {
  /** Compares that run at the same time. The thread pool has four threads, and files and DNS need some of them. */
  readonly concurrency: number;
  /** The most attempts that wait. */
  readonly queue: number;
  readonly maxWaitMs: number;
}

/** Releases the seat. */
export type LeaveSeat = () => void;

/**
 * The bounded queue in front of password hashing (R-02, docs/promises.md). Source addresses take turns, and the attempts of one
 * address keep their order. When the queue is full, the last attempt of the address that has the most is dropped. So an address
 * that floods the queue delays only itself and keeps nobody out.
 */
export class PasswordGate {
  readonly #seats: FairSeats;
  readonly #maxWaitMs: number;
  readonly #clock: Clock;
  readonly #metrics: PasswordMetrics;

  constructor({ concurrency, queue, maxWaitMs }: GateOptions, clock: Clock, metrics: PasswordMetrics) {
    this.#seats = new FairSeats({ count: concurrency, waiting: queue });
    this.#maxWaitMs = maxWaitMs;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /**
   * Resolves to the function that releases the seat when it is this attempt's turn; to `undefined` when the queue is full, the wait
   * is too long, or the client has gone.
   */
  async enter(source: string, signal: AbortSignal): Promise<LeaveSeat | undefined> {
    if (signal.aborted) return undefined;
    const since = this.#clock.monotonic();
    const isTaken = await this.#take(source, signal);
    this.#show();
    if (!isTaken) {
      if (!signal.aborted) this.#metrics.rejections.inc();
      return undefined;
    }
    this.#metrics.queueWait.observe((this.#clock.monotonic() - since) / 1000);
    return () => {
      this.#seats.release(source);
      this.#show();
    };
  }

  async #take(source: string, signal: AbortSignal): Promise<boolean> {
    const patience = new AbortController();
    const giveUp = (): void => patience.abort();
    const cancel = this.#clock.after(this.#maxWaitMs, giveUp);
    const removeListener = onAbort(signal, giveUp);
    const outcome = this.#seats.take(source, patience.signal);
    this.#show();
    const isTaken = (await outcome) === 'taken';
    cancel();
    removeListener();
    return isTaken;
  }

  #show(): void {
    this.#metrics.inFlight.set(this.#seats.taken);
    this.#metrics.queueLength.set(this.#seats.waiting);
  }
}
