import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ReflectedStore, Replacement } from '../../kubernetes/reflector/store.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { weightOf } from './held-kind.ts';

interface FirstListWatch {
  /** Whether the kind may have this many bytes. Called about once a MiB, and when all are there. */
  fits(bytes: number): boolean;
  /** Called once, when the first list has more than fits. */
  tooLarge(): void;
  /** Called once, when readers may see the kind. */
  listed(): void;
}

/** Between two questions whether the kind still fits. */
const STRETCH_BYTES = 2 ** 20;

/** Passes everything on to the store, and weighs the objects of the first list while they come, before they are all in memory. */
export class WeighedStore implements ReflectedStore<Entry> {
  readonly #store: ReflectedStore<Entry>;
  readonly #watch: FirstListWatch;
  /** By key, because a list that breaks begins again. Empty when the first list is shown. */
  readonly #weights = new Map<string, number>();
  #weight = 0;
  /** The weight up to which `fits` need not be asked again. Infinity: it said no. */
  #room = 0;
  #isListed = false;

  constructor(store: ReflectedStore<Entry>, watch: FirstListWatch) {
    this.#store = store;
    this.#watch = watch;
  }

  get size(): number {
    return this.#store.size;
  }

  toEntry(object: KubernetesObject): Entry {
    const entry = this.#store.toEntry(object);
    if (this.#isListed) return entry;
    const weight = weightOf(entry.encoded.length);
    this.#weight += weight - (this.#weights.get(entry.key) ?? 0);
    this.#weights.set(entry.key, weight);
    if (this.#weight > this.#room) this.#askForRoom();
    return entry;
  }

  /** The bytes of the objects that have come and are not shown yet. */
  get arriving(): number {
    return this.#weight;
  }

  #askForRoom(): void {
    if (this.#room === Number.POSITIVE_INFINITY) return;
    this.#room = this.#weight + STRETCH_BYTES;
    if (this.#watch.fits(this.#weight)) return;
    this.#room = Number.POSITIVE_INFINITY;
    this.#watch.tooLarge();
  }

  get(key: string): Entry | undefined {
    return this.#store.get(key);
  }

  put(entry: Entry): void {
    this.#store.put(entry);
  }

  remove(key: string, resourceVersion: string): void {
    this.#store.remove(key, resourceVersion);
  }

  *prepare(entries: readonly Entry[], replacement: Replacement): Steps<() => void> {
    const show = yield* this.#store.prepare(entries, replacement);
    return () => {
      if (!this.#isListed && this.#weight > 0) this.#askForRoom();
      show();
      if (this.#isListed) return;
      this.#isListed = true;
      this.#weight = 0;
      this.#weights.clear();
    };
  }

  readable(): void {
    this.#watch.listed();
  }

  bytesOf({ encoded }: Entry): number {
    return weightOf(encoded.length);
  }

  entries(): readonly Entry[] {
    return this.#store.entries();
  }
}
