import { Counter, Gauge, type Registry } from 'prom-client';

/** Shows how many users have more than one platform role; counted at each scrape. */
export function registerRoleConflicts(registry: Registry, conflicts: () => number): void {
  new Gauge({
    name: 'gatehouse_platform_role_conflicts',
    help: 'Users with more than one binding to a platform role. The first one by name is shown.',
    registers: [registry],
    collect() {
      this.set(conflicts());
    },
  });
}

/** Shows how many User objects have something that cannot be used; counted at each scrape. */
export function registerFaultyUsers(registry: Registry, faulty: () => number): void {
  new Gauge({
    name: 'gatehouse_user_objects_faulty',
    help: 'User objects with something that cannot be used: it counts as absent, an unknown state as Disabled.',
    registers: [registry],
    collect() {
      this.set(faulty());
    },
  });
}

/** Counts login records by result: `written`, or `dropped` because the cluster did not answer or too many waited. */
export function createRecordCounter(registry: Registry): Counter<'result'> {
  const counter = new Counter({
    name: 'gatehouse_login_records_total',
    help: 'Login records, by whether they were written or dropped.',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['written', 'dropped']) counter.inc({ result }, 0);
  return counter;
}

interface FollowedRoles {
  /** How many users are chosen, and how many of them the ClusterRoles name. */
  readonly chosen: () => number;
  readonly granted: () => number;
  readonly faults: Readonly<Record<string, () => number>>;
}

/** Shows who may use the gateway by `gateway.accounts`. Returns the counter of the writes of its ClusterRoles. */
export function registerFollowedRoles(
  registry: Registry,
  { chosen, granted, faults }: FollowedRoles,
): Counter<'result'> {
  const registers = [registry];
  new Gauge({
    name: 'gatehouse_gateway_accounts',
    help: 'Users that gateway.accounts chooses, and those of them that its ClusterRoles name.',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'chosen' }, chosen());
      this.set({ state: 'granted' }, granted());
    },
  });
  new Gauge({
    name: 'gatehouse_gateway_accounts_faults',
    help: 'What keeps chosen users from the gateway, by reason: users, roles or checks with the fault; 0 is none.',
    labelNames: ['reason'],
    registers,
    collect() {
      for (const [reason, count] of Object.entries(faults)) this.set({ reason }, count());
    },
  });
  const writes = new Counter({
    name: 'gatehouse_gateway_accounts_writes_total',
    help: 'Writes of the ClusterRoles of gateway.accounts, by result. A conflict means that another replica was faster.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['written', 'conflict', 'failed']) writes.inc({ result }, 0);
  return writes;
}
