import type { Authorizer, ResourceAttributes, Subject } from '../../authorization/authorizer.ts';
import { filterByReview } from '../../authorization/namespace-reviews.ts';
import type { FairSeats } from '../../runtime/limits/fair-seats.ts';
import type { Scope } from '../document-query.ts';

/** A namespace that exists. */
export interface KnownNamespace {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The workspace that it belongs to, by its label. */
  readonly workspace?: string | undefined;
}

/** A namespace whose records a caller may see: all of them, or those from `since` on (milliseconds since 1970). */
export interface ReadableNamespace {
  readonly name: string;
  readonly since?: number;
}

/** The records that a caller may see. */
export type Readable =
  | { readonly everything: true }
  | { readonly everything: false; readonly namespaces: readonly ReadableNamespace[] };

export interface ReadableNamespacesParts {
  /** The right to see the documents of a namespace (`DocumentKind.right`). */
  readonly right: ResourceAttributes;
  readonly authorizer: Authorizer;
  /** The seats that the access reviews of all queries share; made by `createReviewSeats`. */
  readonly seats: FairSeats;
  /** The namespaces that exist. Throws a 503 while they are not known or too old. */
  namespaces(): readonly KnownNamespace[];
}

/**
 * The queried records that the caller may see. The set comes from rights in the cluster; the query can only make
 * it smaller. A user with the right in one namespace sees no records of an earlier namespace of the same name. A user with the right in
 * the whole cluster does, and, if the query names no namespace, also sees records of deleted namespaces. Unknown namespaces, and those
 * without the right, are left out. Rejects with a `StatusError` when a decision is missing; it never returns a smaller set instead.
 */
export async function readableNamespaces(
  subject: Subject,
  scope: Scope,
  { right, authorizer, seats, namespaces, signal }: ReadableNamespacesParts & { readonly signal: AbortSignal },
): Promise<Readable> {
  const isAllowed = async (namespace?: string): Promise<boolean> =>
    (await authorizer.authorize(subject, { resource: { ...right, ...(namespace && { namespace }) } })).allowed;
  const isEverywhere = await isAllowed();
  if (isEverywhere && Object.values(scope).every(({ length }) => length === 0)) return { everything: true };
  const wanted = namespaces().filter(isIn(scope));
  if (isEverywhere) return { everything: false, namespaces: wanted.map(({ name }) => ({ name })) };
  const reviews = { seats, subject: subject.name, signal };
  const allowed = await filterByReview(wanted, ({ name }) => isAllowed(name), reviews);
  return { everything: false, namespaces: allowed.map(({ name, createdAt }) => ({ name, since: createdAt })) };
}

function isIn({ namespaces, namespaceParts, workspaces, workspaceParts }: Scope) {
  const [names, owners] = [new Set(namespaces), new Set(workspaces)];
  const hasPart = (text: string, parts: readonly string[]): boolean => parts.some((part) => text.includes(part));
  return ({ name, workspace = '' }: KnownNamespace): boolean =>
    (names.size === 0 || names.has(name)) &&
    (namespaceParts.length === 0 || hasPart(name, namespaceParts)) &&
    (owners.size === 0 || owners.has(workspace)) &&
    (workspaceParts.length === 0 || hasPart(workspace, workspaceParts));
}
