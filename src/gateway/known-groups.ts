import { BoundedMap } from '../runtime/bounded-map.ts';
import type { Clock } from '../runtime/clock.ts';
import { fitsHeader } from '../runtime/text/header-text.ts';
import { AUTHENTICATED, type GatewayCaller } from './caller.ts';

/** A caller's groups, and the refusal of a group, hold this long: what the operator changes counts after twice this time. */
const REMEMBERED_MS = 60_000;
/** Callers that are remembered: some hundred bytes each. */
const MOST_CALLERS = 10_000;
/** Refused groups that are remembered: a hundred bytes each. */
const MOST_REFUSED = 10_000;
/** The most groups that are reported: more would flood the log and say nothing new. */
const MOST_TOLD = 1_000;

export interface KnownGroupsParts {
  readonly clock: Clock;
  /** Asks the cluster whether we may act as this caller: the first group that it does not let us be in. */
  refusedGroup(caller: GatewayCaller): Promise<string | undefined>;
  /** Called once for each group that is left out. */
  onLeftOut(group: string): void;
}

interface Answer {
  readonly at: number;
  readonly groups: Promise<readonly string[]>;
}

/**
 * The groups of a caller that the cluster lets us act in. It refuses a call as a whole because of one group, and names one at
 * a time; a call with a body cannot be sent again. So the cluster is asked beforehand, once a minute for each caller. Whether
 * it lets us act in a group depends on the name of the group alone, so what it refuses for one caller is not asked for another.
 */
export class KnownGroups {
  readonly #parts: KnownGroupsParts;
  readonly #answers = new BoundedMap<Answer>(MOST_CALLERS);
  /** When a group was refused. */
  readonly #refused = new BoundedMap<number>(MOST_REFUSED);
  readonly #told = new Set<string>();

  constructor(parts: KnownGroupsParts) {
    this.#parts = parts;
  }

  /** The caller without the other groups. Rejects when the cluster gives no answer. */
  async of(caller: GatewayCaller): Promise<GatewayCaller> {
    const key = keyOf(caller);
    const now = this.#parts.clock.monotonic();
    let answer = this.#answers.get(key);
    if (!answer || now - answer.at >= REMEMBERED_MS) {
      answer = { at: now, groups: this.#find(caller) };
      this.#answers.set(key, answer);
    }
    try {
      return { ...caller, groups: await answer.groups };
    } catch (error) {
      if (this.#answers.get(key) === answer) this.#answers.delete(key);
      throw error;
    }
  }

  /** The cluster has refused one of the groups that were left. */
  forget(caller: GatewayCaller): void {
    this.#answers.delete(keyOf(caller));
  }

  async #find(caller: GatewayCaller): Promise<readonly string[]> {
    let groups = caller.groups.filter((group) => group !== AUTHENTICATED && this.#isSendable(group));
    for (;;) {
      // Each time, because another caller's question may have been answered meanwhile.
      groups = groups.filter((group) => !this.#isRefused(group));
      if (groups.length === 0) break;
      const refused = await this.#parts.refusedGroup({ ...caller, groups });
      if (refused === undefined || !groups.includes(refused)) break;
      this.#refused.set(refused, this.#parts.clock.monotonic());
      this.#leaveOut(refused);
    }
    return groups;
  }

  #isRefused(group: string): boolean {
    const at = this.#refused.get(group);
    return at !== undefined && this.#parts.clock.monotonic() - at < REMEMBERED_MS;
  }

  #isSendable(group: string): boolean {
    const isSendable = fitsHeader(group);
    if (!isSendable) this.#leaveOut(group);
    return isSendable;
  }

  #leaveOut(group: string): void {
    if (this.#told.has(group) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(group);
    this.#parts.onLeftOut(group);
  }
}

const keyOf = ({ name, groups }: GatewayCaller): string => JSON.stringify([name, ...groups]);
