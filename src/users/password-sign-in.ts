import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Logger } from '../observability/logger.ts';
import { bucketKey, LoginThrottle, type Throttled, type ThrottleOptions } from './login-throttle.ts';
import { createPasswordMetrics, type PasswordMetrics } from './metrics.ts';
import { type GateOptions, PasswordGate } from './password-gate.ts';
import { compareWithHash, dummyHash, hashFault, isComparable } from './password-hash.ts';
import type { PasswordSignIn, SignInAttempt, SignInResult } from './sign-in.ts';
import type { User, UserDirectory } from './user.ts';
import { isUserName } from './user-name.ts';

export interface PasswordOptions {
  readonly throttle: ThrottleOptions;
  readonly gate: GateOptions;
  /** Cost of new hashes, and so of the compare for a name that nobody has. */
  readonly cost: number;
  /** Highest cost that is accepted; the lowest is 10. */
  readonly maxCost: number;
}

export interface PasswordParts {
  readonly users: UserDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The one answer that tells nothing of the reason (N-14). */
const REFUSED: SignInResult = { kind: 'refused' };

/** Full gate, too long a wait, client gone: not a failure of the person, so no bucket counts it. */
const BUSY: SignInResult = { kind: 'busy', retryAfterSeconds: 1 };

/** Builds the password check: resolve, throttle, gate, exactly one compare, state, buckets. */
export function createPasswordSignIn(options: PasswordOptions, parts: PasswordParts): PasswordSignIn {
  const metrics = createPasswordMetrics(parts.registry);
  const throttle = new LoginThrottle(options.throttle, parts.clock);
  const gate = new PasswordGate(options.gate, parts.clock, metrics);

  const turnedAway = (throttled: Throttled): SignInResult => {
    metrics.throttled.inc({ bucket: throttled.bucket });
    return { kind: 'throttled', retryAfterSeconds: Math.max(1, Math.ceil(throttled.waitMs / 1000)) };
  };

  const signIn = async (attempt: SignInAttempt): Promise<SignInResult> => {
    const user = resolveUser(parts.users, attempt.username);
    const isLimited = user?.state === 'AuthLimitExceeded';
    const attempter = { user: bucketKey(user, attempt.username), source: attempt.source, isLimited };
    const throttled = throttle.check(attempter);
    if (throttled) return turnedAway(throttled);
    const leave = await gate.enter(attempt.source, attempt.signal);
    if (!leave) return BUSY;
    try {
      // Again: attempts that waited in the queue together must not share one look at the buckets.
      const meanwhile = throttle.check(attempter);
      if (meanwhile) return turnedAway(meanwhile);
      // Ahead of the compare, so that one more at the same time finds the bucket full (N-15).
      const takeBack = throttle.failed(attempter);
      const compared = { user, password: attempt.password };
      const current = await compareOnce(compared, options, { ...parts, metrics }).then(
        (matches) => (matches ? activeUser(parts.users, user) : undefined),
        (error: unknown) => {
          takeBack();
          throw error;
        },
      );
      if (!current) return REFUSED;
      takeBack();
      throttle.succeeded(attempter);
      return { kind: 'ok', user: current };
    } finally {
      leave();
    }
  };
  return { signIn };
}

/** By name when it could be one, else by e-mail. Look-ups read an index, so nobody's name takes longer. */
function resolveUser(users: UserDirectory, typed: string): User | undefined {
  if (isUserName(typed)) return users.byName(typed);
  return typed.includes('@') ? users.byEmail(typed) : undefined;
}

/** One bcrypt whoever tries: with the stored hash when it may be used, else with a dummy, its result thrown away. */
async function compareOnce(
  attempt: { readonly user: User | undefined; readonly password: string },
  options: PasswordOptions,
  parts: PasswordParts & { readonly metrics: PasswordMetrics },
): Promise<boolean> {
  const stored = usableHash(attempt.user, options, parts.logger);
  const real = stored !== undefined && isComparable(attempt.password);
  const done = parts.metrics.duration.startTimer();
  try {
    const matches = await compareWithHash(attempt.password, real ? stored : dummyHash(options.cost));
    return real && matches;
  } finally {
    done();
  }
}

function usableHash(user: User | undefined, options: PasswordOptions, logger: Logger): string | undefined {
  if (user?.passwordHash === undefined) return undefined;
  const fault = hashFault(user.passwordHash, options.maxCost);
  if (fault) logger.warn({ user: user.name }, `a stored password hash ${fault}`);
  return fault ? undefined : user.passwordHash;
}

/** The user as of now: a compare takes long enough for a disable or a change of password to come in between. */
function activeUser(users: UserDirectory, compared: User | undefined): User | undefined {
  const current = compared && users.byName(compared.name);
  return current?.passwordHash === compared?.passwordHash && current?.state !== 'Disabled' ? current : undefined;
}
