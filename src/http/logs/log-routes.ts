import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogQuery } from '../../logs/log-query.ts';
import type { LogReader } from '../../logs/log-reader.ts';
import { parseLogQuery } from '../../logs/query/parse-log-query.ts';
import { notConfigured, tooManyLargeAnswers } from '../../logs/refusals.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ByteBudget } from '../../runtime/limits/byte-budget.ts';
import { acceptsJson, chooseCoding } from '../answer/accept.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import { notAcceptable } from '../answer/refusals.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import { UserSeats } from '../limits/user-seats.ts';
import { type ServedLogs, sendExport } from './export-answer.ts';
import { withdrawnLogRoutes } from './withdrawn.ts';

interface LogRouteParts {
  readonly platform: string;
  /** Absent: no log store is configured. */
  readonly logs?: ServedLogs | undefined;
  readonly seats: UserSeats;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  /** The client of an export that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
}

const compress = promisify(gzip);
/** Smaller answers are not compressed, because gzip gains nothing there; lists have the same limit. */
const MIN_GZIP_BYTES = 1_024;
/** The most bytes of all answers that clients have not read yet. Four of the longest answers fit. */
const MOST_UNSENT_BYTES = 64 * 1024 * 1024;

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Vary: 'Accept-Encoding' };

/** The log query, and the log endpoints that were withdrawn. Without a store, callers with the right get a 404 that says so. */
export const logFamily =
  (logs: ServedLogs | undefined): RouteFamily =>
  ({ platform, limits, metrics, writer, clock }) => {
    const { maxLogQueries: all, maxLogQueriesPerUser: perUser, sendTimeoutMs } = limits;
    const refused = (isPerUser: boolean): void => metrics.rejected(isPerUser ? 'log_queries_per_user' : 'log_queries');
    const seats = new UserSeats({ all, perUser, refused });
    logs?.showInFlight(() => seats.taken);
    const parts = { platform, logs, seats, writer, clock, sendTimeoutMs };
    return { routes: [...logRoutes(parts), ...withdrawnLogRoutes(platform)] };
  };

/** The endpoint of log queries. Without a store it answers 404 to callers with the right, and discovery does not name it. */
function logRoutes(parts: LogRouteParts): Route[] {
  const { platform, logs } = parts;
  const handler = logs ? createHandler(logs, parts) : refuse;
  return [
    {
      template: `/kapis/tenant.${platform}.io/v1alpha2/logs`,
      access: 'authorized',
      admission: 'other',
      produces: 'any',
      methods: { GET: handler, HEAD: handler },
      ...(logs ? { kind: { kind: 'Log', singularName: 'log', namespaced: false, shortNames: [] } } : {}),
    },
  ];
}

const refuse: Handler = () => {
  throw notConfigured();
};

function createHandler(logs: ServedLogs, parts: LogRouteParts): Handler {
  const { seats, writer, clock } = parts;
  const unsent = new ByteBudget(MOST_UNSENT_BYTES);
  return async (exchange) => {
    const { signedIn, target, request } = exchange;
    const query = parseLogQuery(target.query, clock.now());
    const accept = request.headers.accept;
    if (query.operation !== 'export' && !acceptsJson(accept)) throw notAcceptable();
    exchange.atEnd(seats.take(signedIn.identity.name));
    try {
      if (query.operation === 'export') await sendExport(exchange, query, { ...parts, logs, unsent });
      else await sendAnswer(exchange, query, { reader: logs.reader, writer, unsent });
    } catch (error) {
      // A client that has gone gets no answer, and its line of the access log is already written.
      if (!exchange.response.destroyed) throw error;
    }
  };
}

async function sendAnswer(
  exchange: Exchange,
  query: LogQuery,
  {
    reader,
    writer,
    unsent,
  }: { readonly reader: LogReader; readonly writer: AnswerWriter; readonly unsent: ByteBudget },
): Promise<void> {
  const { signedIn, request, signal } = exchange;
  const bytes = toJsonBytes(await reader.answer(signedIn.identity, query, signal));
  if (!unsent.take(bytes.length)) throw tooManyLargeAnswers();
  exchange.atEnd(() => unsent.give(bytes.length));
  const wanted = chooseCoding(request.headers['accept-encoding'] as string | undefined);
  exchange.coding = bytes.length < MIN_GZIP_BYTES ? 'identity' : wanted;
  if (exchange.coding === 'identity') return writer.send(exchange, 200, HEADERS, wholeBody(bytes));
  const compressed = await compress(bytes);
  writer.send(exchange, 200, { ...HEADERS, 'Content-Encoding': 'gzip' }, wholeBody(compressed));
}
