import type { IncomingMessage } from 'node:http';
import type { Registry } from 'prom-client';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { AnswerWriter } from './answer/answer.ts';
import type { BodyReader } from './answer/read-body.ts';
import type { AnswerDeadline } from './chain/answer-deadline.ts';
import type { Route } from './exchange.ts';
import type { HttpLimits } from './limits.ts';
import type { HttpMetrics } from './metrics.ts';
import type { CallerSteps } from './watch/recheck.ts';

/** What the routes of every family are made with. There is one for a port. */
export interface RouteTools {
  /** Names the API groups and the realm. */
  readonly platform: string;
  readonly limits: HttpLimits;
  /** Origins that may read answers from a browser, compared exactly. */
  readonly corsOrigins: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: HttpMetrics;
  readonly writer: AnswerWriter;
  readonly bodies: BodyReader;
  readonly deadline: AnswerDeadline;
  readonly authorizer: Authorizer;
  /** Judge the caller of a stream again while it goes on. */
  readonly callerSteps: CallerSteps;
  /** How long an open stream may go on after the last decision about its caller, while the cluster gives no new one. */
  readonly maxDecisionAgeMs: number;
  /** Aborts when the port has closed: open streams must end then. */
  readonly closing: AbortSignal;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
}

/** Hears of the requests that are no calls to the cluster: that one has come, and whose it is. */
export interface OtherRequests {
  other(): void;
  asked(user: string): void;
}

/** What one family serves, and what the port has to know of it. */
export interface ServedFamily {
  readonly routes: readonly Route[];
  /** Whether the request may turn its connection into another protocol. Absent: none may. */
  takesUpgrade?(request: IncomingMessage): boolean;
  /** Whether the body of a request has its own time limits: it may take long as a whole. Absent: none has. */
  pacesItself?(request: IncomingMessage): boolean;
  /** Whether the answer to a request may go on at a shutdown when those of others are cut. Absent: none may. */
  outlasts?(request: IncomingMessage): boolean;
  /** Absent: the family does not care. */
  readonly others?: OtherRequests;
}

/**
 * A family of routes, such as the lists or the log query, as the API port takes it. It is called once, when the port is
 * made.
 * @example
 * ```ts
 * const greetings: RouteFamily = ({ writer }) => {
 *   const GET: Handler = (exchange) => {
 *     const text = `hello ${exchange.parameters[0]}`;
 *     writer.send(exchange, 200, { 'Content-Type': 'text/plain' }, wholeBody(Buffer.from(text)));
 *   };
 *   const template = '/hello/{name}';
 *   return { routes: [{ template, access: 'public', admission: 'other', produces: 'any', methods: { GET } }] };
 * };
 *
 * const app = await startApp({ families: [greetings] }); // test/integration/http/app-under-test.ts
 * const answer = await app.get('/hello/ada').then((response) => response.text());
 * await app.stop();
 * assert.equal(answer, 'hello ada');
 * ```
 */
export type RouteFamily = (tools: RouteTools) => ServedFamily;
