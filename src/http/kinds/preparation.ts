import type { Authorizer } from '../../authorization/authorizer.ts';
import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import type { HeldKinds } from '../../kinds/mirrors/held-kinds.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import { firstValue } from '../../runtime/text/parameters.ts';
import { forbidden, toAttributes } from '../chain/authorize.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestInfo } from '../request-info.ts';

interface PreparationParts {
  readonly authorizer: Authorizer;
  readonly mirrors: Pick<HeldKinds, 'hold'>;
  /** A kind of the cluster, whether it is listed here or not. */
  find(group: string, resource: string): ClusterKind | undefined | Promise<ClusterKind | undefined>;
}

/** Brings into memory what a filter reads of another kind, if the caller may read that as well. Returns that kind, if there is one. */
export type Preparation = (kind: ClusterKind, exchange: Exchange) => undefined | Promise<HeldKind | undefined>;

/** Read as the filter itself is, so that no other spelling of the parameter passes the right by. */
const isByService = (query: string): boolean => firstValue(query, 'serviceName') !== undefined;

/**
 * The pods of a Service are chosen by its selector, so Services are read into memory, and the caller must have the right to list them where
 * the pods are listed (KD-10).
 */
export function createPreparation({ authorizer, mirrors, find }: PreparationParts): Preparation {
  const prepare = async (exchange: Exchange, services: RequestInfo): Promise<HeldKind | undefined> => {
    const { identity } = exchange.signedIn;
    // A list over a part is one over the namespaces where the caller may list Services, too.
    const isPart = exchange.decision?.allowed === false;
    if (!isPart && !(await authorizer.authorize(identity, { resource: toAttributes(services) })).allowed)
      throw forbidden(identity.name, services);
    const kind = await find('', 'services');
    return kind && mirrors.hold(kind);
  };
  return (_, exchange) => {
    const services = servicesReadBy(exchange);
    return services && prepare(exchange, services);
  };
}

/** The list of Services that a request for pods reads besides. `undefined`: it reads none. */
export function servicesReadBy(exchange: Exchange): RequestInfo | undefined {
  const { info } = exchange.signedIn;
  if (info.group !== '' || info.resource !== 'pods' || !isByService(exchange.target.query)) return undefined;
  return { ...info, resource: 'services', version: 'v1', verb: 'list', name: '' };
}
