import { CollectionVersion, later } from './collection-version.ts';
import { FIGURES, FORMATS, type PodUsage } from './pod-usage.ts';
import type { QuantityFormat } from './quantity.ts';

/** One running sum, exact, from which every operand can be taken out again. */
export class UsageSum {
  #nano = 0n;
  /** Operands of each of `FORMATS`. */
  readonly #operands = FORMATS.map(() => 0);

  get nano(): bigint {
    return this.#nano;
  }

  /** The format of all operands if they have one; `undefined` when they are mixed or none. */
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

/** The sums of one node, in the order of `FIGURES`. */
export type NodeUsage = readonly UsageSum[];

/** The running sums of every node that has pods. The pod store writes it, the node store reads it. */
export class UsageLedger {
  readonly #nodes = new Map<string, { readonly sums: NodeUsage; pods: number }>();
  #changed = new Map<string, string>();
  /** How far the pods are that the sums are made of. */
  readonly pods = new CollectionVersion();

  /** `version`: of the change that this is part of. */
  add(node: string, usage: PodUsage, version: string): void {
    const account = this.#nodes.get(node) ?? { sums: FIGURES.map(() => new UsageSum()), pods: 0 };
    if (account.pods === 0) this.#nodes.set(node, account);
    account.pods++;
    apply(account.sums, usage, 1);
    this.#touch(node, version);
  }

  /** Takes out what `add` was called with. */
  subtract(node: string, usage: PodUsage, version: string): void {
    const account = this.#nodes.get(node);
    if (!account) return;
    account.pods--;
    apply(account.sums, usage, -1);
    if (account.pods === 0) this.#nodes.delete(node);
    this.#touch(node, version);
  }

  /** A list comes in any order. */
  #touch(node: string, version: string): void {
    this.#changed.set(node, later(this.#changed.get(node) ?? version, version));
  }

  /** `undefined`: no pod. */
  of(node: string): NodeUsage | undefined {
    return this.#nodes.get(node)?.sums;
  }

  /** The nodes whose sums may have changed since the last call, each with the version of the newest change. */
  takeChanged(): ReadonlyMap<string, string> {
    const changed = this.#changed;
    if (changed.size > 0) this.#changed = new Map();
    return changed;
  }
}

function apply(sums: NodeUsage, usage: PodUsage, sign: 1 | -1): void {
  for (let at = 0; at < usage.length; at++) {
    const amount = usage[at];
    if (amount) sums[at]?.apply(amount, sign);
  }
}
