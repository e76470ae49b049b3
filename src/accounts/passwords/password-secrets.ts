import { createHash } from 'node:crypto';
import type { AgingCopy } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecretRecords, StoredSecret } from '../../secret-store.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { type PasswordOwner, PasswordReplacedError, type PasswordStore } from './password-store.ts';

export interface PasswordSecretsOptions {
  /** The Secrets' names consist of this prefix and a digest of the user's name. */
  readonly namePrefix: string;
  /** How long the Secrets count as current without proof. After that they are not used to check tokens. */
  readonly maxStalenessMs: number;
}

export interface PasswordSecretsParts {
  readonly records: SecretRecords;
  /** The uid of the User object of this name as the cluster has it now; `undefined` when there is none. */
  currentUid(user: string): Promise<string | undefined>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** The version of the format. Raise it when an older release could not read what a newer one writes. */
const FORMAT = '1';

/** After this many lost races in a row the write fails, and the client gets a 503. */
const MOST_ATTEMPTS = 12;
/** The losers of a race wait for a random time, up to 15 ms more after each loss: 12 attempts stay within a second. */
const PAUSE_STEP_MS = 15;

interface Stored {
  readonly user: string;
  readonly uid: string;
  readonly hash: string;
}

/** Passwords in Secrets of our own namespace, one for each user: a caller who may read users must not read hashes. */
export function createPasswordSecrets(options: PasswordSecretsOptions, parts: PasswordSecretsParts): PasswordStore {
  return new PasswordSecrets(options, parts);
}

/** The prefix and 160 bits in hex. The user's name itself does not fit: it can be as long as a Secret's name may be. */
export const passwordSecretName = (prefix: string, user: string): string =>
  `${prefix}${createHash('sha256').update(user).digest('hex').slice(0, 40)}`;

/** The labels of the password Secrets. */
export const passwordLabels = (platform: string): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/part-of': platform,
  'app.kubernetes.io/component': 'passwords',
});

/** The prefix of the names of the password Secrets. */
export const passwordPrefix = (platform: string): string => `${platform}-password-`;

class PasswordSecrets implements PasswordStore {
  readonly #options: PasswordSecretsOptions;
  readonly #parts: PasswordSecretsParts;
  readonly #listeners: ((user: string) => void)[] = [];
  /** What each Secret holds, by the Secret's name. */
  readonly #known = new Map<string, Stored>();
  readonly #unreadable = new Set<string>();

  readonly copies: readonly AgingCopy[];

  constructor(options: PasswordSecretsOptions, parts: PasswordSecretsParts) {
    this.#options = options;
    this.#parts = parts;
    this.copies = [{ data: 'users', proof: parts.records.proof, maxAgeMs: options.maxStalenessMs }];
    parts.records.onChange((name) => this.#take(name));
  }

  fault = (): string | undefined =>
    this.#parts.records.hasSynced() ? undefined : 'the passwords of users are not loaded yet';

  onChange = (changed: (user: string) => void): void => void this.#listeners.push(changed);

  hashOf({ name, uid }: PasswordOwner): string | undefined {
    const stored = this.#known.get(this.#nameOf(name));
    return stored?.uid === uid ? stored.hash : undefined;
  }

  /** If the answer is lost, reads the Secret to find out whether the write succeeded. */
  async set(owner: PasswordOwner, hash: string, instead?: string): Promise<void> {
    const { name, uid } = owner;
    const data = encodePassword({ user: name, uid, hash });
    try {
      await this.#swap(name, async (secret, stored) => {
        if (instead !== undefined && this.hashOf(owner) !== instead) throw new PasswordReplacedError();
        if (!stored) return (await this.#parts.records.create(secret, data)) === 'created';
        // The Secret may belong to a later user of this name, and this write may come from a slow process.
        const isOthers = this.#known.get(secret)?.uid !== uid;
        if (isOthers && (await this.#parts.currentUid(name)) !== uid) throw new PasswordReplacedError();
        return (await this.#parts.records.update(secret, data, stored.version)) === 'updated';
      });
    } catch (error) {
      if (error instanceof PasswordReplacedError) throw error;
      await this.#parts.records.refresh(this.#nameOf(name)).catch(() => {});
      if (this.hashOf(owner) !== hash) throw error;
    }
  }

  /**
   * Removes the user's Secret, even an unreadable one, but not the Secret of another user of this name. If memory has none, it
   * reads from the cluster first, because the Secret may have been written a moment ago.
   */
  async remove({ name, uid }: PasswordOwner): Promise<void> {
    const { records } = this.#parts;
    const expected = this.#nameOf(name);
    if (!records.get(expected)) await records.refresh(expected);
    return await this.#swap(name, async (secret, stored) => {
      const owner = this.#known.get(secret);
      if (!stored || (owner && owner.uid !== uid)) return true;
      return (await this.#parts.records.remove(secret, stored.version)) === 'removed';
    });
  }

  /** Writes on top of the state in memory. If that is out of date, the write fails and is repeated on top of the stored Secret. */
  async #swap(
    user: string,
    write: (secret: string, stored: StoredSecret | undefined) => Promise<boolean>,
  ): Promise<void> {
    const { records, clock, random } = this.#parts;
    const secret = this.#nameOf(user);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (attempt > 0) {
        const pauseMs = Math.floor(random.fraction() * attempt * PAUSE_STEP_MS);
        if (pauseMs > 0) await clock.sleep(pauseMs);
        await records.refresh(secret);
      }
      if (await write(secret, records.get(secret))) return;
    }
    throw new Error(`a password was changed by others ${MOST_ATTEMPTS} times in a row`);
  }

  #take(secret: string): void {
    const before = this.#known.get(secret);
    const stored = this.#parts.records.get(secret);
    const now = stored && this.#read(secret, stored);
    if (!stored) this.#unreadable.delete(secret);
    if (now) this.#known.set(secret, now);
    else this.#known.delete(secret);
    for (const user of new Set([before?.user, now?.user]))
      if (user !== undefined) for (const changed of this.#listeners) changed(user);
  }

  /** Logs once that a Secret cannot be read, without its content. */
  #read(secret: string, { data }: StoredSecret): Stored | undefined {
    const stored = decode(data);
    if (stored && this.#nameOf(stored.user) === secret) {
      this.#unreadable.delete(secret);
      return stored;
    }
    if (this.#unreadable.has(secret)) return undefined;
    this.#unreadable.add(secret);
    const reason = stored ? 'it is not named after its user' : 'it is no password of a format that is known here';
    this.#parts.events.report('password_record_unreadable', { secret, reason });
    this.#parts.logger.error({ secret, reason }, 'the password of a user cannot be read: it lets nobody in');
    return undefined;
  }

  #nameOf = (user: string): string => passwordSecretName(this.#options.namePrefix, user);
}

/** The data of a password Secret. */
export const encodePassword = ({ user, uid, hash }: Stored): Readonly<Record<string, Buffer>> => ({
  user: Buffer.from(user),
  uid: Buffer.from(uid),
  hash: Buffer.from(hash),
  format: Buffer.from(FORMAT),
});

function decode(data: Readonly<Record<string, Buffer>>): Stored | undefined {
  const [user = '', uid = '', hash = '', format] = ['user', 'uid', 'hash', 'format'].map((key) =>
    data[key]?.toString(),
  );
  return user !== '' && uid !== '' && hash !== '' && format === FORMAT ? { user, uid, hash } : undefined;
}
