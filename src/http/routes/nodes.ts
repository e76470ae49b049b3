import { parseNodeListQuery } from '../../nodes/list-query.ts';
import type { NodeLister } from '../../nodes/node-lister.ts';
import { notFound } from '../../status-error.ts';
import type { AnswerWriter } from '../answer.ts';
import type { Handler, Route } from '../route-table.ts';
import { sendRepresentation } from '../send-representation.ts';

const HEADERS = { contentType: 'application/json', cacheControl: 'private, no-cache' };

/** The node list and the node get: memory only, nothing awaited. */
export function nodeRoutes(platform: string, nodes: NodeLister, writer: AnswerWriter): Route[] {
  const list: Handler = (exchange) => {
    const representation = nodes.list(parseNodeListQuery(exchange.target.query));
    sendRepresentation(writer, exchange, { ...HEADERS, representation });
  };
  const get: Handler = (exchange) => {
    const [name = ''] = exchange.parameters;
    const representation = nodes.get(name);
    if (!representation) throw notFound('nodes', name);
    sendRepresentation(writer, exchange, { ...HEADERS, representation });
  };
  const collection = `/kapis/resources.${platform}.io/v1alpha3/nodes`;
  const common = { access: 'authorized', admission: 'other', produces: 'json' } as const;
  return [
    {
      ...common,
      template: collection,
      methods: { GET: list, HEAD: list },
      kind: { kind: 'Node', singularName: 'node', namespaced: false, shortNames: ['no'] },
    },
    { ...common, template: `${collection}/{name}`, methods: { GET: get, HEAD: get } },
  ];
}
