import { accountNames } from '../../../src/accounts/names.ts';
import { toUserRecord, type UserRecord, type UserRecords } from '../../../src/accounts/users/user-record.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { ALWAYS_CURRENT } from '../always-current.ts';

export const NAMES = accountNames('gatehouse');

/** The record of a User object in the cluster; `change` replaces members of the record. */
export const userRecord = (name: string, change: Partial<UserRecord> = {}): UserRecord => ({
  ...toUserRecord({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' } }, NAMES),
  state: 'Active',
  ...change,
});

/** User objects in memory. */
export class MemoryUserRecords implements UserRecords {
  readonly #users = new Map<string, UserRecord>();
  readonly #listeners: ((name: string) => void)[] = [];
  isSynced = true;

  constructor(users: readonly UserRecord[] = []) {
    for (const user of users) this.#users.set(user.name, user);
  }

  get = (name: string): UserRecord | undefined => this.#users.get(name);
  all = (): Iterable<UserRecord> => this.#users.values();
  onChange = (changed: (name: string) => void): void => void this.#listeners.push(changed);
  hasSynced = (): boolean => this.isSynced;
  readonly proof = ALWAYS_CURRENT;

  put(user: UserRecord): void {
    this.#users.set(user.name, user);
    this.#tell(user.name);
  }

  /** Stores the record of an object that the watch shows. */
  putObject = (object: KubernetesObject): void => this.put(toUserRecord(object, NAMES));

  delete(name: string): void {
    this.#users.delete(name);
    this.#tell(name);
  }

  #tell(name: string): void {
    for (const changed of this.#listeners) changed(name);
  }
}
