import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Difference } from './role-plan.ts';

/** Why a chosen user may have no access to the gateway: the `reason` label of `gatehouse_gateway_accounts_faults`. */
export const FOLLOW_FAULTS = ['nobody', 'name', 'room', 'missing-role', 'policy', 'write'] as const;
export type FollowFault = (typeof FOLLOW_FAULTS)[number];

const SENTENCES: Readonly<Record<FollowFault, string>> = {
  nobody: 'gateway.accounts chooses no user: check its selector and roles',
  name: 'gateway.accounts chooses users whose names the cluster keeps for itself: nobody may impersonate them',
  room: 'the ClusterRoles of gateway.accounts are full: raise gateway.accounts.maxUsers of the chart',
  'missing-role': 'a ClusterRole of gateway.accounts.clusterRoles does not exist: install it again with the chart',
  policy: 'nobody is added to the ClusterRoles of gateway.accounts',
  write: 'the ClusterRoles of gateway.accounts cannot be written',
};

/** A failure that lasts for less is over before a user who waits for it would ask an operator. */
const LASTING_MS = 10_000;

export interface FollowFaultsParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

interface Fault {
  readonly count: number;
  readonly why: string | undefined;
  readonly since: number;
}

/** What keeps users from the gateway, in numbers for metrics. Logs one line when a fault begins, changes or ends. */
export class FollowFaults {
  readonly #parts: FollowFaultsParts;
  readonly #faults = new Map<FollowFault, Fault>();
  #withoutRoom: ReadonlySet<string> = new Set();

  constructor(parts: FollowFaultsParts) {
    this.#parts = parts;
  }

  /** How many users, roles or checks have the fault; 0: none. */
  count(fault: FollowFault): number {
    return this.#faults.get(fault)?.count ?? 0;
  }

  /** Whether this chosen user has to wait until an operator has acted. */
  keepsWaiting(user: string): boolean {
    return this.#withoutRoom.has(user) || this.#lasts('policy') || this.#lasts('write');
  }

  setWithoutRoom(names: readonly Difference[]): void {
    this.#withoutRoom = new Set(names.filter(({ named }) => named === 'users').map(({ name }) => name));
    this.set('room', names.length);
  }

  set(fault: FollowFault, count: number, why?: string): void {
    const { clock, logger } = this.#parts;
    const before = this.#faults.get(fault);
    if (count === 0) this.#faults.delete(fault);
    else this.#faults.set(fault, { count, why, since: before?.since ?? clock.monotonic() });
    // The failed write itself is logged with its error.
    if (count > 0 === (before !== undefined) && before?.why === why) return;
    if (fault === 'write') return;
    if (count === 0) logger.info({ fault }, 'a fault of gateway.accounts is over');
    else logger.warn({ fault, count, ...(why && { why }) }, SENTENCES[fault]);
  }

  #lasts(fault: FollowFault): boolean {
    const since = this.#faults.get(fault)?.since;
    return since !== undefined && this.#parts.clock.monotonic() - since >= LASTING_MS;
  }
}
