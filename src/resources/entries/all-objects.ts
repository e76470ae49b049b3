import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ReflectedStore, Replacement } from '../../kubernetes/reflector/store.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { Entry } from './entry.ts';
import type { ResourceStore } from './store.ts';

/**
 * All objects of a kind whose list shows only some of them. The reflector writes to this store, which passes the shown
 * objects on to the store of the list and keeps the others. It calls listeners for every change. For kinds without a watch.
 */
export class AllObjects implements ReflectedStore<Entry> {
  readonly #listed: ResourceStore;
  readonly #isListed: (entry: Entry) => boolean;
  #others: Map<string, Entry> = new Map();
  readonly #listeners: ((key: string) => void)[] = [];

  /** `isListed` must always return the same for the same entry. */
  constructor(listed: ResourceStore, isListed: (entry: Entry) => boolean) {
    this.#listed = listed;
    this.#isListed = isListed;
  }

  /**
   * Calls `changed` with the key of each object that was added, changed or removed; `get` already returns the new state.
   * A new list causes a call for each key that differs, or for every key if equal versions prove nothing (`sameHistory`).
   */
  onChange(changed: (key: string) => void): void {
    this.#listeners.push(changed);
  }

  get size(): number {
    return this.#listed.size + this.#others.size;
  }

  toEntry(object: KubernetesObject): Entry {
    return this.#listed.toEntry(object);
  }

  get(key: string): Entry | undefined {
    return this.#listed.get(key) ?? this.#others.get(key);
  }

  put(entry: Entry): void {
    const { key } = entry;
    if (this.#isListed(entry)) {
      this.#others.delete(key);
      this.#listed.put(entry);
    } else {
      if (this.#listed.get(key)) this.#listed.remove(key, entry.resourceVersion);
      this.#others.set(key, entry);
    }
    this.#notify(key);
  }

  remove(key: string, resourceVersion: string): void {
    if (!this.#others.delete(key)) this.#listed.remove(key, resourceVersion);
    this.#notify(key);
  }

  *prepare(entries: readonly Entry[], replacement: Replacement): Steps<() => void> {
    const [listed, others] = [[] as Entry[], new Map<string, Entry>()];
    const [keys, changed] = [new Set<string>(), [] as string[]];
    for (const entry of entries) {
      keys.add(entry.key);
      if (this.#isListed(entry)) listed.push(entry);
      else others.set(entry.key, entry);
      const known = this.get(entry.key);
      const isKnown = known?.uid === entry.uid && known.resourceVersion === entry.resourceVersion;
      if (!isKnown || !replacement.sameHistory) changed.push(entry.key);
      yield;
    }
    for (const { key } of this.entries()) {
      if (!keys.has(key)) changed.push(key);
      yield;
    }
    const show = yield* this.#listed.prepare(listed, replacement);
    return () => {
      show();
      this.#others = others;
      for (const key of changed) this.#notify(key);
    };
  }

  entries(): readonly Entry[] {
    return [...this.#listed.entries(), ...this.#others.values()];
  }

  #notify(key: string): void {
    for (const changed of this.#listeners) changed(key);
  }
}
