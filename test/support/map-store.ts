import { Waiters } from '../../dev/cluster/waiters.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import type { ReflectedStore, Replacement, StoredEntry } from '../../src/kubernetes/reflector/store.ts';
import type { Steps } from '../../src/runtime/time-slices.ts';

export interface MapEntry extends StoredEntry {
  readonly object: KubernetesObject;
}

/**
 * The simplest store that a reflector can write to. It records every write, and checks the conditions of all waits after each.
 */
export class MapStore implements ReflectedStore<MapEntry> {
  #entries = new Map<string, MapEntry>();
  readonly #waiters = new Waiters();
  replacements = 0;
  /** The arguments of the latest replacement. */
  sameHistory: boolean | undefined;
  puts = 0;
  removals = 0;

  toEntry(object: KubernetesObject): MapEntry {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    if (object['malformed'] === true) throw new Error('malformed on purpose');
    return { key: namespace ? `${namespace}/${name}` : name, uid, resourceVersion, object };
  }

  get = (key: string): MapEntry | undefined => this.#entries.get(key);
  entries = (): readonly MapEntry[] => [...this.#entries.values()];

  get size(): number {
    return this.#entries.size;
  }

  put(entry: MapEntry): void {
    this.puts++;
    this.#entries.set(entry.key, entry);
    this.#waiters.lookAgain();
  }

  remove(key: string): void {
    this.removals++;
    this.#entries.delete(key);
    this.#waiters.lookAgain();
  }

  /** A step for each entry. */
  *prepare(entries: readonly MapEntry[], { sameHistory }: Replacement): Steps<() => void> {
    const replaced = new Map<string, MapEntry>();
    for (const entry of entries) {
      replaced.set(entry.key, entry);
      yield;
    }
    return () => {
      this.sameHistory = sameHistory;
      this.replacements++;
      this.#entries = replaced;
      this.#waiters.lookAgain();
    };
  }

  /** `key@resourceVersion` of all entries, in key order, for the comparison of I1 (docs/chaos.md). */
  versions(): string[] {
    return [...this.#entries.values()].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
  }

  /** Resolves as soon as the condition holds. The condition is checked again at every write. */
  until(condition: () => boolean, signal: AbortSignal = AbortSignal.timeout(60_000)): Promise<void> {
    return this.#waiters.until(condition, signal, () => `the store never held what was waited for: ${this.versions()}`);
  }
}
