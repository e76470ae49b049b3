import type { Subject } from '../../authorization/authorizer.ts';
import type { PermittedScopes } from '../../authorization/permitted-scope.ts';
import type { ObjectSearch } from '../../kinds/search/object-search.ts';
import { parseSearchQuery, type SearchQuery } from '../../kinds/search/parse-search.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';
import type { RouteTools } from '../family.ts';
import { allowedMs, LIST_HEADERS } from '../routes/lists.ts';
import { createVisibleKinds } from './visible-kinds.ts';

/** What the route needs of the kinds of the cluster. */
export interface ServedSearch {
  readonly objects: ObjectSearch;
  readonly scopes: PermittedScopes;
}

export interface SearchRouteParts
  extends Pick<RouteTools, 'platform' | 'writer' | 'deadline' | 'authorizer'>,
    ServedSearch {}

/**
 * The route that searches all kinds in memory at once, over what the caller may see (KD-40, KD-41). First the kinds that have a match are
 * found, and then the cluster is asked about the caller's rights to these alone: a made-up word costs the cluster nothing. So that the answer
 * does not tell whether something exists that the caller may not see, it says nothing about kinds to which the caller has no right.
 */
export function searchRoute(parts: SearchRouteParts): Route {
  const { platform, writer, deadline, objects } = parts;
  const visibleKinds = createVisibleKinds(parts);
  const answer = async ({ sought, limit }: SearchQuery, subject: Subject, signal: AbortSignal) => {
    const scope = await objects.scope();
    const matched = await objects.matched(scope.kinds, sought);
    const visible = await visibleKinds(matched, subject, signal);
    const ranked = await objects.ranked(visible, sought, limit);
    return { representation: objects.answer(ranked, scope), staleSeconds: scope.staleSeconds };
  };
  const search: Handler = async (exchange) => {
    const query = parseSearchQuery(exchange.target.query);
    const answered = answer(query, exchange.signedIn.identity, exchange.signal);
    const headers = { ...LIST_HEADERS, ...(await deadline.bound(answered, exchange)), deadline };
    return sendRepresentation(writer, exchange, headers);
  };
  return {
    template: `/kapis/resources.${platform}.io/v1alpha3/search`,
    access: 'signed-in',
    admission: 'other',
    produces: 'json',
    allowedMs,
    methods: { GET: search, HEAD: search },
  };
}
