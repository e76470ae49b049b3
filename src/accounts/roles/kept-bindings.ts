import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ReflectedStore, Replacement, StoredEntry } from '../../kubernetes/reflector/store.ts';
import { identified } from '../../resources/entries/entry.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { type AccountNames, userRef } from '../names.ts';
import type { KeptBinding } from './platform-roles.ts';
import { bindingName, boundRole, boundUser } from './role-binding.ts';

/** A ClusterRoleBinding with the label of a user. */
export interface BindingEntry extends StoredEntry, KeptBinding {
  /** The user who gets a platform role by this binding; `undefined` if the binding is not in the form that Gatehouse writes. */
  readonly user: string | undefined;
}

type ByUser = Map<string, readonly BindingEntry[]>;

const NONE: readonly BindingEntry[] = [];

/** A mirror of the ClusterRoleBindings that give users their platform roles, read from all bindings with a user's label. */
export class KeptBindings implements ReflectedStore<BindingEntry> {
  readonly #names: AccountNames;
  readonly #listeners: ((user: string) => void)[] = [];
  #entries: Map<string, BindingEntry> = new Map();
  /** The bindings, keyed by user; those of one user are sorted by name. */
  #kept: ByUser = new Map();

  constructor(names: AccountNames) {
    this.#names = names;
  }

  /** The bindings of a user, sorted by name. */
  of(user: string): readonly BindingEntry[] {
    return this.#kept.get(user) ?? NONE;
  }

  /** The role of the first binding by name. */
  roleOf(user: string): string | undefined {
    return this.of(user)[0]?.role;
  }

  /** How many users have more than one kept binding. */
  conflicts(): number {
    let count = 0;
    for (const bindings of this.#kept.values()) if (bindings.length > 1) count++;
    return count;
  }

  /** Calls `changed` with the name of each user whose bindings changed, after `of` shows the change. */
  onChange(changed: (user: string) => void): void {
    this.#listeners.push(changed);
  }

  get size(): number {
    return this.#entries.size;
  }

  toEntry(object: KubernetesObject): BindingEntry {
    const { name, uid, resourceVersion, labels } = identified(object.metadata);
    const role = boundRole(object);
    const user = boundUser(object);
    const isKept =
      role !== undefined &&
      user !== undefined &&
      name === bindingName(user, role) &&
      labels?.[this.#names.userRef] === userRef(user);
    return { key: name, name, uid, resourceVersion, role: role ?? '', user: isKept ? user : undefined };
  }

  get(key: string): BindingEntry | undefined {
    return this.#entries.get(key);
  }

  put(entry: BindingEntry): void {
    const previous = this.#entries.get(entry.key);
    this.#entries.set(entry.key, entry);
    if (previous) forget(this.#kept, previous);
    keep(this.#kept, entry);
    this.#tell(new Set([previous?.user, entry.user]));
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    forget(this.#kept, entry);
    this.#tell([entry.user]);
  }

  *prepare(entries: readonly BindingEntry[], { sameHistory }: Replacement): Steps<() => void> {
    const [all, kept] = [new Map<string, BindingEntry>(), new Map() as ByUser];
    const changed = new Set<string | undefined>();
    for (const entry of entries) {
      all.set(entry.key, entry);
      keep(kept, entry);
      const known = this.#entries.get(entry.key);
      const isKnown = known?.uid === entry.uid && known.resourceVersion === entry.resourceVersion && sameHistory;
      if (!isKnown) changed.add(known?.user).add(entry.user);
      yield;
    }
    for (const { key, user } of this.#entries.values()) {
      if (!all.has(key)) changed.add(user);
      yield;
    }
    return () => {
      this.#entries = all;
      this.#kept = kept;
      this.#tell(changed);
    };
  }

  entries(): readonly BindingEntry[] {
    return [...this.#entries.values()];
  }

  #tell(users: Iterable<string | undefined>): void {
    for (const user of users) {
      if (user !== undefined) for (const changed of this.#listeners) changed(user);
    }
  }
}

function keep(kept: ByUser, entry: BindingEntry): void {
  if (entry.user === undefined) return;
  const others = kept.get(entry.user) ?? NONE;
  kept.set(entry.user, others.length === 0 ? [entry] : [...others, entry].sort((a, b) => (a.name < b.name ? -1 : 1)));
}

function forget(kept: ByUser, { user, name }: BindingEntry): void {
  if (user === undefined) return;
  const others = (kept.get(user) ?? NONE).filter((binding) => binding.name !== name);
  if (others.length === 0) kept.delete(user);
  else kept.set(user, others);
}
