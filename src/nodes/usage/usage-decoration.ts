import type { Aside, DecoratedStore, Decoration } from '../../resources/entries/decoration.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { type Allocatable, usageMembers } from './usage-annotations.ts';
import type { UsageLedger } from './usage-ledger.ts';
import { type TakenUsage, UsageProgress } from './usage-progress.ts';

export interface UsageOptions {
  /** DNS label: prefix of the annotations. */
  readonly platform: string;
  readonly ledger: UsageLedger;
  /** Usage of more nodes than these is counted aside. Default: 300. */
  readonly mostCountedAtOnce?: number | undefined;
}

/** Nodes whose usage is brought up to date in one step: 3 ms. 5,000 pod events a second change 50 between two looks of a watch. */
const MOST_COUNTED_AT_ONCE = 300;

/** A large change of usage under way. */
type Recount = TakenUsage & { readonly aside: Aside };

/** The usage of pods, as the ledger sums it up, in the annotations of their nodes. The projection of a node is its `Allocatable`. */
export class UsageDecoration implements Decoration {
  readonly progress: UsageProgress;
  readonly #platform: string;
  readonly #ledger: UsageLedger;
  readonly #mostCountedAtOnce: number;
  readonly #store: DecoratedStore;
  #recount: Recount | undefined;

  constructor({ platform, ledger, mostCountedAtOnce = MOST_COUNTED_AT_ONCE }: UsageOptions, store: DecoratedStore) {
    this.progress = new UsageProgress(ledger);
    this.#platform = platform;
    this.#ledger = ledger;
    this.#mostCountedAtOnce = mostCountedAtOnce;
    this.#store = store;
  }

  get isCurrent(): boolean {
    return !this.#recount && this.#ledger.changedCount <= this.#mostCountedAtOnce;
  }

  decorate(node: Entry): Entry {
    const members = usageMembers(this.#platform, this.#ledger.of(node.key), node.own as Allocatable);
    return members === node.encoded.added ? node : { ...node, encoded: node.encoded.withAdded(members) };
  }

  /** Of many nodes it is made ready aside, in slices, so that a list has the sums before a large change or those after it. */
  refresh(): void {
    if (this.#recount) return;
    const { state: pods } = this.#ledger.pods;
    const names = this.#ledger.takeChanged();
    if (names.size > this.#mostCountedAtOnce) {
      this.#recount = { names, pods, aside: this.#store.aside() };
      this.progress.countAside(this.#recount);
      this.#store.run(this.#countAside(this.#recount));
    } else this.#countHere({ names, pods });
  }

  giveUp(): void {
    if (this.#recount) this.#ledger.giveBack(this.#recount.names);
    this.#recount?.aside.drop();
    this.#recount = undefined;
    this.progress.giveAsideUp();
  }

  #countHere(taken: TakenUsage): void {
    this.progress.counted(taken);
    for (const [name, version] of taken.names) {
      const node = this.#store.get(name);
      if (!node) continue;
      this.progress.used(name, version);
      const updated = this.decorate(node);
      if (updated !== node) this.#store.redecorate(updated);
    }
  }

  *#countAside(recount: Recount): Steps<void> {
    const { aside, names } = recount;
    for (const [name, version] of names) {
      const node = aside.get(name);
      const updated = node && this.decorate(node);
      if (updated && updated !== node) aside.redecorate(updated);
      if (node) this.progress.usedAhead(name, version);
      yield;
      if (this.#recount !== recount) return;
    }
    this.#recount = undefined;
    this.progress.counted(recount);
    aside.show();
  }
}
