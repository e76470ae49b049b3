import type { GatewayCaller } from './caller.ts';

/**
 * Whether a user may use the gateway. `not-chosen`: the configuration neither names nor chooses the user. `soon`: the cluster lets us
 * impersonate the user within seconds. `stuck`: only after an operator has acted.
 */
export type AccessState = 'granted' | 'soon' | 'stuck' | 'not-chosen';

export type GatewayAccess = (caller: Pick<GatewayCaller, 'name' | 'groups'>) => AccessState;

/** Access for the users that are named, and for those that `followed` knows. */
export function createGatewayAccess(
  named: readonly string[],
  followed: ((name: string, groups: readonly string[]) => AccessState) | undefined,
): GatewayAccess {
  const names = new Set(named);
  return ({ name, groups }) => (names.has(name) ? 'granted' : (followed?.(name, groups) ?? 'not-chosen'));
}
