import type { AgingCopy } from '../../data-age.ts';

/** Names one User object: a later user of the same name has another uid. */
export interface PasswordOwner {
  readonly name: string;
  readonly uid: string;
}

/** The password hashes of User objects. Reads are from memory; every failure to reach the cluster is a rejected promise. */
export interface PasswordStore {
  /** The bcrypt hash that belongs to this very object, and to no earlier user of its name. */
  hashOf(owner: PasswordOwner): string | undefined;
  /**
   * Stores the hash. `hashOf` returns it at once here, and within seconds on the other replicas. With `instead`, it replaces only
   * that hash, and rejects with `PasswordReplacedError` if another one is stored by now.
   */
  set(owner: PasswordOwner, hash: string, instead?: string): Promise<void>;
  remove(owner: PasswordOwner): Promise<void>;
  /** Calls `changed` with the name of each user whose hash may have changed. */
  onChange(changed: (name: string) => void): void;
  /** Why hashes are not known yet; `undefined` once they are. */
  fault(): string | undefined;
  /** When the hashes were last proved current. */
  readonly copies: readonly AgingCopy[];
}

/** Somebody else has changed the password meanwhile. */
export class PasswordReplacedError extends Error {
  constructor() {
    super('the password was changed meanwhile');
    this.name = 'PasswordReplacedError';
  }
}
