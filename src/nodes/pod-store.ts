import type { KubernetesObject } from '../kubernetes/object.ts';
import type { ReflectedStore, Replacement, StoredEntry } from '../kubernetes/store.ts';
import { boundedMemo } from './bounded-memo.ts';
import { later, NOTHING } from './collection-version.ts';
import { asObject } from './json.ts';
import { identified } from './node-entry.ts';
import { type PodUsage, toPodUsage } from './pod-usage.ts';
import { parseQuantity } from './quantity.ts';
import type { UsageLedger } from './usage-ledger.ts';

/** All that is kept of a pod. */
export interface PodEntry extends StoredEntry {
  /** Empty: not scheduled or finished, so it counts nowhere. */
  readonly node: string;
  /** Shared by all pods of the same amounts. */
  readonly usage: PodUsage;
}

/** Leaves unscheduled and finished pods out on the server: they have no part in a node's usage. */
export const podFieldSelector = (): string => 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';

const FINISHED: readonly unknown[] = ['Succeeded', 'Failed'];
const NO_USAGE: PodUsage = [];

/**
 * Bounds of what is remembered to keep one copy of equal things: texts of quantities, node names and amounts. 150,000 pods of
 * a cluster share some hundreds of amounts and 5,000 names.
 */
const MOST_REMEMBERED = 10_000;

/** The pods of the cluster, reduced to what they add to their nodes. Every change goes into the ledger at once. */
export class PodStore implements ReflectedStore<PodEntry> {
  readonly #ledger: UsageLedger;
  readonly #readQuantity = boundedMemo(MOST_REMEMBERED, (value: unknown) => parseQuantity(value) ?? null);
  readonly #sharedName = boundedMemo(MOST_REMEMBERED, (name: string) => name);
  readonly #sharedUsage = new Map<string, PodUsage>();
  #pods = new Map<string, PodEntry>();

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
    const nodeName = asObject(spec)['nodeName'];
    const isFinished = FINISHED.includes(asObject(status)['phase']);
    const counts = typeof nodeName === 'string' && nodeName !== '' && !isFinished;
    return {
      key: namespace === undefined ? name : `${namespace}/${name}`,
      uid,
      resourceVersion,
      node: counts ? this.#sharedName(nodeName) : '',
      usage: counts ? this.#share(toPodUsage({ spec, status }, (value) => this.#read(value))) : NO_USAGE,
    };
  }

  get(key: string): PodEntry | undefined {
    return this.#pods.get(key);
  }

  put(entry: PodEntry): void {
    const previous = this.#pods.get(entry.key);
    this.#book(previous, entry, entry.resourceVersion);
    this.#pods.set(entry.key, entry);
    this.#ledger.pods.advance(entry.resourceVersion, this.#pods.size, previous?.resourceVersion);
  }

  remove(key: string, resourceVersion: string): void {
    const previous = this.#pods.get(key);
    this.#book(previous, undefined, resourceVersion);
    this.#pods.delete(key);
    this.#ledger.pods.advance(resourceVersion, this.#pods.size, previous?.resourceVersion);
  }

  replace(entries: readonly PodEntry[], { resourceVersion, sameHistory }: Replacement): void {
    const previous = this.#pods;
    this.#pods = new Map();
    let { newest } = NOTHING;
    for (const entry of entries) {
      this.#pods.set(entry.key, entry);
      newest = later(newest, entry.resourceVersion);
    }
    for (const [key, entry] of previous) if (!this.#pods.has(key)) this.#book(entry, undefined, resourceVersion);
    const isTrusted = this.#ledger.pods.trusts(sameHistory);
    for (const [key, entry] of this.#pods) {
      this.#book(previous.get(key), entry, isTrusted ? entry.resourceVersion : resourceVersion);
    }
    this.#ledger.pods.listed({ resourceVersion, sameHistory, newest, count: this.#pods.size });
  }

  entries(): Iterable<PodEntry> {
    return this.#pods.values();
  }

  /** Most changes of a pod are of its status: they leave the sums, and with them the lists, as they are. */
  #book(previous: PodEntry | undefined, next: PodEntry | undefined, version: string): void {
    if (previous?.node === next?.node && previous?.usage === next?.usage) return;
    if (previous && previous.node !== '') this.#ledger.subtract(previous.node, previous.usage, version);
    if (next && next.node !== '') this.#ledger.add(next.node, next.usage, version);
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
