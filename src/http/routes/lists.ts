import type { Age, Lister } from '../../resources/cache.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import { timeoutIn } from '../../resources/query/client-parameters.ts';
import { createListQueryParser, type FilterTerm, type ListQuery, withTerm } from '../../resources/query/list-query.ts';
import type { Within } from '../../resources/query/within.ts';
import { createWatchQueryParser } from '../../resources/watch/watch-query.ts';
import { notFound } from '../../status-error.ts';
import { chooseStreamForm } from '../answer/accept.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { notAcceptable } from '../answer/refusals.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { AnswerDeadline } from '../chain/answer-deadline.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import type { RouteTools } from '../family.ts';
import { toRequestInfo } from '../request-info.ts';
import type { Watches } from '../watch/watches.ts';
import { scopeHeaders, type VisibleParts } from './visible-part.ts';

/** The headers of every answer with objects of the cluster. */
export const LIST_HEADERS = { contentType: 'application/json', cacheControl: 'private, no-cache' };

/** A kind, its list in memory and the age of that list. */
export interface ListedKind {
  readonly kind: Kind;
  readonly lister: Lister;
  readonly age: Age;
}

export interface ListRouteParts extends ListedKind, Pick<RouteTools, 'platform'> {
  /** What callers without the right to the whole list may see of it. Absent: nothing. */
  readonly visible?: VisibleParts | undefined;
  readonly watches: Watches;
  readonly writer: AnswerWriter;
  readonly deadline: AnswerDeadline;
}

/**
 * The routes that list, get and watch a cluster-scoped kind. All answer from memory, without waiting unless the body is long.
 */
export function listRoutes(parts: ListRouteParts): Route[] {
  const { kind, lister, age, watches, writer, platform, visible } = parts;
  const parseWatchQuery = createWatchQueryParser(kind);
  const list = listHandler({ kind, lister, age }, parts);
  const get: Handler = (exchange) => {
    const [name = ''] = exchange.parameters;
    const representation = lister.get(name);
    if (!representation) throw notFound(kind.resource, name);
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds: age.staleSeconds() });
  };
  const watch: Handler = (exchange) => {
    const { accept, 'last-event-id': lastEventId } = exchange.request.headers;
    const chosen = chooseStreamForm(accept);
    if (!chosen) throw notAcceptable('text/event-stream');
    const { form, metadataOnly } = chosen;
    const known = form === 'events' ? String(lastEventId ?? '') : undefined;
    const open = (within: Within | undefined): void => {
      const query = { ...parseWatchQuery(exchange.target.query, known), metadataOnly, ...(within ? { within } : {}) };
      watches.open(exchange, query, form, scopeHeaders(platform, within));
    };
    const within = visible?.of(exchange);
    return within instanceof Promise ? within.then(open) : open(within);
  };
  const collection = `/kapis/resources.${kind.platform}.io/v1alpha3/${kind.resource}`;
  const common = { access: 'authorized', admission: 'other', produces: 'json', allowedMs } as const;
  return [
    { ...common, template: collection, methods: { GET: list, HEAD: list }, watch, kind, ...narrowing(parts) },
    { ...common, template: `${collection}/{name}`, methods: { GET: get, HEAD: get } },
  ];
}

/**
 * The time limit of a read that its caller sets with `timeout`. A watch ends only by `timeoutSeconds`, as it does in the API server.
 */
export function allowedMs({ request, target }: Exchange): number | undefined {
  const timeoutMs = timeoutIn(target.query);
  if (timeoutMs === undefined) return undefined;
  const info = toRequestInfo(request.method ?? '', target.segments, target.query);
  return 'fault' in info || info.verb === 'watch' ? undefined : timeoutMs;
}

/** Answers a list request, with the query parameters that the kind has. */
export function listHandler(
  { kind, lister, age }: ListedKind,
  { writer, deadline, platform = '', visible, chosen }: ListHandlerParts,
): Handler {
  const parse = createListQueryParser(kind);
  const read = (exchange: Exchange): ListQuery => {
    const query = parse(exchange.target.query);
    return chosen ? withTerm(query, chosen(exchange)) : query;
  };
  return (exchange) => {
    const send = (within: Within | undefined): void | Promise<void> => {
      const query = read(exchange);
      if (query.timeoutMs !== undefined) deadline.check(exchange);
      const representation = lister.list(query, within);
      const staleSeconds = age.staleSeconds();
      const further = scopeHeaders(platform, within);
      return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds, further, deadline });
    };
    const within = visible?.of(exchange);
    return within instanceof Promise ? within.then(send) : send(within);
  };
}

interface ListHandlerParts
  extends Pick<ListRouteParts, 'writer' | 'deadline' | 'visible'>,
    Partial<Pick<ListRouteParts, 'platform'>> {
  /** What the path chooses of the list, besides the filters of the query. Absent: all. */
  readonly chosen?: (exchange: Exchange) => FilterTerm;
}

/** The parameter by which a caller without the right to all asks for what they may see. */
const PERMITTED = /(?:^|&)permitted=(?:1|t|T|TRUE|true|True)(?:&|$)/;

/**
 * Who may not list all namespaces gets those that they may see, if they ask for that. On the platform kubesphere they always do, because
 * its console asks so.
 */
function narrowing({ visible, platform }: ListRouteParts): Pick<Route, 'narrows'> {
  if (!visible) return {};
  return { narrows: ({ target }) => platform === 'kubesphere' || PERMITTED.test(target.query) };
}
