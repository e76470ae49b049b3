import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { DocumentQuery } from '../../documents/document-query.ts';
import { QueryParser } from '../../documents/query/parse-query.ts';
import { NothingReadable, notConfigured, tooManyLargeAnswers } from '../../documents/refusals.ts';
import type { Clock } from '../../runtime/clock.ts';
import { ByteBudget } from '../../runtime/limits/byte-budget.ts';
import { acceptsJson, chooseCoding } from '../answer/accept.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import { notAcceptable } from '../answer/refusals.ts';
import { forbidden } from '../chain/authorize.ts';
import type { Exchange, Handler, Route, Step } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import { UserSeats } from '../limits/user-seats.ts';
import { type ServedDocuments, sendExport } from './export-answer.ts';
import { withdrawnLogRoutes } from './withdrawn.ts';

/** The kinds of documents that are served. A kind without a store is absent. */
export interface DocumentFamilyOptions {
  readonly logs?: ServedDocuments | undefined;
  readonly events?: ServedDocuments | undefined;
  readonly audit?: ServedDocuments | undefined;
  /** Called once with a function that returns the number of queries in flight. */
  showInFlight?(count: () => number): void;
  /** Called for each query of audit records that has begun (AU-05). */
  onAuditRead(exchange: Exchange, query: DocumentQuery): void;
}

interface DocumentRouteParts {
  readonly seats: UserSeats;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  /** The client of an export that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
  /** Bounds the bytes of all answers that clients have not read yet. */
  readonly unsent: ByteBudget;
}

const compress = promisify(gzip);
/** Smaller answers are not compressed, because gzip gains nothing there; lists have the same limit. */
const MIN_GZIP_BYTES = 1_024;
/** The most bytes of all answers that clients have not read yet. Four of the longest answers fit. */
const MOST_UNSENT_BYTES = 64 * 1024 * 1024;

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Vary: 'Accept-Encoding' };

/**
 * The queries of logs, events and audit records, and the log endpoints that were withdrawn. Without a store of a kind, callers with the
 * right get a 404 that says so, and discovery does not name it.
 */
export const documentFamily =
  ({ logs, events, audit, showInFlight, onAuditRead }: DocumentFamilyOptions): RouteFamily =>
  ({ platform, limits, metrics, writer, clock }) => {
    const { maxLogQueries: all, maxLogQueriesPerUser: perUser, sendTimeoutMs } = limits;
    const refused = (isPerUser: boolean): void => metrics.rejected(isPerUser ? 'log_queries_per_user' : 'log_queries');
    const seats = new UserSeats({ all, perUser, refused });
    showInFlight?.(() => seats.taken);
    const parts = { seats, writer, clock, sendTimeoutMs, unsent: new ByteBudget(MOST_UNSENT_BYTES) };
    const base = `/kapis/tenant.${platform}.io/v1alpha2`;
    const route = (path: string, served: ServedDocuments | undefined, what: string): Route =>
      documentRoute(`${base}/${path}`, served ? createHandler(served, parts) : refuse(what));
    return {
      routes: [
        { ...route('logs', logs, 'logging'), ...(logs ? { kind: LOG } : {}) },
        { ...route('events', events, 'the search of events'), ...(events ? { kind: EVENT } : {}) },
        {
          ...route('auditing/events', audit, 'the search of audit records'),
          resolve: asAuditEvents,
          // Who has the right in some namespaces sees the records of these (AU-01).
          narrows: () => audit !== undefined,
          methods: readBy(
            audit ? createHandler({ ...audit, onRead: onAuditRead }, parts) : refuse('the search of audit records'),
          ),
        },
        ...withdrawnLogRoutes(platform),
      ],
    };
  };

const LOG = { kind: 'Log', singularName: 'log', namespaced: false, shortNames: [] };
const EVENT = { kind: 'Event', singularName: 'event', namespaced: false, shortNames: [] };

const readBy = (handler: Handler): Route['methods'] => ({ GET: handler, HEAD: handler });

const documentRoute = (template: string, handler: Handler): Route => ({
  template,
  access: 'authorized',
  admission: 'other',
  produces: 'any',
  methods: readBy(handler),
});

/** The path of audit records has the form of an object `events` of the kind `auditing`; the right is to list `auditevents`. */
const asAuditEvents: Step = (exchange) => {
  exchange.asks({ ...exchange.signedIn.info, verb: 'list', resource: 'auditevents', name: '' });
  return 'next';
};

const refuse =
  (what: string): Handler =>
  () => {
    throw notConfigured(what);
  };

function createHandler(served: ServedDocuments, parts: DocumentRouteParts): Handler {
  const { seats, clock } = parts;
  const parser = new QueryParser(served.reader.kind);
  return async (exchange) => {
    const { signedIn, target, request } = exchange;
    const query = parser.parse(target.query, clock.now());
    const accept = request.headers.accept;
    if (query.operation !== 'export' && !acceptsJson(accept)) throw notAcceptable();
    exchange.atEnd(seats.take(signedIn.identity.name));
    served.onRead?.(exchange, query);
    try {
      if (query.operation === 'export') await sendExport(exchange, query, { ...parts, served });
      else await sendAnswer(exchange, query, { ...parts, served });
    } catch (error) {
      // A client that has gone gets no answer, and its line of the access log is already written.
      if (exchange.response.destroyed) return;
      throw error instanceof NothingReadable ? forbidden(signedIn.identity.name, signedIn.info) : error;
    }
  };
}

async function sendAnswer(
  exchange: Exchange,
  query: DocumentQuery,
  { served: { reader, warning }, writer, unsent }: DocumentRouteParts & { readonly served: ServedDocuments },
): Promise<void> {
  const { signedIn, request, signal } = exchange;
  const bytes = toJsonBytes(await reader.answer(signedIn.identity, query, signal));
  if (!unsent.take(bytes.length)) throw tooManyLargeAnswers();
  exchange.atEnd(() => unsent.give(bytes.length));
  const wanted = chooseCoding(request.headers['accept-encoding'] as string | undefined);
  exchange.coding = bytes.length < MIN_GZIP_BYTES ? 'identity' : wanted;
  const headers = warning === undefined ? HEADERS : { ...HEADERS, Warning: `299 - "${warning}"` };
  if (exchange.coding === 'identity') return writer.send(exchange, 200, headers, wholeBody(bytes));
  const compressed = await compress(bytes);
  writer.send(exchange, 200, { ...headers, 'Content-Encoding': 'gzip' }, wholeBody(compressed));
}
