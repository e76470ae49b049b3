import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from '../../observability/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { createAccessLog } from '../access-log.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import type { Exchange, Step } from '../exchange.ts';
import { type BeginParts, begin } from './begin.ts';
import { writeError } from './error-writer.ts';
import { createRequestIds } from './request-id.ts';

/** What a port serves, and the classes that its messages are made from. */
export interface App {
  handle(request: IncomingMessage, response: ServerResponse): void;
  readonly classes: {
    readonly IncomingMessage: typeof IncomingMessage;
    readonly ServerResponse: typeof ServerResponse;
  };
}

export interface ChainParts extends Omit<BeginParts, 'log' | 'nextId'> {
  readonly writer: AnswerWriter;
  readonly random: Random;
  readonly logger: Logger;
}

interface Locals extends Record<string, unknown> {
  readonly exchange: Exchange;
}

type Run = (request: IncomingMessage, response: ServerResponse, last: (error: unknown) => void) => void;

/** An app of these steps in this order, with the one error writer behind them. */
export function createChain(steps: readonly Step[], parts: ChainParts): App {
  const { writer, clock, metrics, cors } = parts;
  const beginning = {
    clock,
    metrics,
    cors,
    log: createAccessLog(parts.logger),
    nextId: createRequestIds(parts.random),
  };
  const app = express().disable('x-powered-by').disable('etag').disable('query parser');
  app.use(toHandler(steps)).use(toErrorHandler(writer));
  const run = app as unknown as Run;
  return {
    handle: (request, response) => {
      const exchange = begin(request, response, beginning);
      (response as ServerResponse & { locals: Locals }).locals = { exchange };
      // Express parses `url` by itself, so it gets a constant. The guard reads the target as it was sent.
      request.url = '/';
      run(request, response, (error) => writeError(writer, exchange, error));
    },
    classes: messageClasses(app),
  };
}

/** One Express layer runs all steps: a layer for each would cost more than the steps of a list request do. */
function toHandler(steps: readonly Step[]): RequestHandler<object, unknown, unknown, object, Locals> {
  return (_request, response) => runFrom(steps, 0, response.locals.exchange);
}

/** Runs the steps until one has answered. A step that need not wait returns no promise, so the hot path makes none. */
function runFrom(steps: readonly Step[], first: number, exchange: Exchange): void | Promise<void> {
  for (let index = first; index < steps.length; index++) {
    const outcome = (steps[index] as Step)(exchange);
    if (outcome === 'answered') return undefined;
    if (outcome !== 'next') {
      return outcome.then((settled) => (settled === 'next' ? runFrom(steps, index + 1, exchange) : undefined));
    }
  }
  throw new Error('the last step of the chain has to answer');
}

/** Express recognizes an error handler by its four parameters. */
function toErrorHandler(writer: AnswerWriter): ErrorRequestHandler<object, unknown, unknown, object, Locals> {
  return (error, _request, response, _next) => writeError(writer, response.locals.exchange, error);
}

/**
 * Express changes the prototype of every message to its own, which costs more than the rest of Express. It leaves a
 * message alone that was constructed with that prototype.
 */
function messageClasses(app: Express): App['classes'] {
  return {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
}

function withPrototype<Class extends abstract new (...given: never[]) => object>(
  base: Class,
  prototype: object,
): Class {
  function Message(...given: unknown[]): object {
    return Reflect.construct(base, given, Message);
  }
  Message.prototype = prototype;
  return Message as unknown as Class;
}
