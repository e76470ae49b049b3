import type { KubernetesObject } from '../kubernetes/object.ts';
import { compareResourceVersions } from '../kubernetes/resource-version.ts';
import type { ReflectedStore, Replacement } from '../kubernetes/store.ts';
import { ChangeLog } from './change-log.ts';
import { type CollectionState, CollectionVersion, later, NOTHING } from './collection-version.ts';
import type { UsageKeys } from './encode-node.ts';
import { type NodeChange, sharingTexts } from './node-change.ts';
import { type NodeEntry, toNodeEntry } from './node-entry.ts';
import { NodeSnapshot } from './node-snapshot.ts';
import { NODE_ORDERS, OrderedIndex } from './ordered-index.ts';
import { usageKeys, usageMembers } from './usage-annotations.ts';
import type { UsageLedger } from './usage-ledger.ts';
import type { ListState } from './watch-version.ts';

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
  /** How far the nodes are that the cluster told us of. */
  readonly progress = new CollectionVersion();
  /** The pods whose usage is in the nodes. */
  #pods: CollectionState = NOTHING;
  /** When the sums of each node changed last, as the cluster counts changes of pods. */
  readonly #usedAt = new Map<string, string>();
  #version = 0;
  #snapshot: NodeSnapshot | undefined;

  /** `ledger` is where usage comes from; without one every sum is zero. */
  constructor(options: NodeStoreOptions, ledger?: UsageLedger) {
    this.platform = options.platform;
    this.#ledger = options.usage ? ledger : undefined;
    this.progress.countIn(() => this.#nodes.values());
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
    const replaced = this.#nodes.get(entry.key)?.resourceVersion;
    this.progress.advance(entry.resourceVersion, this.#nodes.size + (replaced === undefined ? 1 : 0), replaced);
    this.#set(this.#withUsage(entry), entry.resourceVersion);
  }

  remove(key: string, resourceVersion: string): void {
    const replaced = this.#nodes.get(key)?.resourceVersion;
    this.progress.advance(resourceVersion, this.#nodes.size - (replaced === undefined ? 0 : 1), replaced);
    this.#remove(key, resourceVersion);
  }

  /** Nodes that a relist shows unchanged keep their leaves, with what is cached of them, and are no news to anybody. */
  replace(entries: readonly NodeEntry[], { sameHistory, resourceVersion }: Replacement): void {
    const names = new Set(entries.map((entry) => entry.key));
    const newest = entries.reduce((so, entry) => later(so, entry.resourceVersion), NOTHING.newest);
    const news = entries.filter((entry) => !this.#isKnown(entry, sameHistory));
    const isTrusted = this.progress.trusts(sameHistory);
    this.progress.listed({ resourceVersion, sameHistory, newest, count: entries.length });
    for (const name of [...this.#nodes.keys()]) if (!names.has(name)) this.#remove(name, resourceVersion);
    const changedAt = (entry: NodeEntry): string => (isTrusted ? entry.resourceVersion : resourceVersion);
    // Where most leaves would be spoilt one node at a time, all are made anew at once.
    if (news.length * 2 <= entries.length)
      for (const entry of news) this.#set(this.#withUsage(entry), changedAt(entry));
    else {
      for (const entry of news) this.#record(this.#withUsage(entry), changedAt(entry));
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

  /** What the list shows now, in versions that every replica understands. */
  get state(): ListState {
    return { nodes: this.progress.state, pods: this.#pods };
  }

  /** How new a node may be: its usage is as new as the ledger when it is written. */
  get seen(): ListState {
    return { nodes: this.progress.state, pods: this.#ledger?.pods.state ?? NOTHING };
  }

  /** Whether all that was seen there is here. */
  hasSeen({ nodes, pods }: ListState): boolean {
    return this.progress.has(nodes) && (pods.newest === NOTHING.newest || (this.#ledger?.pods.has(pods) ?? false));
  }

  /** Whether all that happened to the list after this state is known. */
  knowsAfter({ nodes, pods }: ListState): boolean {
    const knowsPods = this.#ledger ? this.#ledger.pods.knowsAfter(pods) : pods.newest === NOTHING.newest;
    return knowsPods && this.progress.knowsAfter(nodes) && this.changes.knowsAfter(nodes.newest);
  }

  /** The newest changes of all nodes that changed after this state, or whose sums did; to be asked when it knows. */
  changedAfter({ nodes, pods }: ListState): readonly NodeChange[] {
    const isLater = (version: string | undefined, than: string): boolean =>
      version !== undefined && compareResourceVersions(version, than) > 0;
    return [...this.changes.since(0)].filter(
      ({ name, changedAt }) => isLater(changedAt, nodes.newest) || isLater(this.#usedAt.get(name), pods.newest),
    );
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
    if (!this.#ledger) return;
    this.#pods = this.#ledger.pods.state;
    for (const [name, version] of this.#ledger.takeChanged()) {
      const entry = this.#nodes.get(name);
      if (!entry) continue;
      this.#usedAt.set(name, version);
      const updated = this.#withUsage(entry);
      if (updated !== entry) this.#set(updated, undefined);
    }
  }

  #withUsage(entry: NodeEntry): NodeEntry {
    if (!this.#usageKeys) return entry;
    const members = usageMembers(this.platform, this.#ledger?.of(entry.key), entry.allocatable);
    return members === entry.encoded.usage ? entry : { ...entry, encoded: entry.encoded.withUsage(members) };
  }

  #remove(key: string, changedAt: string): void {
    const entry = this.#nodes.get(key);
    if (!entry) return;
    this.#nodes.delete(key);
    this.#usedAt.delete(key);
    this.#byCreation.remove(entry);
    this.#byName.remove(entry);
    this.#advance();
    this.changes.remove(entry, { version: this.#version, changedAt, seen: this.seen });
  }

  #set(next: NodeEntry, changedAt: string | undefined): void {
    const { entry, previous } = this.#record(next, changedAt);
    this.#byCreation.put(entry, previous);
    this.#byName.put(entry, previous);
  }

  /** All of a change but the orders; answers what stands there now, and the entry that it replaces. */
  #record(next: NodeEntry, changedAt: string | undefined): { entry: NodeEntry; previous: NodeEntry | undefined } {
    const previous = this.#nodes.get(next.key);
    const entry = previous ? sharingTexts(previous, next) : next;
    this.#nodes.set(entry.key, entry);
    this.#advance();
    const moment = { version: this.#version, seen: this.seen };
    // Its pods may have come before it did.
    if (!previous) this.#usedAt.set(entry.key, moment.seen.pods.newest);
    this.changes.put(entry, previous, changedAt === undefined ? moment : { ...moment, changedAt });
    return { entry, previous };
  }

  #advance(): void {
    this.#version++;
    this.#snapshot = undefined;
  }
}
