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
import type { HttpLimits } from './limits/http-limits.ts';
import type { HttpMetrics } from './metrics.ts';
import type { ListableKinds } from './routes/kind-discovery.ts';
import type { CallerChanges } from './watch/caller-changes.ts';
import type { CallerSteps } from './watch/recheck.ts';

/** The dependencies that every family gets to make its routes; there is one such value for a port. */
export interface RouteTools {
  /** The platform name, which is part of API groups and the realm. */
  readonly platform: string;
  readonly limits: HttpLimits;
  /** The origins that may read answers in a browser, compared exactly. */
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
  /** The steps that check the caller of a stream again while it is open. */
  readonly callerSteps: CallerSteps;
  /** Whose streams must be checked at once. */
  readonly callerChanges: CallerChanges;
  /** How long an open stream may go on after the last decision about its caller while the cluster does not answer. */
  readonly maxDecisionAgeMs: number;
  /** Aborts when the port has closed: open streams must begin to end. */
  readonly closing: AbortSignal;
  /** The share of the recent time in which the event loop was busy. */
  loopLoad(): number;
}

/** Listens to requests that are not calls to the cluster. For each, `other` is called first, and `asked` when its user is known. */
export interface OtherRequests {
  other(): void;
  asked(user: string): void;
}

/** The routes of a family, and what the port needs to know about its requests. */
export interface ServedFamily {
  readonly routes: readonly Route[];
  /** Whether a request may upgrade its connection to another protocol. Absent: none may. */
  takesUpgrade?(request: IncomingMessage): boolean;
  /** Whether the body of a request has its own time limits, so that the whole request may take long. Absent: none has. */
  pacesItself?(request: IncomingMessage): boolean;
  /** Whether the answer to a request may go on at a shutdown when other answers are cut. Absent: none may. */
  outlasts?(request: IncomingMessage): boolean;
  /** The kinds that can be listed besides those that have a route of their own. Absent: none. */
  readonly listableKinds?: ListableKinds;
  /** Absent: the family needs no notifications. */
  readonly others?: OtherRequests;
}

/**
 * A family of routes, such as the lists or the log query. The API port calls it once, when the port is created.
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
