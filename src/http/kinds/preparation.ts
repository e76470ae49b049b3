import type { Authorizer } from '../../authorization/authorizer.ts';
import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import type { HeldKinds } from '../../kinds/mirrors/held-kinds.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import { firstValue } from '../../runtime/text/parameters.ts';
import { forbidden, toAttributes } from '../chain/authorize.ts';
import type { Exchange } from '../exchange.ts';

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
  const prepareServices = async (exchange: Exchange): Promise<HeldKind | undefined> => {
    const { info, identity } = exchange.signedIn;
    const services = { ...info, resource: 'services', group: '', version: 'v1', verb: 'list', name: '' };
    const { allowed } = await authorizer.authorize(identity, { resource: toAttributes(services) });
    if (!allowed) throw forbidden(identity.name, services);
    const kind = await find('', 'services');
    return kind && mirrors.hold(kind);
  };
  return ({ group, resource }, exchange) =>
    group === '' && resource === 'pods' && isByService(exchange.target.query) ? prepareServices(exchange) : undefined;
}
