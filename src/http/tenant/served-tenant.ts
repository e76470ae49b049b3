import type { Authorizer, Subject } from '../../authorization/authorizer.ts';
import type { PermittedScopes } from '../../authorization/permitted-scope.ts';
import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import type { CompareQuantities } from '../../tenant/quota-sums.ts';
import type { TenantNames } from '../../tenant/tenant-names.ts';
import type { RouteTools } from '../family.ts';
import type { ServedKinds } from '../kinds/kind-routes.ts';
import type { ListedKind } from '../routes/lists.ts';

/** What clients read about this server before anybody signs in. */
export interface ShownConfiguration {
  /** The optional parts of the platform, by the names that 3.4's console knows: whether they are served. */
  readonly features: Readonly<Record<string, boolean>>;
  /** Nanoseconds, as Go writes durations. */
  readonly accessTokenMaxAge: number;
  /** Nanoseconds; 0: no limit of its own. */
  readonly accessTokenInactivityTimeout: number;
}

/** The list of namespaces in memory. */
export interface ListedNamespaces extends ListedKind {
  /** Returns the names of all namespaces, in no order. Throws a 503 as the list does. */
  names(): readonly string[];
  /** The labels of a namespace; `undefined` without any, or if there is no such namespace. */
  labelsOf(name: string): Readonly<Record<string, string>> | undefined;
}

/** What the routes of workspaces, and those that only the console of 3.4 needs, read. */
export interface ServedTenant {
  readonly names: TenantNames;
  /** The workspace of all namespaces without one. It exists only in answers. */
  readonly defaultWorkspace: string | undefined;
  readonly namespaces: ListedNamespaces;
  readonly scopes: PermittedScopes;
  /** Absent: no other kinds are served, so workspaces and bindings count as missing. */
  readonly kinds: ServedKinds | undefined;
  readonly configuration: ShownConfiguration;
  readonly compareQuantities: CompareQuantities;
  /** A person as access reviews name one, also somebody whom we do not know. */
  subjectOf(name: string): Subject;
}

/** What each file of these routes is made of. */
export interface TenantRouteParts extends ServedTenant, Pick<RouteTools, 'platform' | 'writer' | 'deadline'> {
  readonly authorizer: Authorizer;
  readonly heldIfThere: HeldIfThere;
}

/** The name of a kind in the cluster. */
interface NamedGroup {
  readonly group: string;
  readonly resource: string;
}

/** A kind in memory, after its first list; `undefined` if the cluster does not have it, or the configuration does not list it. */
export type HeldIfThere = (kind: NamedGroup) => Promise<HeldKind | undefined>;

/** Workspaces and what belongs to them are custom resources, which may be missing. */
export const createHeldIfThere =
  (kinds: ServedKinds | undefined): HeldIfThere =>
  async ({ group, resource }) => {
    const answer = await kinds?.catalog.resolve(group === '' ? resource : `${resource}.${group}`);
    if (!kinds || !answer || !('kind' in answer)) return undefined;
    const held = await kinds.mirrors.hold(answer.kind);
    held.lister.refresh(); // a 503 if it is too old
    return held;
  };
