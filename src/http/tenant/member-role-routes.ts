import type { Subject } from '../../authorization/authorizer.ts';
import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import { aggregatedNames } from '../../kinds/words/role-words.ts';
import { objectComposer } from '../../resources/bytes/list-body.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import { typeMembers } from '../../resources/entries/object-kind.ts';
import { ORDERS } from '../../resources/entries/ordered-index.ts';
import { atOnce } from '../../runtime/time-slices.ts';
import { createBindingsOf, rolesIn } from '../../tenant/memberships.ts';
import { isClusterOwn } from '../../users/user.ts';
import { toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import { forbidden, toAttributes } from '../chain/authorize.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { LIST_HEADERS } from '../routes/lists.ts';
import { asking } from './rewritten.ts';
import type { TenantRouteParts } from './served-tenant.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Which bindings of a member are meant. */
interface AskedRoles {
  readonly member: string;
  readonly group: string;
  readonly version: string;
  /** The plural of the bindings. */
  readonly resource: string;
  /** The namespace of the bindings and of their Roles; `''` for those of the cluster. */
  readonly namespace: string;
  readonly holds?: (binding: Entry) => boolean;
}

/**
 * The roles that a member has in the cluster, in a workspace and in a namespace (CO-07): those that the bindings of the cluster give, or the
 * roles of which such a role says in an annotation that it consists. They need no right for oneself, and for others the right to list these
 * bindings.
 */
export function memberRoleRoutes(parts: TenantRouteParts): Route[] {
  const { names } = parts;
  const root = `/kapis/${names.iamGroup}/v1alpha2`;
  const reads = new MemberRoles(parts);
  const route = (path: string, asked: (parameters: readonly string[]) => AskedRoles): Route => {
    const handler = reads.handler(asked);
    const common = { access: 'signed-in', admission: 'other', produces: 'json' } as const;
    return { ...common, template: `${root}/${path}`, methods: { GET: handler, HEAD: handler } };
  };
  const ofCluster = { group: RBAC, version: 'v1', namespace: '' };
  const ofWorkspace = { group: names.iamGroup, version: 'v1alpha2', namespace: '' };
  return [
    route('clustermembers/{member}/clusterroles', ([member = '']) => ({
      ...ofCluster,
      member,
      resource: 'clusterrolebindings',
    })),
    route('workspaces/{workspace}/workspacemembers/{member}/workspaceroles', ([workspace = '', member = '']) => ({
      ...ofWorkspace,
      member,
      resource: 'workspacerolebindings',
      holds: ({ labels }) => labels?.[names.workspaceLabel] === workspace,
    })),
    route('namespaces/{namespace}/members/{member}/roles', ([namespace = '', member = '']) => ({
      ...ofCluster,
      member,
      resource: 'rolebindings',
      namespace,
      holds: (binding) => binding.namespace === namespace,
    })),
  ];
}

class MemberRoles {
  readonly #parts: TenantRouteParts;
  readonly #bindingsOf = createBindingsOf();

  constructor(parts: TenantRouteParts) {
    this.#parts = parts;
  }

  handler(toAsked: (parameters: readonly string[]) => AskedRoles): Handler {
    const { writer, deadline } = this.#parts;
    return async (exchange) => {
      const asked = toAsked(exchange.parameters);
      const roles = await deadline.bound(this.#rolesOf(exchange, asked), exchange);
      return sendRepresentation(writer, exchange, {
        ...LIST_HEADERS,
        representation: toRepresentation(arrayOf(roles)),
      });
    };
  }

  async #rolesOf(exchange: Exchange, asked: AskedRoles): Promise<readonly Role[]> {
    const { heldIfThere } = this.#parts;
    const subject = await this.#judged(exchange, asked);
    const bindings = await heldIfThere(asked);
    if (!bindings) return [];
    const own = this.#bindingsOf(bindings.store, subject).filter(asked.holds ?? (() => true));
    const found = await Promise.all(rolesIn(own).map((role) => this.#constituents(role, asked, exchange.signal)));
    return [
      ...new Map(found.flat().map((role) => [`${role.held.clusterKind.resource} ${role.entry.key}`, role])).values(),
    ];
  }

  /** The member, if the caller may see what roles that member has. */
  async #judged(exchange: Exchange, { member, ...bindings }: AskedRoles): Promise<Subject> {
    const { authorizer, subjectOf } = this.#parts;
    const { identity, info } = exchange.signedIn;
    if (member === identity.name && !isClusterOwn(member)) return identity;
    const { group, version, resource, namespace } = bindings;
    const asked = asking(info, { verb: 'list', group, version, resource, namespace });
    const { allowed } = await authorizer.authorize(identity, { resource: toAttributes(asked) });
    if (!allowed) throw forbidden(identity.name, asked);
    return subjectOf(member);
  }

  /** The roles of which this one consists; the role itself if it names none. */
  async #constituents(role: string, { namespace }: AskedRoles, signal: AbortSignal): Promise<readonly Role[]> {
    const { names, heldIfThere, kinds } = this.#parts;
    const [kind = '', name = ''] = role.split('/');
    const collection = collectionOf(kind, names.iamGroup);
    const held = collection && (await heldIfThere(collection));
    if (!held || !kinds) return [];
    const place = held.clusterKind.namespaced ? namespace : '';
    const keyOf = (one: string): string => (place === '' ? one : `${place}/${one}`);
    const annotation = held.store.get(keyOf(name))?.annotations?.[`${names.iamGroup}/aggregation-roles`];
    const aggregated = aggregatedNames(annotation);
    const wanted = aggregated.size === 0 ? [name] : [...aggregated];
    const there = wanted.map((one) => held.store.get(keyOf(one))).filter((entry) => entry !== undefined);
    const entries = held.way === 'whole' ? there : await kinds.objects.entries(held.clusterKind, there, signal);
    return entries.map((entry) => ({ held, entry }));
  }
}

/** The collection of the roles to which a binding may refer. */
function collectionOf(kind: string, iamGroup: string) {
  if (kind === 'ClusterRole') return { group: RBAC, resource: 'clusterroles' };
  if (kind === 'Role') return { group: RBAC, resource: 'roles' };
  return kind === 'WorkspaceRole' ? { group: iamGroup, resource: 'workspaceroles' } : undefined;
}

interface Role {
  readonly held: HeldKind;
  readonly entry: Entry;
}

const COMMA = Buffer.from(',');

/** A JSON array, the newest first. Roles of several kinds may be in it, so each says what it is. */
function arrayOf(roles: readonly Role[]): Uint8Array {
  const ordered = roles.toSorted((a, b) => ORDERS.creationTimestamp(a.entry, b.entry));
  const items = ordered.flatMap(({ held, entry }, at) => {
    const bytes = atOnce(objectComposer(entry.encoded, typeMembers(held.kind)).identity());
    return at === 0 ? bytes : [COMMA, ...bytes];
  });
  return Buffer.concat([Buffer.from('['), ...items, Buffer.from(']')]);
}
