import type { KubernetesObject } from '../../kubernetes/object.ts';
import { KeyTable } from '../../kubernetes/reflector/key-table.ts';
import type { ReflectedStore, Replacement, StoredEntry } from '../../kubernetes/reflector/store.ts';
import { later, NOTHING } from '../../resources/entries/collection-version.ts';
import { identified } from '../../resources/entries/entry.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { type PodUsage, toPodUsage } from './pod-usage.ts';
import { parseQuantity } from './quantity.ts';
import type { UsageLedger } from './usage-ledger.ts';

/** What the store keeps of a pod. */
export interface PodEntry extends StoredEntry {
  /** Empty if the pod is not scheduled or is finished, and so counts for no node. */
  readonly node: string;
  /** All pods with the same amounts share it. */
  readonly usage: PodUsage;
  /** The number of the last list that had this pod. Only the store uses it. */
  list: number;
}

/** Makes the API server leave out unscheduled and finished pods, which do not count for a node's usage. */
export const podFieldSelector = (): string => 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';

const FINISHED: readonly unknown[] = ['Succeeded', 'Failed'];

/** The node for whose usage the pod counts. Empty for the pods that `podFieldSelector` leaves out. */
export function countedNode({ spec, status }: KubernetesObject): string {
  const { nodeName } = asObject(spec);
  const isScheduled = typeof nodeName === 'string';
  return isScheduled && !FINISHED.includes(asObject(status)['phase']) ? nodeName : '';
}

const NO_USAGE: PodUsage = [];

/**
 * How many quantities, node names and sets of amounts the store remembers, so that equal ones are in memory once.
 * 450,000 pods share some hundreds of amounts and 15,000 names.
 */
const MOST_REMEMBERED = 20_000;

/** How many pods of a new list one step compares with the table, at most some 10 µs each. */
const STEP = 32;

/** A list with at most this many changes is written into the table in one step: 5 ms. With more, it gets a new table. */
const MOST_CHANGED_IN_PLACE = 10_000;

/** The pods of the cluster, reduced to what they add to their nodes. Every change goes into the ledger at once. */
export class PodStore implements ReflectedStore<PodEntry> {
  readonly #ledger: UsageLedger;
  readonly #readQuantity = boundedMemo(MOST_REMEMBERED, (value: unknown) => parseQuantity(value) ?? null);
  readonly #sharedName = boundedMemo(MOST_REMEMBERED, (name: string) => name);
  readonly #sharedUsage = new Map<string, PodUsage>();
  #pods = new KeyTable<PodEntry>();
  /** The number of lists so far. */
  #list = 0;

