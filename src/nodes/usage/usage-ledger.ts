import { CollectionVersion, later } from '../../resources/entries/collection-version.ts';
import { FORMATS } from './amount.ts';
import { FIGURES, type PodUsage } from './pod-usage.ts';
import type { QuantityFormat } from './quantity.ts';

/** An exact running sum. Every operand can be taken out again. */
export class UsageSum {
  #nano: bigint;
  /** The number of operands in each of `FORMATS`. */
  readonly #operands: number[];

  constructor(of?: UsageSum) {
    this.#nano = of?.nano ?? 0n;
    this.#operands = of ? [...of.#operands] : FORMATS.map(() => 0);
  }

  get nano(): bigint {
    return this.#nano;
  }

  /** The format of all operands. `undefined` if they have several, or if there are no operands. */
  get format(): QuantityFormat | undefined {
    const present = FORMATS.filter((_, at) => (this.#operands[at] ?? 0) > 0);
    return present.length === 1 ? present[0] : undefined;
  }

  /** `sign`: 1 to add, -1 to take out. */
  apply({ nano, formats }: PodUsage[number], sign: 1 | -1): void {
    if (nano === 0n) return;
    this.#nano += sign === 1 ? nano : -nano;
    for (let at = 0; at < FORMATS.length; at++) {
      if (formats & (1 << at)) this.#operands[at] = (this.#operands[at] ?? 0) + sign;
    }
  }
}

/** What the pods of one node add up to. */
export interface NodeUsage {
  /** In the order of `FIGURES`. */
  readonly sums: readonly UsageSum[];
  /** How many pods count for the node, those that request nothing included. */
  readonly pods: number;
}

interface Account extends NodeUsage {
  pods: number;
}

/** The running sums of every node that has pods. The pod store writes it, the node store reads it. */
export class UsageLedger {
  readonly #accounts = new Map<string, Account>();
  #changed = new Map<string, string>();
  #podCount = 0;
  /** Which state of the pods the ledger has. */
  readonly pods = new CollectionVersion();

  /** `version`: the resourceVersion of the pod's change, or of the list that revealed it. */
  add(node: string, usage: PodUsage, version: string): void {
    const account = this.#accounts.get(node) ?? copyOf(undefined);
    if (account.pods === 0) this.#accounts.set(node, account);
    book(account, usage, 1);
    this.#podCount++;
    touch(this.#changed, node, version);
  }

  /** Takes out what `add` added. */
  subtract(node: string, usage: PodUsage, version: string): void {
    const account = this.#accounts.get(node);
    if (!account) return;
    book(account, usage, -1);
    this.#podCount--;
    if (account.pods === 0) this.#accounts.delete(node);
    touch(this.#changed, node, version);
  }

  /**
   * Begins a draft for many bookings that must take effect together. Nothing else may be booked until the draft is
   * taken or dropped.
   */
  draft(): UsageDraft {
    return new UsageDraft((node) => this.#accounts.get(node));
  }

  take(draft: UsageDraft): void {
    for (const [node, account] of draft.accounts()) {
      this.#podCount += account.pods - (this.#accounts.get(node)?.pods ?? 0);
      if (account.pods === 0) this.#accounts.delete(node);
      else this.#accounts.set(node, account);
    }
    this.giveBack(draft.changed);
  }

  /** `undefined` if the node has no pods. */
  of(node: string): NodeUsage | undefined {
    return this.#accounts.get(node);
  }

  /** How many pods count for a node, one that is not in the list of nodes included. */
  get podCount(): number {
    return this.#podCount;
  }

  /** How many nodes' sums may have changed since they were last taken. */
  get changedCount(): number {
    return this.#changed.size;
  }

  /** The version of the newest change of this node's sums since they were last taken. `undefined` if there is none. */
  changedAt(node: string): string | undefined {
    return this.#changed.get(node);
  }

  /** The nodes whose sums may have changed since the last call, each with the version of the newest change. */
  takeChanged(): ReadonlyMap<string, string> {
    const changed = this.#changed;
    if (changed.size > 0) this.#changed = new Map();
    return changed;
  }

  /** Takes nodes back that were not brought up to date after `takeChanged`. Its next call returns them again. */
  giveBack(changed: ReadonlyMap<string, string>): void {
    for (const [node, version] of changed) touch(this.#changed, node, version);
  }
}

/** Bookings in copies of the accounts, which `take` puts into the ledger. */
class UsageDraft {
  readonly #copies = new Map<string, Account>();
  readonly #changed = new Map<string, string>();
  readonly #below: (node: string) => Account | undefined;

  constructor(below: (node: string) => Account | undefined) {
    this.#below = below;
  }

  add(node: string, usage: PodUsage, version: string): void {
    book(this.#account(node), usage, 1);
    touch(this.#changed, node, version);
  }

  subtract(node: string, usage: PodUsage, version: string): void {
    book(this.#account(node), usage, -1);
    touch(this.#changed, node, version);
  }

  accounts(): Iterable<readonly [string, Account]> {
    return this.#copies;
  }

  /** See `takeChanged` of the ledger. */
  get changed(): ReadonlyMap<string, string> {
    return this.#changed;
  }

  #account(node: string): Account {
    const known = this.#copies.get(node);
    if (known) return known;
    const copy = copyOf(this.#below(node));
    this.#copies.set(node, copy);
    return copy;
  }
}

/** Keeps the later version, because the pods of a list come in any order. */
function touch(changed: Map<string, string>, node: string, version: string): void {
  changed.set(node, later(changed.get(node) ?? version, version));
}

const copyOf = (account: Account | undefined): Account => ({
  sums: FIGURES.map((_, at) => new UsageSum(account?.sums[at])),
  pods: account?.pods ?? 0,
});

function book(account: Account, usage: PodUsage, sign: 1 | -1): void {
  account.pods += sign;
  for (let at = 0; at < usage.length; at++) {
    const amount = usage[at];
    if (amount) account.sums[at]?.apply(amount, sign);
  }
}
