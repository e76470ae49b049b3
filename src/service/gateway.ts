import type { PermittedScopes } from '../authorization/permitted-scope.ts';
import type { Config } from '../config/config.ts';
import { createGatewayAccess } from '../gateway/access.ts';
import { CallerPolicy } from '../gateway/caller.ts';
import { Gateway, type GatewayOptions } from '../gateway/gateway.ts';
import { GatewayMetrics } from '../gateway/metrics.ts';
import type { AskedCollection } from '../gateway/permitted/asked-collection.ts';
import { OwnReads } from '../gateway/permitted/own-reads.ts';
import { PermittedLists } from '../gateway/permitted/permitted-lists.ts';
import { createServedKinds } from '../gateway/permitted/served-kinds.ts';
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
  /** Whether lists and watches over the whole cluster are answered over the namespaces that the caller may see. */
  readonly permittedLists: boolean;
}

/** The options of the gateway in this configuration. */
export const toGatewayOptions = ({
  platform,
  accounts: { reservedNames },
  gateway: { allowProxySubresources, impersonation, unknownGroups, users, accounts: followed, permittedLists },
  server: { streamDrain },
}: Pick<Config, 'platform' | 'accounts' | 'gateway' | 'server'>): GatewayServiceOptions => ({
  platform,
  reservedNames,
  allowProxySubresources,
  impersonation,
  unknownGroups,
  users: users ?? (followed.enabled ? [] : undefined),
  streamDrainMs: streamDrain,
  permittedLists,
});

interface GatewayServiceParts extends Omit<Shared, 'random'> {
  readonly cluster: Pick<Cluster, 'openPassage'>;
  /** The users whom User objects choose. */
  /** Needed for permitted lists. */
  readonly scopes?: PermittedScopes | undefined;
  /** Kinds of which nobody gets a permitted list. Default: Secrets only, which never have one. */
  isDenied?(group: string, resource: string): boolean;
  readonly followed: { readonly stateOf: Parameters<typeof createGatewayAccess>[1] };
}

const NO_RIGHT =
  'our account lacks a right for permitted lists: calls of this kind are passed on as without gateway.permittedLists';
const LEFT_OUT =
  'the cluster does not let this server act as members of a group: calls go on without it (gateway.unknownGroups)';

/** The gateway to the cluster for every signed-in user. Rejects with one sentence when it cannot be made. */
export async function createGateway(
  { platform, reservedNames, streamDrainMs, users, permittedLists, ...options }: GatewayServiceOptions,
  { cluster, followed, scopes, isDenied = () => false, clock, logger, registry, events }: GatewayServiceParts,
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
    onReserved: ({ caller, requestId, auditId, address }) =>
      events.report('reserved_identity_refused', {
        result: 'refused',
        user: caller.name,
        groups: caller.withheldGroups ?? [],
        requestId,
        ownRequestId: auditId === requestId ? undefined : auditId,
        source: address,
      }),
  });
  const reads = new OwnReads(passage);
  const lists =
    permittedLists && scopes
      ? new PermittedLists({
          ...{ gateway, scopes, reads, clock, isDenied },
          kindOf: createServedKinds(reads, clock),
          onNoRight: logOnce(logger),
        })
      : undefined;
  return { routes: gatewayFamily({ gateway, events, permittedLists: lists, streamDrainMs }) };
}

/** The most kinds that are reported: more would flood the log, and a role that names them all is what is missing. */
const MOST_REPORTED = 100;

/** Logs each right once that our own account lacks. */
function logOnce(logger: GatewayServiceParts['logger']): (asked: AskedCollection) => void {
  const reported = new Set<string>();
  return ({ verb, group, resource }) => {
    const right = `${verb} ${group === '' ? resource : `${resource}.${group}`}`;
    if (reported.has(right) || reported.size >= MOST_REPORTED) return;
    reported.add(right);
    logger.warn({ right }, NO_RIGHT);
  };
}
