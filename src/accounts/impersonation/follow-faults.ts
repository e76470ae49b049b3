import type { Logger } from '../../observability/logger.ts';

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

/** What keeps users from the gateway, in numbers for metrics. Logs one line when a fault begins, changes or ends. */
export class FollowFaults {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #counts = new Map<FollowFault, number>();
  readonly #why = new Map<FollowFault, string | undefined>();

  constructor(logger: Pick<Logger, 'info' | 'warn'>) {
    this.#logger = logger;
  }

  /** How many users, roles or checks have the fault; 0: none. */
  count(fault: FollowFault): number {
    return this.#counts.get(fault) ?? 0;
  }

  /** Whether a chosen user may have to wait until an operator has acted. */
  get keepUsersWaiting(): boolean {
    return (['room', 'missing-role', 'policy', 'write'] as const).some((fault) => this.count(fault) > 0);
  }

  set(fault: FollowFault, count: number, why?: string): void {
    const before = this.count(fault);
    const isSame = before > 0 === count > 0 && (count === 0 || this.#why.get(fault) === why);
    this.#counts.set(fault, count);
    this.#why.set(fault, why);
    // The failed write itself is logged with its error.
    if (isSame || fault === 'write') return;
    if (count === 0) this.#logger.info({ fault }, 'a fault of gateway.accounts is over');
    else this.#logger.warn({ fault, count, ...(why && { why }) }, SENTENCES[fault]);
  }
}
