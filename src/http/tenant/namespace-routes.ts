import { createPermittedNamespaces } from '../../authorization/permitted-namespaces.ts';
import { notFound } from '../../status-error.ts';
import { belongsTo, inWorkspace } from '../../tenant/workspace-namespaces.ts';
import { wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import { forbidden } from '../chain/authorize.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { allowedMs, LIST_HEADERS, listHandler } from '../routes/lists.ts';
import { createVisibleNamespaces, toWithin, type VisibleParts } from '../routes/visible-part.ts';
import { asksFor } from './rewritten.ts';
import type { TenantRouteParts } from './served-tenant.ts';

/** The namespaces of the caller, of a workspace and of a member of it (CO-05), and the clusters (CO-06). */
export function namespaceRoutes(parts: TenantRouteParts): Route[] {
  const { names, namespaces, defaultWorkspace, platform, scopes } = parts;
  const root = `/kapis/${names.group}/v1alpha2`;
  const workspace = `${root}/workspaces/{workspace}`;
  const own = createVisibleNamespaces(scopes, { mayBeNone: true });
  const chosen = ({ parameters: [name = ''] }: Exchange) => inWorkspace(name, names, defaultWorkspace);
  const all = listHandler(namespaces, { ...parts, visible: own });
  const ofWorkspace = listHandler(namespaces, { ...parts, visible: own, chosen });
  const ofMember = listHandler(namespaces, { ...parts, visible: memberNamespaces(parts, own), chosen });
  const one = namespaceHandler(parts, own);
  const common = {
    access: 'authorized',
    admission: 'other',
    produces: 'json',
    allowedMs,
    resolve: asksFor({ verb: 'list', group: `resources.${platform}.io`, version: 'v1alpha3', resource: 'namespaces' }),
    narrows: () => true,
  } as const;
  return [
    { ...common, template: `${root}/namespaces`, methods: { GET: all, HEAD: all } },
    { ...common, template: `${workspace}/namespaces`, methods: { GET: ofWorkspace, HEAD: ofWorkspace } },
    { ...common, template: `${workspace}/namespaces/{namespace}`, methods: { GET: one, HEAD: one } },
    {
      ...common,
      template: `${workspace}/workspacemembers/{member}/namespaces`,
      methods: { GET: ofMember, HEAD: ofMember },
    },
    ...[`${root}/clusters`, `${workspace}/clusters`].map((template) => clusters(template, parts)),
  ];
}

/** The right to all namespaces shows those of every member; nobody else sees what another person may see. */
function memberNamespaces({ authorizer, scopes, subjectOf }: TenantRouteParts, own: VisibleParts): VisibleParts {
  const permitted = createPermittedNamespaces(scopes);
  return {
    of(exchange) {
      const { identity, info } = exchange.signedIn;
      const [, member = ''] = exchange.parameters;
      if (member === identity.name) return own.of(exchange);
      if (exchange.decision?.allowed === false) throw forbidden(identity.name, info);
      const subject = subjectOf(member);
      const { verb, group, version, resource } = info;
      const seen = async () => {
        const { allowed } = await authorizer.authorize(subject, { resource: { verb, group, version, resource } });
        return allowed ? undefined : toWithin(await permitted(subject, exchange.signal));
      };
      return seen();
    },
  };
}

/** A caller who may not see the namespace gets a 403, whether it exists or not. */
function namespaceHandler(
  { names, namespaces, defaultWorkspace, writer }: TenantRouteParts,
  own: VisibleParts,
): Handler {
  return async (exchange) => {
    const { identity, info } = exchange.signedIn;
    const [workspace = '', name = ''] = exchange.parameters;
    const within = await own.of(exchange);
    if (within && !within.names.has(name)) throw forbidden(identity.name, { ...info, verb: 'get', name });
    const { lister, age } = namespaces;
    const representation = lister.get(name);
    const isIn = belongsTo(workspace, names, defaultWorkspace);
    const labels = namespaces.labelsOf(name);
    if (!representation || !isIn({ labels })) throw notFound('namespaces', name);
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds: age.staleSeconds() });
  };
}

const NO_CLUSTERS = toJsonBytes({ items: [], totalItems: 0 });

/** There is one cluster, and clients that ask for the others of a federation find none. */
function clusters(template: string, { writer }: TenantRouteParts): Route {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' };
  const handler: Handler = (exchange) => writer.send(exchange, 200, headers, wholeBody(NO_CLUSTERS));
  const common = { access: 'signed-in', admission: 'other', produces: 'json' } as const;
  return { ...common, template, methods: { GET: handler, HEAD: handler } };
}
