import { compareResourceVersions } from '../../kubernetes/resource-version.ts';
import type { UsageLedger } from '../usage/usage-ledger.ts';
import type { ListState } from '../watch/watch-version.ts';
import type { NodeChange } from './change.ts';
import type { ChangeLog } from './change-log.ts';
import {
  type CollectionState,
  CollectionVersion,
  type ListedCollection,
  later,
  NOTHING,
} from './collection-version.ts';
import type { NodeEntry } from './entry.ts';

/** Usage that was taken from the ledger to be counted into the nodes. */
export interface TakenUsage {
  /** The nodes, each with the version of the newest change of its sums. */
  readonly names: ReadonlyMap<string, string>;
  /** The pods that are all counted when it is shown. */
  readonly pods: CollectionState;
}

/** How far the node list is, nodes and the usage that it shows, in versions that every replica understands. */
export class ListProgress {
  /** The nodes that the cluster told us of. */
  readonly nodes = new CollectionVersion();
  readonly #changes: ChangeLog;
  readonly #ledger: UsageLedger | undefined;
  /** The pods whose usage is in the nodes, all of it. Single nodes may be ahead while much is counted aside. */
  #pods: CollectionState = NOTHING;
  /** What is counted aside and not shown yet. */
  #aside: TakenUsage | undefined;
  /** When the sums of each node changed last, as the cluster counts changes of pods. */
  readonly #usedAt = new Map<string, string>();

  constructor(changes: ChangeLog, ledger: UsageLedger | undefined) {
    this.#changes = changes;
    this.#ledger = ledger;
  }

  /** What the list shows now. */
  get state(): ListState {
    return { nodes: this.nodes.state, pods: this.#pods };
  }

  /** What `seen` is at least when this list of nodes is shown. */
  seenWith(list: ListedCollection): ListState {
    return { nodes: this.nodes.after(list), pods: this.seen.pods };
  }

  /** How new a node may be: its usage is as new as the ledger when it is written. */
  get seen(): ListState {
    return { nodes: this.nodes.state, pods: this.#ledger?.pods.state ?? NOTHING };
  }

  /** Whether all that was seen there is here, and shown. */
  hasSeen({ nodes, pods }: ListState): boolean {
    if (!this.nodes.has(nodes)) return false;
    if (!this.#ledger) return pods.newest === NOTHING.newest;
    const isAllShown = !this.#aside && this.#ledger.changedCount === 0;
    const isShown = isAllShown || compareResourceVersions(pods.newest, this.#pods.newest) <= 0;
    return isShown && this.#ledger.pods.has(pods);
  }

  /** Whether all that happened to the list after this state is known. */
  knowsAfter({ nodes, pods }: ListState): boolean {
    const knowsPods = this.#ledger ? this.#ledger.pods.knowsAfter(pods) : pods.newest === NOTHING.newest;
    return knowsPods && this.nodes.knowsAfter(nodes) && this.#changes.knowsAfter(nodes.newest);
  }

  /** The newest changes of all nodes that changed after this state, or whose sums did; to be asked when it knows. */
  changedAfter({ nodes, pods }: ListState): readonly NodeChange[] {
    const isLater = (version: string | undefined, than: string): boolean =>
      version !== undefined && compareResourceVersions(version, than) > 0;
    return [...this.#changes.since(0)].filter(
      ({ name, changedAt }) => isLater(changedAt, nodes.newest) || isLater(this.#usedAt.get(name), pods.newest),
    );
  }

  /** This usage is counted aside: the list shows it when that is done, and claims nothing of it before. */
  countAside(taken: TakenUsage): void {
    this.#aside = taken;
  }

  giveAsideUp(): void {
    this.#aside = undefined;
  }

  /** All usage up to here is shown from now on. */
  counted({ pods }: TakenUsage): void {
    this.#aside = undefined;
    this.#pods = pods;
  }

  /** The sums of a node changed last at this version. */
  used(name: string, version: string): void {
    this.#usedAt.set(name, version);
  }

  /**
   * A node got the sums that the ledger has now, which may be ahead of what the list shows of the others. A client that resumes from
   * the state of the list is then told of this node again.
   */
  usedAhead(name: string, counted = this.#aside?.names.get(name)): void {
    const known = this.#usedAt.get(name) ?? NOTHING.newest;
    const pending = this.#ledger?.changedAt(name) ?? known;
    this.#usedAt.set(name, later(later(known, counted ?? known), pending));
  }

  /** A node came with the sums that the ledger has now. */
  brought(entry: NodeEntry, previous: NodeEntry | undefined): void {
    // Its pods may have come before it did.
    if (!previous) this.used(entry.key, this.seen.pods.newest);
    else if (previous.encoded.usage !== entry.encoded.usage) this.usedAhead(entry.key);
  }

  forget(name: string): void {
    this.#usedAt.delete(name);
  }
}
