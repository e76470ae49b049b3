import type { NodeAge, NodeLister } from '../../nodes/node-lister.ts';
import { parseNodeListQuery } from '../../nodes/query/list-query.ts';
import { parseNodeWatchQuery } from '../../nodes/watch/watch-query.ts';
import { notFound } from '../../status-error.ts';
import { chooseStreamForm } from '../answer/accept.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { notAcceptable } from '../answer/refusals.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';
import type { Watches } from '../watch/watches.ts';

const HEADERS = { contentType: 'application/json', cacheControl: 'private, no-cache' };

export interface NodeRouteParts {
  readonly platform: string;
  readonly nodes: NodeLister;
  readonly age: NodeAge;
  readonly watches: Watches;
  readonly writer: AnswerWriter;
}

/**
 * The node list, the node get and the watch of the list. All are answered from memory; only a long body is waited for.
 */
export function nodeRoutes({ platform, nodes, age, watches, writer }: NodeRouteParts): Route[] {
  const list: Handler = (exchange) => {
    const representation = nodes.list(parseNodeListQuery(exchange.target.query));
    return sendRepresentation(writer, exchange, { ...HEADERS, representation, staleSeconds: age.staleSeconds() });
  };
  const get: Handler = (exchange) => {
    const [name = ''] = exchange.parameters;
    const representation = nodes.get(name);
    if (!representation) throw notFound('nodes', name);
    return sendRepresentation(writer, exchange, { ...HEADERS, representation, staleSeconds: age.staleSeconds() });
  };
  const watch: Handler = (exchange) => {
    const { accept, 'last-event-id': lastEventId } = exchange.request.headers;
    const chosen = chooseStreamForm(accept);
    if (!chosen) throw notAcceptable('text/event-stream');
    const { form, metadataOnly } = chosen;
    const known = form === 'events' && typeof lastEventId === 'string' ? lastEventId : undefined;
    watches.open(exchange, { ...parseNodeWatchQuery(exchange.target.query, known), metadataOnly }, form);
  };
  const collection = `/kapis/resources.${platform}.io/v1alpha3/nodes`;
  const common = { access: 'authorized', admission: 'other', produces: 'json' } as const;
  return [
    {
      ...common,
      template: collection,
      methods: { GET: list, HEAD: list },
      watch,
      kind: { kind: 'Node', singularName: 'node', namespaced: false, shortNames: ['no'] },
    },
    { ...common, template: `${collection}/{name}`, methods: { GET: get, HEAD: get } },
  ];
}
