import type { Contestant } from './contestants.ts';
import { type Difference, differences } from './differences.ts';
import { answerOf, type Divergence, divergences, outcomeOf } from './outcome.ts';
import { type Plan, TOKEN_FLOWS } from './plan.ts';
import { titleOf } from './plans.ts';

/** What each server answers to one variation alone. */
interface Alone {
  readonly gatehouse: string;
  readonly peer: string;
}

/** Asks both servers the same, and keeps what they disagree about without being meant to. */
export class Comparison {
  readonly #gatehouse: Contestant;
  readonly #peer: Contestant;
  readonly #alone = new Map<string, Alone>();
  readonly #used = new Set<Difference>();
  /** One sentence for each difference that is not listed. */
  readonly unlisted: string[] = [];
  /** Where Gatehouse named another of several faults than the first. */
  readonly outOfOrder: string[] = [];
  readonly #requests = { token: 0, others: 0 };

  constructor(gatehouse: Contestant, peer: Contestant) {
    this.#gatehouse = gatehouse;
    this.#peer = peer;
  }

  /** How many were sent to the token endpoint, and to the others. */
  requests = (to: 'token' | 'others'): number => this.#requests[to];

  /** Differences that are listed and did not occur. */
  idle = (): Difference[] => differences.filter((difference) => !this.#used.has(difference));

  /** One variation, or none: each difference has to be listed. */
  async plain(plan: Plan): Promise<void> {
    const { gatehouse, peer, found } = await this.#ask(plan);
    this.#alone.set(keyOf(plan, plan.variations[0]?.name), { gatehouse, peer });
    this.#report(plan, found);
  }

  /**
   * Several: RFC 6749 5.2 does not say which of several faults is named. Gatehouse names the first in the order of its
   * contract, oidc-provider any of them; all else has to be listed.
   */
  async mixed(plan: Plan): Promise<void> {
    const { gatehouse, peer, found } = await this.#ask(plan);
    const alone = plan.variations.map(({ name }) => this.#answersTo(plan, name));
    const bare = this.#answersTo(plan).gatehouse;
    const first = alone.find((answers) => answers.gatehouse !== bare)?.gatehouse ?? bare;
    if (gatehouse !== first) this.outOfOrder.push(`${titleOf(plan)}: ${gatehouse} instead of ${first}`);
    const isOneOfThem = alone.some((answers) => answers.peer === peer);
    this.#report(
      plan,
      found.filter(({ aspect }) => aspect !== 'answer' || !isOneOfThem),
    );
  }

  /** What was harmless in one flow is in the others. */
  #answersTo = (plan: Plan, variation = ''): Alone =>
    (this.#alone.get(keyOf(plan, variation)) ?? this.#alone.get(keyOf(plan))) as Alone;

  async #ask(plan: Plan): Promise<Alone & { readonly found: readonly Divergence[] }> {
    this.#requests[TOKEN_FLOWS.includes(plan.flow) ? 'token' : 'others']++;
    const [ours, theirs] = await Promise.all([this.#gatehouse.ask(plan), this.#peer.ask(plan)]);
    const found = divergences(outcomeOf(ours), outcomeOf(theirs));
    return { gatehouse: answerOf(ours), peer: answerOf(theirs), found };
  }

  #report(plan: Plan, found: readonly Divergence[]): void {
    for (const divergence of found) {
      const listed = differences.find((difference) => explains(difference, plan, divergence));
      if (listed) this.#used.add(listed);
      else this.unlisted.push(`${titleOf(plan)}: ${sentenceOf(divergence)}`);
    }
  }
}

const keyOf = ({ flow }: Plan, variation = ''): string => `${flow}: ${variation}`;

const explains = (difference: Difference, plan: Plan, { aspect, gatehouse, peer }: Divergence): boolean =>
  difference.aspect === aspect &&
  difference.gatehouse === gatehouse &&
  difference.peer === peer &&
  (!difference.flow || difference.flow === plan.flow) &&
  (!difference.of || plan.variations.some(({ name }) => difference.of?.includes(name)));

const sentenceOf = ({ aspect, gatehouse, peer }: Divergence): string =>
  `${aspect} of Gatehouse ${gatehouse || '-'}, of oidc-provider ${peer || '-'}`;