  constructor(ledger: UsageLedger) {
    this.#ledger = ledger;
    ledger.pods.countIn(() => this.#pods.values());
  }

  get size(): number {
    return this.#pods.size;
  }

  toEntry(pod: KubernetesObject): PodEntry {
    const { name, namespace, uid, resourceVersion } = identified(pod.metadata);
    const { spec, status } = pod;
    const nodeName = countedNode(pod);
    const counts = nodeName !== '';
    return {
      key: namespace === undefined ? name : `${namespace}/${name}`,
      uid,
      resourceVersion: ownCopy(resourceVersion),
      node: counts ? this.#sharedName(nodeName) : '',
      usage: counts ? this.#share(toPodUsage({ spec, status }, (value) => this.#read(value))) : NO_USAGE,
      list: 0,
    };
  }

  get(key: string): PodEntry | undefined {
    return this.#pods.get(key);
  }

  put(entry: PodEntry): void {
    const previous = this.#pods.get(entry.key);
    book(this.#ledger, previous, entry, entry.resourceVersion);
    this.#pods.set(entry);
    this.#ledger.pods.advance(entry.resourceVersion, this.#pods.size, previous?.resourceVersion);
  }

  remove(key: string, resourceVersion: string): void {
    const previous = this.#pods.get(key);
    book(this.#ledger, previous, undefined, resourceVersion);
    this.#pods.delete(key);
    this.#ledger.pods.advance(resourceVersion, this.#pods.size, previous?.resourceVersion);
  }

  /**
   * Books the differences in a draft, so that sums and pods are replaced together. Entries that did not change stay, so
   * a long list with few changes leaves little garbage.
   */
  *prepare(entries: readonly PodEntry[], { resourceVersion, sameHistory }: Replacement): Steps<() => void> {
    const draft = this.#ledger.draft();
    const isTrusted = this.#ledger.pods.trusts(sameHistory);
    let { newest } = NOTHING;
    const changed = new KeyTable<PodEntry>();
    this.#list++;
    for (const [at, entry] of entries.entries()) {
      const known = this.#pods.get(entry.key);
      if (known) known.list = this.#list;
      if (!known || !isSame(known, entry)) {
        book(draft, changed.get(entry.key) ?? known, entry, isTrusted ? entry.resourceVersion : resourceVersion);
        changed.set(entry);
      }
      newest = later(newest, entry.resourceVersion);
      if (at % STEP === 0) yield;
    }
    const gone = yield* this.#unlisted();
    for (const [at, entry] of gone.entries()) {
      book(draft, entry, undefined, resourceVersion);
      if (at % STEP === 0) yield;
    }
    const next = changed.size + gone.length > MOST_CHANGED_IN_PLACE ? yield* this.#listedWith(changed) : undefined;
    return () => {
      if (next) this.#pods = next;
      else this.#change(changed.values(), gone);
      this.#ledger.take(draft);
      this.#ledger.pods.listed({ resourceVersion, sameHistory, newest, count: this.#pods.size });
    };
  }

  /** The pods of the table that the new list does not have. */
  *#unlisted(): Steps<PodEntry[]> {
    const gone: PodEntry[] = [];
    let looked = 0;
    for (const part of this.#pods.parts()) {
      for (const entry of part) {
        if (entry.list !== this.#list) gone.push(entry);
        if (++looked % STEP === 0) yield;
      }
    }
    return gone;
  }

  #change(changed: readonly PodEntry[], gone: readonly PodEntry[]): void {
    for (const entry of changed) this.#pods.set(entry);
    for (const { key } of gone) this.#pods.delete(key);
  }

  /** A new table with the pods of the new list. */
  *#listedWith(changed: KeyTable<PodEntry>): Steps<KeyTable<PodEntry>> {
    const next = new KeyTable<PodEntry>();
    let looked = 0;
    for (const part of this.#pods.parts()) {
      for (const entry of part) {
        if (entry.list === this.#list) next.set(entry);
        if (++looked % STEP === 0) yield;
      }
    }
    for (const entry of changed.values()) {
      next.set(entry);
      if (++looked % STEP === 0) yield;
    }
    return next;
  }

  entries(): readonly PodEntry[] {
    return this.#pods.values();
  }

  #read(value: unknown): ReturnType<typeof parseQuantity> {
    return value === undefined ? undefined : (this.#readQuantity(value) ?? undefined);
  }

  #share(usage: PodUsage): PodUsage {
    const key = usage.map(({ nano, formats }) => `${nano}:${formats}`).join();
    const shared = this.#sharedUsage.get(key);
    if (shared) return shared;
    if (this.#sharedUsage.size >= MOST_REMEMBERED) this.#sharedUsage.clear();
    this.#sharedUsage.set(key, usage);
    return usage;
  }
}

/**
 * Returns a copy that is not in V8's table of unique strings, which slows the garbage collector down (see `KeyTable`).
 * The JSON parser puts texts of fewer than ten characters there. V8 copies a slice if it has at most 12 characters.
 */
const ownCopy = (text: string): string => (text.length > 12 ? text : ` ${text}`.slice(1));

const isSame = (a: PodEntry, b: PodEntry): boolean =>
  a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.node === b.node && a.usage === b.usage;

/** Books the difference between two states of a pod. Most changes concern only a pod's status and change no sum. */
function book(
  sums: Pick<UsageLedger, 'add' | 'subtract'>,
  previous: PodEntry | undefined,
  next: PodEntry | undefined,
  version: string,
): void {
  if (previous?.node === next?.node && previous?.usage === next?.usage) return;
  if (previous && previous.node !== '') sums.subtract(previous.node, previous.usage, version);
  if (next && next.node !== '') sums.add(next.node, next.usage, version);
}

/**
 * Remembers what `make` returned for each key. When it is full, it forgets everything, because it would cost more to track
 * which key was used last.
 */
export function boundedMemo<Key, Value>(limit: number, make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    const value = known.get(key);
    if (value !== undefined) return value;
    if (known.size >= limit) known.clear();
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
