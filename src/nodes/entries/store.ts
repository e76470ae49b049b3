import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ReflectedStore, Replacement } from '../../kubernetes/reflector/store.ts';
import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import type { UsageKeys } from '../bytes/encode-object.ts';
import { usageKeys, usageMembers } from '../usage/usage-annotations.ts';
import type { UsageLedger } from '../usage/usage-ledger.ts';
import { sharingTexts } from './change.ts';
import { ChangeLog, type ChangeOrigin, type PreparedChange } from './change-log.ts';
import { NodeContent } from './content.ts';
import { type NodeEntry, toNodeEntry } from './entry.ts';
import { draftOf, type ListDraft } from './list-draft.ts';
import { ListProgress, type TakenUsage } from './list-progress.ts';
import { NodeSnapshot } from './snapshot.ts';

export interface NodeStoreOptions {
  /** DNS label: prefix of the usage annotations. */
  readonly platform: string;
  /** False: nodes are answered without usage annotations. */
  readonly usage: boolean;
  /** Usage of more nodes than these is counted aside. Default: 300. */
  readonly mostCountedAtOnce?: number;
}

/** Nodes whose usage is brought up to date in one step: 3 ms. 5,000 pod events a second change 50 between two looks of a watch. */
const MOST_COUNTED_AT_ONCE = 300;

/** A large change of usage under way: the nodes it is for, and their content with it, which all other changes go into as well. */
type Recount = TakenUsage & { readonly draft: NodeContent };

interface CountedNode {
  readonly entry: NodeEntry;
  readonly change: PreparedChange;
}

/**
 * The nodes of the cluster in both orders. Usage is read from the ledger when a snapshot is taken: however many pods came and
 * went since the last one, each node's annotations are written once.
 */
export class NodeStore implements ReflectedStore<NodeEntry> {
  readonly platform: string;
  /** What became of each node last, at which version. */
  readonly changes = new ChangeLog();
  /** How far the list is. */
  readonly progress: ListProgress;
  /** Runs all long work on the nodes. */
  readonly slices: TimeSlices;
  readonly #ledger: UsageLedger | undefined;
  readonly #usageKeys: UsageKeys;
  readonly #mostCountedAtOnce: number;
  #content = new NodeContent();
  #recount: Recount | undefined;
  #isReplacing = false;
  #version = 0;
  #snapshot: NodeSnapshot | undefined;

