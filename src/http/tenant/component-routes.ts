import { mapAtOnce } from '../../runtime/limits/map-at-once.ts';
import { notFound } from '../../status-error.ts';
import { type Component, componentsOf, systemNamespacesIn } from '../../tenant/components.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { LIST_HEADERS } from '../routes/lists.ts';
import type { TenantRouteParts } from './served-tenant.ts';

const LIST_PODS = { verb: 'list', group: '', version: 'v1', resource: 'pods' };
/** There are at most seven namespaces of the system. */
const AT_ONCE = 8;

/**
 * The Services of the system with how many of their back ends are ready (CO-08), in the namespaces where the caller may list pods. Who may
 * do that nowhere gets an empty array: the home page of the console asks for everybody.
 */
export function componentRoutes(parts: TenantRouteParts): Route[] {
  const { platform, writer, deadline } = parts;
  const template = `/kapis/resources.${platform}.io/v1alpha2/components`;
  const route = (path: string, toDocument: (all: readonly Component[], exchange: Exchange) => unknown): Route => {
    const handler: Handler = async (exchange) => {
      const { components, staleSeconds } = await deadline.bound(seenBy(exchange, parts), exchange);
      const representation = toRepresentation(toJsonBytes(toDocument(components, exchange)));
      return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
    };
    const common = { access: 'signed-in', admission: 'other', produces: 'json' } as const;
    return { ...common, template: path, methods: { GET: handler, HEAD: handler } };
  };
  return [
    route(template, (all) => all),
    route(`${template}/{component}`, (all, { parameters: [name = ''] }) => {
      const found = all.find((component) => component.name === name);
      if (!found) throw notFound('components', name);
      return found;
    }),
  ];
}

async function seenBy(
  { signedIn: { identity }, signal }: Exchange,
  { authorizer, heldIfThere, namespaces, platform }: TenantRouteParts,
) {
  const passes = async (namespace: string): Promise<string[]> => {
    const { allowed } = await authorizer.authorize(identity, { resource: { ...LIST_PODS, namespace } });
    return allowed ? [namespace] : [];
  };
  const asked = systemNamespacesIn(namespaces.names(), platform);
  const seen = new Set((await mapAtOnce(asked, passes, { most: AT_ONCE, signal })).flat());
  const held =
    seen.size === 0 ? undefined : await heldIfThere({ group: 'discovery.k8s.io', resource: 'endpointslices' });
  const components = held ? componentsOf(held.store.entries(), seen) : [];
  return { components, staleSeconds: held?.lister.staleSeconds() };
}
