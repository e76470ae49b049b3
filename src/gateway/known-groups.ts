import { BoundedMap } from '../runtime/bounded-map.ts';
import type { Clock } from '../runtime/clock.ts';
import { fitsHeader } from '../runtime/text/header-text.ts';
import { AUTHENTICATED, type GatewayCaller } from './caller.ts';

/**
 * How long we remember the groups of a caller, and that the cluster refuses a group. A change of the operator takes effect after at
 * most twice this time: the groups of a caller may follow from a refusal that was nearly this old.
 */
const REMEMBERED_MS = 60_000;
/** The most callers that are remembered, with a few hundred bytes each. */
const MOST_CALLERS = 10_000;
/** The most refused groups that are remembered, with a hundred bytes each. */
const MOST_REFUSED = 10_000;
/** The most groups that are reported: more would flood the log and say nothing new. */
const MOST_REPORTED = 1_000;

export interface KnownGroupsParts {
  readonly clock: Clock;
  /** Asks the cluster whether we may impersonate this caller. Resolves to the first group that it refuses, if there is one. */
  refusedGroup(caller: GatewayCaller): Promise<string | undefined>;
  /** Called once for each group that is left out. */
  onLeftOut(group: string): void;
}

interface Answer {
  readonly at: number;
  readonly groups: Promise<readonly string[]>;
}

/**
 * Finds the groups of a caller that the cluster lets us impersonate. The cluster refuses a whole call because of one group, and
 * names one group at a time; a call with a body cannot be sent again. So we ask the cluster beforehand, once a minute for each
 * caller. Whether it lets us impersonate a group depends on the name of the group alone, so its refusal of a group holds for all
 * callers.
 */
export class KnownGroups {
  readonly #parts: KnownGroupsParts;
  readonly #answers = new BoundedMap<Answer>(MOST_CALLERS);
  /** When a group was refused. */
  readonly #refused = new BoundedMap<number>(MOST_REFUSED);
  readonly #reported = new Set<string>();

  constructor(parts: KnownGroupsParts) {
    this.#parts = parts;
  }

  /** The caller without the groups that the cluster refuses. Rejects when the cluster does not answer. */
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

  /** Forgets the groups found for the caller, because the cluster has refused one of them in a call. */
  forget(caller: GatewayCaller): void {
    this.#answers.delete(keyOf(caller));
  }

  async #find(caller: GatewayCaller): Promise<readonly string[]> {
    let groups = caller.groups.filter((group) => group !== AUTHENTICATED && this.#isSendable(group));
    for (;;) {
      // Filtered again each time, because a check for another caller may have found a refused group meanwhile.
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
    if (this.#reported.has(group) || this.#reported.size >= MOST_REPORTED) return;
    this.#reported.add(group);
    this.#parts.onLeftOut(group);
  }
}

const keyOf = ({ name, groups }: GatewayCaller): string => JSON.stringify([name, ...groups]);
