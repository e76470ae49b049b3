import type { Registry } from 'prom-client';
import { CallerPolicy } from '../gateway/caller.ts';
import { Gateway, type GatewayOptions } from '../gateway/gateway.ts';
import { GatewayMetrics } from '../gateway/metrics.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SecurityEvents } from '../security-events.ts';

export interface GatewayServiceOptions extends GatewayOptions {
  readonly platform: string;
  /** Users whom nobody acts as. */
  readonly reservedNames: readonly string[];
  /** How long streams go on at a shutdown. */
  readonly streamDrainMs: number;
}

interface GatewayServiceParts {
  readonly cluster: Pick<Cluster, 'openPassage'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: SecurityEvents;
}

const LEFT_OUT =
  'the cluster does not let this server act as members of a group: calls go on without it (gateway.unknownGroups)';

/** The way to the cluster for everybody who is signed in. Rejects with one sentence when there can be none. */
export async function createGateway(
  { platform, reservedNames, streamDrainMs, ...options }: GatewayServiceOptions,
  { cluster, clock, logger, registry, events }: GatewayServiceParts,
): Promise<{ readonly gateway: Gateway; readonly events: SecurityEvents; readonly streamDrainMs: number }> {
  const passage = await cluster.openPassage();
  const policy = new CallerPolicy({ platform, names: reservedNames });
  const gateway = new Gateway(options, {
    passage,
    policy,
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
  return { gateway, events, streamDrainMs };
}
