import type { Config } from '../config/config.ts';
import { createGatewayAccess } from '../gateway/access.ts';
import { CallerPolicy } from '../gateway/caller.ts';
import { Gateway, type GatewayOptions } from '../gateway/gateway.ts';
import { GatewayMetrics } from '../gateway/metrics.ts';
import { gatewayFamily } from '../http/gateway/gateway-family.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Family, Shared } from './family.ts';

export interface GatewayServiceOptions extends GatewayOptions {
  readonly platform: string;
  /** The users who may use the gateway by name; `undefined`: everybody whom the cluster lets us impersonate. */
  readonly users: readonly string[] | undefined;
  /** Users who may not be impersonated. */
  readonly reservedNames: readonly string[];
  /** How long streams go on at a shutdown. */
  readonly streamDrainMs: number;
}

/** The options of the gateway in this configuration. */
export const toGatewayOptions = ({
  platform,
  accounts: { reservedNames },
  gateway: { allowProxySubresources, impersonation, unknownGroups, users, accounts: followed },
  server: { streamDrain },
}: Pick<Config, 'platform' | 'accounts' | 'gateway' | 'server'>): GatewayServiceOptions => ({
  platform,
  reservedNames,
  allowProxySubresources,
  impersonation,
  unknownGroups,
  users: users ?? (followed.enabled ? [] : undefined),
  streamDrainMs: streamDrain,
});

interface GatewayServiceParts extends Omit<Shared, 'random'> {
  readonly cluster: Pick<Cluster, 'openPassage'>;
  /** The users whom User objects choose. */
  readonly followed: { readonly stateOf: Parameters<typeof createGatewayAccess>[1] };
}

const LEFT_OUT =
  'the cluster does not let this server act as members of a group: calls go on without it (gateway.unknownGroups)';

/** The gateway to the cluster for every signed-in user. Rejects with one sentence when it cannot be made. */
export async function createGateway(
  { platform, reservedNames, streamDrainMs, users, ...options }: GatewayServiceOptions,
  { cluster, followed, clock, logger, registry, events }: GatewayServiceParts,
): Promise<Family> {
  const passage = await cluster.openPassage();
  const policy = new CallerPolicy({ platform, names: reservedNames });
  const gateway = new Gateway(options, {
    passage,
    policy,
    access: users && createGatewayAccess(users, followed.stateOf),
    metrics: new GatewayMetrics(registry),
    clock,
    onLeftOut: (group) => logger.warn({ group }, LEFT_OUT),
    onReserved: ({ caller, requestId, address }) =>
      events.report('reserved_identity_refused', {
        result: 'refused',
        user: caller.name,
        groups: caller.withheldGroups ?? [],
        requestId,
        source: address,
      }),
  });
  return { routes: gatewayFamily({ gateway, events, streamDrainMs }) };
}
