import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import type { ReflectedStore, Replacement, StoredEntry } from '../../src/kubernetes/reflector/store.ts';
import type { Steps } from '../../src/runtime/time-slices.ts';

/** Passes all on to the store under test, notes each write, and freezes what is handed out (I4). */
export class RecordingStore<E extends StoredEntry> implements ReflectedStore<E> {
  readonly #store: ReflectedStore<E>;
  readonly #onReplace: (entries: readonly E[], replacement: Replacement) => void;
  /** `put name uid version` or `remove name`, since they were last taken. */
  #writes: string[] = [];

  constructor(store: ReflectedStore<E>, onReplace: (entries: readonly E[], replacement: Replacement) => void) {
    this.#store = store;
    this.#onReplace = onReplace;
  }

  get size(): number {
    return this.#store.size;
  }

  takeWrites(): string[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  toEntry(object: KubernetesObject): E {
    return Object.freeze(this.#store.toEntry(object));
  }

  get(key: string): E | undefined {
    return this.#store.get(key);
  }

  entries(): readonly E[] {
    return this.#store.entries();
  }

  put(entry: E): void {
    this.#writes.push(`put ${entry.key} ${entry.uid} ${entry.resourceVersion}`);
    this.#store.put(entry);
  }

  remove(key: string, resourceVersion: string): void {
    this.#writes.push(`remove ${key}`);
    this.#store.remove(key, resourceVersion);
  }

  *prepare(entries: readonly E[], replacement: Replacement): Steps<() => void> {
    const show = yield* this.#store.prepare(entries, replacement);
    return () => {
      this.#onReplace(entries, replacement);
      show();
    };
  }
}
