import type { Entry } from './entry.ts';

/** The entries of a namespaced kind by their namespace. Empty for a cluster-scoped kind. */
export class NamespaceIndex {
  readonly #members: Map<string, Set<Entry>>;

  constructor(of?: NamespaceIndex) {
    this.#members = new Map(of ? [...of.#members].map(([name, members]) => [name, new Set(members)]) : []);
  }

  /** `previous` is the entry with the same key that it replaces. */
  put(entry: Entry, previous: Entry | undefined): void {
    if (entry.namespace === '') return;
    const members = this.#members.get(entry.namespace) ?? new Set();
    if (members.size === 0) this.#members.set(entry.namespace, members);
    if (previous) members.delete(previous);
    members.add(entry);
  }

  remove(entry: Entry): void {
    const members = this.#members.get(entry.namespace);
    members?.delete(entry);
    if (members?.size === 0) this.#members.delete(entry.namespace);
  }

  /** How many entries these namespaces have. */
  count(names: ReadonlySet<string>): number {
    let count = 0;
    for (const members of this.#among(names)) count += members.size;
    return count;
  }

  /** The entries of these namespaces, in no order. */
  in(names: ReadonlySet<string>): Entry[] {
    const entries: Entry[] = [];
    for (const members of this.#among(names)) for (const entry of members) entries.push(entry);
    return entries;
  }

  *#among(names: ReadonlySet<string>): Generator<ReadonlySet<Entry>> {
    if (names.size > this.#members.size) {
      for (const [name, members] of this.#members) if (names.has(name)) yield members;
      return;
    }
    for (const name of names) {
      const members = this.#members.get(name);
      if (members) yield members;
    }
  }
}