  /** `ledger` is where usage comes from; without one every sum is zero. */
  constructor(options: NodeStoreOptions, slices: TimeSlices, ledger?: UsageLedger) {
    this.platform = options.platform;
    this.#mostCountedAtOnce = options.mostCountedAtOnce ?? MOST_COUNTED_AT_ONCE;
    this.slices = slices;
    this.#ledger = options.usage ? ledger : undefined;
    this.progress = new ListProgress(this.changes, this.#ledger);
    this.progress.nodes.countIn(() => this.#content.entries());
    this.#usageKeys = options.usage ? usageKeys(options.platform) : undefined;
  }

  get size(): number {
    return this.#content.size;
  }

  toEntry(node: KubernetesObject): NodeEntry {
    return toNodeEntry(node, this.#usageKeys);
  }

  get(key: string): NodeEntry | undefined {
    return this.#content.get(key);
  }

  put(entry: NodeEntry): void {
    const replaced = this.#content.get(entry.key)?.resourceVersion;
    this.progress.nodes.advance(entry.resourceVersion, this.size + (replaced === undefined ? 1 : 0), replaced);
    const updated = this.#sharing(this.#withUsage(entry));
    this.#recount?.draft.put(updated);
    this.#put(updated, entry.resourceVersion);
  }

  remove(key: string, resourceVersion: string): void {
    const entry = this.#content.get(key);
    this.progress.nodes.advance(resourceVersion, this.size - (entry ? 1 : 0), entry?.resourceVersion);
    if (!entry) return;
    this.#recount?.draft.remove(key);
    this.#content.remove(key);
    this.progress.forget(key);
    const change = this.changes.prepareRemoval(entry, this.#origin(resourceVersion));
    if (change) this.#add(change);
  }

  /**
   * Nodes that a relist shows unchanged keep their leaves, with what is cached of them, and are no news to anybody. Usage that changes
   * meanwhile is counted in afterwards.
   */
  *prepare(entries: readonly NodeEntry[], replacement: Replacement): Steps<() => void> {
    this.#giveRecountUp();
    this.#isReplacing = true;
    try {
      const { changes, progress } = this;
      const finish = (entry: NodeEntry): NodeEntry => this.#sharing(this.#withUsage(entry));
      const draft = yield* draftOf({ entries, replacement }, { content: this.#content, changes, progress, finish });
      return () => this.#showList(draft);
    } finally {
      this.#isReplacing = false;
    }
  }

  entries(): readonly NodeEntry[] {
    return [...this.#content.entries()];
  }

  /** All nodes as they are now, usage included. The same object while nothing changes. */
  snapshot(): NodeSnapshot {
    this.countUsage();
    this.#snapshot ??= new NodeSnapshot(this.#version, {
      byCreation: this.#content.byCreation.leaves,
      byName: this.#content.byName.leaves,
    });
    return this.#snapshot;
  }

  /**
   * Brings changed usage into the nodes: at once where it is little. Of many nodes it is made ready aside, in slices, and shown
   * at once, so that a list has the sums before a large change or those after it.
   */
  countUsage(): void {
    if (!this.#ledger || this.#recount || this.#isReplacing) return;
    const { state: pods } = this.#ledger.pods;
    const names = this.#ledger.takeChanged();
    if (names.size > this.#mostCountedAtOnce) {
      this.#recount = { names, pods, draft: new NodeContent(this.#content) };
      this.progress.countAside(this.#recount);
      void this.slices.run(this.#countAside(this.#recount));
    } else this.#countHere({ names, pods });
  }

  /** Whether nothing but a little changed usage is missing from the nodes. */
  get isCounted(): boolean {
    return !this.#recount && !this.#isReplacing && (this.#ledger?.changedCount ?? 0) <= this.#mostCountedAtOnce;
  }

  /** Grows with every change; a snapshot taken now may be later by the usage that it applies. */
  get version(): number {
    return this.#version;
  }

  /** For `gatehouse_cache_bytes`. */
  heldBytes(): number {
    return this.#content.byCreation.leaves.reduce((sum, leaf) => sum + leaf.heldBytes, 0);
  }

  /** A new version of the same nodes: answers of the old one are composed anew. */
  renew(): void {
    this.#advance();
  }

  #countHere(taken: TakenUsage): void {
    this.progress.counted(taken);
    for (const [name, version] of taken.names) {
      if (!this.#content.get(name)) continue;
      this.progress.used(name, version);
      const updated = this.#recounted(this.#content, name);
      if (updated) this.#put(updated, undefined);
    }
  }

  /** A change that comes meanwhile is in the draft as well, and told already. */
  *#countAside(recount: Recount): Steps<void> {
    const counted: CountedNode[] = [];
    for (const [name, version] of recount.names) {
      const previous = recount.draft.get(name);
      const entry = this.#recounted(recount.draft, name);
      if (entry) {
        recount.draft.put(entry);
        counted.push({ entry, change: this.changes.prepare(entry, previous, this.#origin()) });
      }
      if (previous) this.progress.usedAhead(name, version);
      yield;
      if (this.#recount !== recount) return;
    }
    this.#recount = undefined;
    this.progress.counted(recount);
    for (const { entry, change } of counted) if (recount.draft.get(entry.key) === entry) this.#add(change);
    this.#content = recount.draft;
  }

  /** A list is about to be taken over: what it brings is counted in there. */
  #giveRecountUp(): void {
    if (this.#recount) this.#ledger?.giveBack(this.#recount.names);
    this.#recount = undefined;
    this.progress.giveAsideUp();
  }

  /** The node with its new sums; `undefined` where they are the same, or there is no such node. */
  #recounted(content: NodeContent, name: string): NodeEntry | undefined {
    const entry = content.get(name);
    const updated = entry && this.#withUsage(entry);
    return updated === entry ? undefined : updated;
  }

  #withUsage(entry: NodeEntry): NodeEntry {
    if (!this.#usageKeys) return entry;
    const members = usageMembers(this.platform, this.#ledger?.of(entry.key), entry.allocatable);
    return members === entry.encoded.usage ? entry : { ...entry, encoded: entry.encoded.withUsage(members) };
  }

  /** With the texts of what it replaces, where they are equal. */
  #sharing(entry: NodeEntry): NodeEntry {
    const previous = this.#content.get(entry.key);
    return previous ? sharingTexts(previous, entry) : entry;
  }

  #put(entry: NodeEntry, changedAt: string | undefined): void {
    const previous = this.#content.get(entry.key);
    this.#content.put(entry);
    this.progress.brought(entry, previous);
    this.#add(this.changes.prepare(entry, previous, this.#origin(changedAt)));
  }

  #showList({ content, list, gone, changes }: ListDraft): void {
    this.progress.nodes.listed(list);
    for (const { key } of gone) this.progress.forget(key);
    for (const change of changes) this.#add(change);
    this.#content = content;
  }

  #origin(changedAt?: string): ChangeOrigin {
    return { changedAt, seen: this.progress.seen };
  }

  #add(change: PreparedChange): void {
    this.#advance();
    this.changes.add(change, this.#version);
  }

  #advance(): void {
    this.#version++;
    this.#snapshot = undefined;
  }
}
