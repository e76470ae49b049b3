import { type AgingCopy, isProven, neverProven } from '../data-age.ts';
import type { Logger } from '../observability/logger.ts';
import { Backoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';
import type { Random } from '../runtime/random.ts';
import type { SecretStore, StoredSecret } from '../secret-store.ts';
import { type Bcrypt, costOf, hashPassword } from './password-hash.ts';
import { isReservedName, isUserName, type User } from './user.ts';
import { derivedUid, type UserSource } from './user-directory.ts';

export interface FirstAdministratorOptions {
  readonly name: string;
  readonly groups: readonly string[];
  readonly secretName: string;
  /**
   * The cost of a new hash. It must be the cost of the compare for unknown names, or timing would reveal that this name
   * exists (R-03, docs/promises.md).
   */
  readonly hashCost: number;
  /**
   * The longest time without proof that the Secret is current. After it the tokens of this user are not accepted, because the
   * user may be gone.
   */
  readonly maxStalenessMs: number;
}

export interface FirstAdministratorParts {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: the library. */
  readonly bcrypt?: Bcrypt | undefined;
}

export interface FirstAdministrator extends UserSource {
  users(): readonly User[];
  /**
   * Marks the Secret as taken over by the User object with this uid, which replaces its user from now on. Does nothing if
   * somebody changes the Secret at the same moment. Rejects when the cluster refuses or does not answer.
   */
  takenOver(uid: string): Promise<void>;
  /** Creates the Secret if there is none at start, then watches it. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
  /** Why sign-ins and tokens of this user cannot be checked yet; `undefined` once they can. */
  fault(): string | undefined;
  /** When the Secret was last proved current. */
  readonly copies: readonly AgingCopy[];
}

const LABEL = 'first administrator';

/** What the data is called in a 503 about its age. */
const DATA = 'users';

/** Key of the Secret: the uid of the User object that took its user over. */
const OBJECT = 'object';

/** 144 random bits in 24 characters that need no quoting anywhere. */
const PASSWORD_BYTES = 18;

/**
 * One user whose name, password and hash are in a Secret, which the first replica creates with a random password.
 * Deleting the Secret removes the user; the Secret is created again only at the next start. Once a User object has taken
 * the user over, the Secret is not used any more: deleting or disabling the object does not bring the first password back,
 * until an operator removes the mark. The password is never logged.
 */
export function createFirstAdministrator(
  options: FirstAdministratorOptions,
  parts: FirstAdministratorParts,
): FirstAdministrator {
  const listeners: (() => void)[] = [];
  const state = { users: [] as readonly User[] };
  const read = neverProven();

  const take = (secret: StoredSecret | undefined): void => {
    const object = secret && text(secret, OBJECT);
    const user = secret && !object ? toUser(secret, options) : undefined;
    if (object)
      parts.logger.info(
        { secret: options.secretName, object },
        'the Secret is not used: a User object took its user over',
      );
    else if (secret && !user) parts.logger.error({ secret: options.secretName }, 'the Secret names no usable user');
    if (!secret && isProven(read))
      parts.logger.warn({ secret: options.secretName }, 'the Secret is gone, and its user');
    state.users = user ? [user] : [];
    read.at = parts.clock.monotonic();
    for (const changed of listeners) changed();
  };

  const takenOver = async (uid: string): Promise<void> => {
    const secret = await parts.secrets.read(options.secretName);
    if (!secret || text(secret, OBJECT)) return;
    await parts.secrets.update(options.secretName, { ...secret.data, [OBJECT]: Buffer.from(uid) }, secret.version);
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    await createOnce(options, parts, signal);
    if (!signal.aborted) await parts.secrets.watch(options.secretName, take, signal);
  };
  const fault = (): string | undefined =>
    isProven(read) ? undefined : `the Secret ${options.secretName} is not read yet`;
  return {
    label: LABEL,
    takenOver,
    run,
    fault,
    copies: [
      { data: DATA, proof: read, maxAgeMs: Number.POSITIVE_INFINITY },
      { data: DATA, proof: parts.secrets.proofOf(options.secretName), maxAgeMs: options.maxStalenessMs },
    ],
    users: () => state.users,
    onChange: (changed) => listeners.push(changed),
  };
}

/** Tries until the Secret exists, created by this process or by another one. */
async function createOnce(
  options: FirstAdministratorOptions,
  parts: FirstAdministratorParts,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(parts.clock, parts.random);
  const failure = new LastingFailure(parts.clock, parts.logger);
  while (!signal.aborted) {
    try {
      if (await parts.secrets.read(options.secretName)) return;
      const made = await parts.secrets.create(options.secretName, await newData(options, parts));
      if (made === 'exists') return;
      parts.logger.info(
        { user: options.name, secret: options.secretName },
        'made the first administrator: the password is in the Secret, under the key password',
      );
      return;
    } catch (error) {
      failure.failed({ err: error, secret: options.secretName }, 'cannot make the first administrator yet');
      await parts.clock.sleep(backoff.failed(), signal);
    }
  }
}

async function newData(
  { name, hashCost }: FirstAdministratorOptions,
  { random, bcrypt }: Pick<FirstAdministratorParts, 'random' | 'bcrypt'>,
): Promise<Record<string, Buffer>> {
  const password = random.bytes(PASSWORD_BYTES).toString('base64url');
  const passwordHash = await hashPassword(password, hashCost, bcrypt);
  return { username: Buffer.from(name), password: Buffer.from(password), passwordHash: Buffer.from(passwordHash) };
}

function toUser(secret: StoredSecret, options: FirstAdministratorOptions): User | undefined {
  const name = text(secret, 'username');
  const passwordHash = text(secret, 'passwordHash');
  if (!isUserName(name) || isReservedName(name) || costOf(passwordHash) === undefined) return undefined;
  const uid = derivedUid(options.secretName, name);
  return { name, uid, passwordHash, groups: options.groups, state: 'Active' };
}

/** Removes the trailing newline that most editors and `kubectl create secret --from-file` leave behind. */
const text = (secret: StoredSecret, key: string): string => (secret.data[key]?.toString() ?? '').trimEnd();
