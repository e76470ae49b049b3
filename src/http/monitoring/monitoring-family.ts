import { type MetricLevel, type MetricReader, offeredMetrics } from '../../monitoring/metric-reader.ts';
import { isNodeName, parseQuestion } from '../../monitoring/question.ts';
import { notFound } from '../../status-error.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import type { RouteFamily, RouteTools } from '../family.ts';
import { LIST_HEADERS } from '../routes/lists.ts';
import { asksFor } from '../tenant/rewritten.ts';

type AnsweringReader = Pick<MetricReader, 'answer'>;

/**
 * The metrics that 3.4's console draws. Of the cluster and of nodes they come from Prometheus, for callers who may list nodes (CO-09). Every
 * other path, and every path without Prometheus, has no results: the console shows no curves then, and no error (CO-12).
 */
export const monitoringFamily =
  (reader: AnsweringReader | undefined): RouteFamily =>
  (tools) => ({ routes: [...(reader ? metricRoutes(reader, tools) : []), emptyRoute(tools)] });

const COMMON = { admission: 'other', produces: 'json' } as const;

const rootOf = (platform: string): string => `/kapis/monitoring.${platform}.io/v1alpha3`;

function metricRoutes(reader: AnsweringReader, tools: RouteTools): Route[] {
  const { platform } = tools;
  const route = (path: string, level: MetricLevel): Route => {
    const handler = metricHandler(level, reader, tools);
    return {
      ...COMMON,
      template: `${rootOf(platform)}/${path}`,
      access: 'authorized',
      resolve: asksFor({ verb: 'list', group: `resources.${platform}.io`, version: 'v1alpha3', resource: 'nodes' }),
      methods: { GET: handler, HEAD: handler },
    };
  };
  return [route('cluster', 'cluster'), route('nodes', 'node'), route('nodes/{node}', 'node')];
}

function metricHandler(
  level: MetricLevel,
  reader: AnsweringReader,
  { writer, deadline }: Pick<RouteTools, 'writer' | 'deadline'>,
): Handler {
  return async (exchange) => {
    const question = questionOf(exchange, level);
    const made = reader.answer(level, question, exchange.signedIn.identity.name);
    // Its room is given back when the answer has been read, and when nobody waits for it any more.
    exchange.atEnd(() => {
      made.then(
        ({ release }) => release(),
        () => undefined,
      );
    });
    const { answer } = await deadline.bound(made, exchange);
    return sendRepresentation(writer, exchange, {
      ...LIST_HEADERS,
      representation: toRepresentation(toJsonBytes(answer)),
    });
  };
}

function questionOf({ target, parameters: [node] }: Exchange, level: MetricLevel) {
  const question = parseQuestion(target.query, offeredMetrics[level], level === 'node');
  if (node === undefined) return question;
  if (!isNodeName(node)) throw notFound('nodes', node);
  return { ...question, nodes: [node] };
}

const NO_RESULTS = toRepresentation(toJsonBytes({ results: [] }));

function emptyRoute({ platform, writer }: Pick<RouteTools, 'platform' | 'writer'>): Route {
  const handler: Handler = (exchange) =>
    sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation: NO_RESULTS });
  return {
    ...COMMON,
    template: `${rootOf(platform)}/*`,
    access: 'signed-in',
    methods: { GET: handler, HEAD: handler },
  };
}
