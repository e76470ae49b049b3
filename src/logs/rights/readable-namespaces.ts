import type { Authorizer, Subject } from '../../authorization/authorizer.ts';
import { filterByReview } from '../../authorization/namespace-reviews.ts';
import type { FairSeats } from '../../runtime/limits/fair-seats.ts';
import type { LogQuery } from '../log-query.ts';

/** A namespace that exists. */
export interface KnownNamespace {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
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
  readonly authorizer: Authorizer;
  /** The seats that the access reviews of all queries share; made by `createReviewSeats`. */
  readonly seats: FairSeats;
  /** The namespaces that exist. Throws a 503 while they are not known or too old. */
  namespaces(): readonly KnownNamespace[];
}

const POD_LOGS = { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log' } as const;

/**
 * The queried records that the caller may see. The set comes from the rights to `get pods/log` in the cluster; the query can only make
 * it smaller. A user with the right in one namespace sees no records of an earlier namespace of the same name. A user with the right in
 * the whole cluster does, and, if the query names no namespace, also sees records of deleted namespaces. Unknown namespaces, and those
 * without the right, are left out. Rejects with a `StatusError` when a decision is missing; it never returns a smaller set instead.
 */
export async function readableNamespaces(
  subject: Subject,
  { namespaces: names, namespaceQueries: parts }: Pick<LogQuery, 'namespaces' | 'namespaceQueries'>,
  { authorizer, seats, namespaces, signal }: ReadableNamespacesParts & { readonly signal: AbortSignal },
): Promise<Readable> {
  const isAllowed = async (namespace?: string): Promise<boolean> =>
    (await authorizer.authorize(subject, { resource: { ...POD_LOGS, ...(namespace && { namespace }) } })).allowed;
  const isEverywhere = await isAllowed();
  if (isEverywhere && names.length === 0 && parts.length === 0) return { everything: true };
  const asked = new Set(names);
  const wanted = namespaces().filter(
    ({ name }) =>
      (names.length === 0 || asked.has(name)) && (parts.length === 0 || parts.some((part) => name.includes(part))),
  );
  if (isEverywhere) return { everything: false, namespaces: wanted.map(({ name }) => ({ name })) };
  const reviews = { seats, subject: subject.name, signal };
  const allowed = await filterByReview(wanted, ({ name }) => isAllowed(name), reviews);
  return { everything: false, namespaces: allowed.map(({ name, createdAt }) => ({ name, since: createdAt })) };
}
