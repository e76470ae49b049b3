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
