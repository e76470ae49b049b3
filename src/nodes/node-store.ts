import type { KubernetesObject } from '../kubernetes/object.ts';
import type { ReflectedStore, Replacement } from '../kubernetes/store.ts';
import { ChangeLog } from './change-log.ts';
import type { UsageKeys } from './encode-node.ts';
import { sharingTexts } from './node-change.ts';
import { type NodeEntry, toNodeEntry } from './node-entry.ts';
import { NodeSnapshot } from './node-snapshot.ts';
import { NODE_ORDERS, OrderedIndex } from './ordered-index.ts';
import { usageKeys, usageMembers } from './usage-annotations.ts';
import type { UsageLedger } from './usage-ledger.ts';

export interface NodeStoreOptions {
  /** DNS label: prefix of the usage annotations. */
  readonly platform: string;
  /** False: nodes are answered without usage annotations. */
  readonly usage: boolean;
}

/**
 * The nodes of the cluster in both orders. Usage is read from the ledger when a snapshot is taken: however many pods came and
 * went since the last one, each node's annotations are written once.
 */
export class NodeStore implements ReflectedStore<NodeEntry> {
  readonly platform: string;
  /** What became of each node last, at which version. */
  readonly changes = new ChangeLog();
  readonly #ledger: UsageLedger | undefined;
  readonly #usageKeys: UsageKeys;
  readonly #byCreation = new OrderedIndex(NODE_ORDERS.creationTimestamp);
  readonly #byName = new OrderedIndex(NODE_ORDERS.name);
  readonly #nodes = new Map<string, NodeEntry>();
  #version = 0;
  #snapshot: NodeSnapshot | undefined;

  /** `ledger` is where usage comes from; without one every sum is zero. */
  constructor(options: NodeStoreOptions, ledger?: UsageLedger) {
    this.platform = options.platform;
    this.#ledger = options.usage ? ledger : undefined;
    this.#usageKeys = options.usage ? usageKeys(options.platform) : undefined;
  }

  get size(): number {
    return this.#nodes.size;
  }

  toEntry(node: KubernetesObject): NodeEntry {
    return toNodeEntry(node, this.#usageKeys);
  }

  get(key: string): NodeEntry | undefined {
    return this.#nodes.get(key);
  }

  put(entry: NodeEntry): void {
    this.#set(this.#withUsage(entry));
  }

  remove(key: string): void {
    const entry = this.#nodes.get(key);
    if (!entry) return;
    this.#nodes.delete(key);
    this.#byCreation.remove(entry);
    this.#byName.remove(entry);
    this.#advance();
    this.changes.remove(entry, this.#version);
  }

  /** Nodes that a relist shows unchanged keep their leaves, with what is cached of them, and are no news to anybody. */
  replace(
    entries: readonly NodeEntry[],
    { sameHistory }: Pick<Replacement, 'sameHistory'> = { sameHistory: false },
  ): void {
    const names = new Set(entries.map((entry) => entry.key));
    for (const name of [...this.#nodes.keys()]) if (!names.has(name)) this.remove(name);
    const news = entries.filter((entry) => !this.#isKnown(entry, sameHistory));
    // Where most leaves would be spoilt one node at a time, all are made anew at once.
    if (news.length * 2 <= entries.length) for (const entry of news) this.put(entry);
    else {
      for (const entry of news) this.#record(this.#withUsage(entry));
      const all = [...this.#nodes.values()];
      this.#byCreation.fill(all);
      this.#byName.fill(all);
    }
  }

  entries(): Iterable<NodeEntry> {
    return this.#nodes.values();
  }

  /** All nodes as they are now, usage included. The same object while nothing changes. */
  snapshot(): NodeSnapshot {
    this.#applyChangedUsage();
    this.#snapshot ??= new NodeSnapshot(this.#version, {
      byCreation: this.#byCreation.leaves,
      byName: this.#byName.leaves,
    });
    return this.#snapshot;
  }

  /** Grows with every change; a snapshot taken now may be later by the usage that it applies. */
  get version(): number {
    return this.#version;
  }

  /** For `gatehouse_cache_bytes`. */
  heldBytes(): number {
    return this.#byCreation.leaves.reduce((sum, leaf) => sum + leaf.heldBytes, 0);
  }

  /** A new version of the same nodes: answers of the old one are composed anew. */
  renew(): void {
    this.#advance();
  }

  #isKnown(entry: NodeEntry, sameHistory: boolean): boolean {
    const known = this.#nodes.get(entry.key);
    if (known?.uid !== entry.uid || known.resourceVersion !== entry.resourceVersion) return false;
    return sameHistory || this.#isSameText(known, entry);
  }

  /** In another history equal numbers prove nothing. */
  #isSameText(known: NodeEntry, entry: NodeEntry): boolean {
    return Buffer.compare(known.encoded.bytes(), this.#withUsage(entry).encoded.bytes()) === 0;
  }

  #applyChangedUsage(): void {
    for (const name of this.#ledger?.takeChanged() ?? []) {
      const entry = this.#nodes.get(name);
      if (!entry) continue;
      const updated = this.#withUsage(entry);
      if (updated !== entry) this.#set(updated);
    }
  }

  #withUsage(entry: NodeEntry): NodeEntry {
    if (!this.#usageKeys) return entry;
    const members = usageMembers(this.platform, this.#ledger?.of(entry.key), entry.allocatable);
    return members === entry.encoded.usage ? entry : { ...entry, encoded: entry.encoded.withUsage(members) };
  }

  #set(next: NodeEntry): void {
    const { entry, previous } = this.#record(next);
    this.#byCreation.put(entry, previous);
    this.#byName.put(entry, previous);
  }

  /** All of a change but the orders; answers the entry that it replaces, and what stands in its place. */
  #record(next: NodeEntry): { readonly entry: NodeEntry; readonly previous: NodeEntry | undefined } {
    const previous = this.#nodes.get(next.key);
    const entry = previous ? sharingTexts(previous, next) : next;
    this.#nodes.set(entry.key, entry);
    this.#advance();
    this.changes.put(entry, previous, this.#version);
    return { entry, previous };
  }

  #advance(): void {
    this.#version++;
    this.#snapshot = undefined;
  }
}
