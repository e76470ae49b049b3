import { compareResourceVersions } from '../../kubernetes/object.ts';
import { type CollectionState, later, NOTHING } from '../../resources/entries/collection-version.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { AddedProgress } from '../../resources/entries/list-progress.ts';
import type { UsageLedger } from './usage-ledger.ts';

/** Usage that was taken from the ledger to be counted into the nodes. */
export interface TakenUsage {
  /** The nodes, each with the version of the newest change of its sums. */
  readonly names: ReadonlyMap<string, string>;
  /** The pods that are all counted when it is shown. */
  readonly pods: CollectionState;
}

/** How far the usage is that the nodes show. */
export class UsageProgress implements AddedProgress {
  readonly #ledger: UsageLedger;
  /** The pods whose usage is in the nodes, all of it. Single nodes may be ahead while much is counted aside. */
  #pods: CollectionState = NOTHING;
  /** What is counted aside and not shown yet. */
  #aside: TakenUsage | undefined;
  /** When the sums of each node changed last, as the cluster counts changes of pods. */
  readonly #usedAt = new Map<string, string>();

  constructor(ledger: UsageLedger) {
    this.#ledger = ledger;
  }

  get shown(): CollectionState {
    return this.#pods;
  }

  /** The usage of a node is as new as the ledger when it is written. */
  get reached(): CollectionState {
    return this.#ledger.pods.state;
  }

  hasShown(pods: CollectionState): boolean {
    const isAllShown = !this.#aside && this.#ledger.changedCount === 0;
    const isShown = isAllShown || compareResourceVersions(pods.newest, this.#pods.newest) <= 0;
    return isShown && this.#ledger.pods.has(pods);
  }

  knowsAfter(pods: CollectionState): boolean {
    return this.#ledger.pods.knowsAfter(pods);
  }

  changedAt(name: string): string | undefined {
    return this.#usedAt.get(name);
  }

  brought(entry: Entry, previous: Entry | undefined): void {
    // Its pods may have come before it did.
    if (!previous) this.used(entry.key, this.reached.newest);
    else if (previous.encoded.added !== entry.encoded.added) this.usedAhead(entry.key);
  }

  forget(name: string): void {
    this.#usedAt.delete(name);
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
    const pending = this.#ledger.changedAt(name) ?? known;
    this.#usedAt.set(name, later(later(known, counted ?? known), pending));
  }
}
