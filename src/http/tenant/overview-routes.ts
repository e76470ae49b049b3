import type { QuotaOwn } from '../../kinds/words/quota-words.ts';
import { createListQueryParser } from '../../resources/query/list-query.ts';
import { quotaSums } from '../../tenant/quota-sums.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import { forbidden, toAttributes } from '../chain/authorize.ts';
import type { Exchange, Handler, Outcome, Route } from '../exchange.ts';
import { LIST_HEADERS } from '../routes/lists.ts';
import { asking } from './rewritten.ts';
import type { TenantRouteParts } from './served-tenant.ts';

const CORE = { group: '', version: 'v1' };

/** The kinds of workloads that are counted while they are not ready. */
const WORKLOADS = ['deployments', 'statefulsets', 'daemonsets'] as const;

/** The numbers that 3.4's console shows on its first pages of a namespace and of the cluster (CO-12). */
export function overviewRoutes(parts: TenantRouteParts): Route[] {
  const root = `/kapis/resources.${parts.platform}.io/v1alpha2`;
  const quotas = quotaHandler(parts);
  const workloads = workloadHandler(parts);
  const common = { admission: 'other', produces: 'json' } as const;
  const counted = { ...common, access: 'signed-in', methods: { GET: workloads, HEAD: workloads } } as const;
  return [
    {
      ...common,
      template: `${root}/namespaces/{namespace}/quotas`,
      access: 'authorized',
      resolve: asksForQuotas,
      methods: { GET: quotas, HEAD: quotas },
    },
    { ...counted, template: `${root}/namespaces/{namespace}/abnormalworkloads` },
    { ...counted, template: `${root}/abnormalworkloads` },
  ];
}

function asksForQuotas(exchange: Exchange): Outcome {
  const [namespace = ''] = exchange.parameters;
  exchange.asks(asking(exchange.signedIn.info, { ...CORE, verb: 'list', resource: 'resourcequotas', namespace }));
  return 'next';
}

function quotaHandler({ heldIfThere, writer, deadline, compareQuantities }: TenantRouteParts): Handler {
  return async (exchange) => {
    const [namespace = ''] = exchange.parameters;
    const held = await deadline.bound(heldIfThere({ group: '', resource: 'resourcequotas' }), exchange);
    const entries = held?.store.entries().filter((quota) => quota.namespace === namespace) ?? [];
    const data = quotaSums(
      entries.map(({ own }) => own as QuotaOwn),
      compareQuantities,
    );
    const representation = toRepresentation(toJsonBytes({ namespace, data }));
    const staleSeconds = held?.lister.staleSeconds();
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
  };
}

/** Counts the workloads that are not ready, of each kind that the caller may list there; 403 if that is none. */
function workloadHandler({ authorizer, heldIfThere, writer, deadline }: TenantRouteParts): Handler {
  const count = async (exchange: Exchange, resource: string): Promise<number | undefined> => {
    const { identity, info } = exchange.signedIn;
    const [namespace = ''] = exchange.parameters;
    const asked = asking(info, { verb: 'list', group: 'apps', version: 'v1', resource, namespace });
    const { allowed } = await authorizer.authorize(identity, { resource: toAttributes(asked) });
    if (!allowed) return undefined;
    const held = await heldIfThere({ group: 'apps', resource });
    if (!held) return 0;
    const query = createListQueryParser(held.kind)('status=updating&limit=0');
    return held.lister.select(query, namespace === '' ? undefined : { names: new Set([namespace]) }).total;
  };
  return async (exchange) => {
    const { identity, info } = exchange.signedIn;
    const [namespace] = exchange.parameters;
    const counts = await deadline.bound(Promise.all(WORKLOADS.map((resource) => count(exchange, resource))), exchange);
    if (counts.every((counted) => counted === undefined)) {
      const place = namespace === undefined ? {} : { namespace };
      throw forbidden(
        identity.name,
        asking(info, { verb: 'list', group: 'apps', version: 'v1', resource: WORKLOADS[0], ...place }),
      );
    }
    const data = Object.fromEntries(WORKLOADS.flatMap((resource, at) => (counts[at] ? [[resource, counts[at]]] : [])));
    const document = namespace === undefined ? { data } : { namespace, data };
    const representation = toRepresentation(toJsonBytes(document));
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation });
  };
}
