import type { Age, Lister } from '../../resources/cache.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import { timeoutIn } from '../../resources/query/client-parameters.ts';
import { createListQueryParser } from '../../resources/query/list-query.ts';
import { createWatchQueryParser } from '../../resources/watch/watch-query.ts';
import { notFound } from '../../status-error.ts';
import { chooseStreamForm } from '../answer/accept.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { notAcceptable } from '../answer/refusals.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { AnswerDeadline } from '../chain/answer-deadline.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { toRequestInfo } from '../request-info.ts';
import type { Watches } from '../watch/watches.ts';

/** The headers of every answer with objects of the cluster. */
export const LIST_HEADERS = { contentType: 'application/json', cacheControl: 'private, no-cache' };

/** A kind, its list in memory and the age of that list. */
export interface ListedKind {
  readonly kind: Kind;
  readonly lister: Lister;
  readonly age: Age;
}

export interface ListRouteParts extends ListedKind {
  readonly watches: Watches;
  readonly writer: AnswerWriter;
  readonly deadline: AnswerDeadline;
}

/**
 * The routes that list, get and watch a cluster-scoped kind. All answer from memory, without waiting unless the body is long.
 */
export function listRoutes({ kind, lister, age, watches, writer, deadline }: ListRouteParts): Route[] {
  const parseWatchQuery = createWatchQueryParser(kind);
  const list = listHandler({ kind, lister, age }, { writer, deadline });
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
    watches.open(exchange, { ...parseWatchQuery(exchange.target.query, known), metadataOnly }, form);
  };
  const collection = `/kapis/resources.${kind.platform}.io/v1alpha3/${kind.resource}`;
  const common = { access: 'authorized', admission: 'other', produces: 'json', allowedMs } as const;
  return [
    { ...common, template: collection, methods: { GET: list, HEAD: list }, watch, kind },
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
  { writer, deadline }: Pick<ListRouteParts, 'writer' | 'deadline'>,
): Handler {
  const parse = createListQueryParser(kind);
  return (exchange) => {
    const query = parse(exchange.target.query);
    if (query.timeoutMs !== undefined) deadline.check(exchange);
    const representation = lister.list(query);
    const staleSeconds = age.staleSeconds();
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds, deadline });
  };
}
