import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { AnswerWriter } from './answer.ts';
import { type BeginParts, begin } from './begin.ts';
import { writeError } from './error-writer.ts';
import type { Exchange } from './exchange.ts';
import type { Step } from './step.ts';

/** What `http.createServer` takes. */
export type App = (request: IncomingMessage, response: ServerResponse) => void;

export interface ChainParts extends BeginParts {
  readonly writer: AnswerWriter;
}

interface Locals extends Record<string, unknown> {
  readonly exchange: Exchange;
}

type Run = (request: IncomingMessage, response: ServerResponse, last: (error: unknown) => void) => void;

/** An app of these steps in this order, with the one error writer behind them. Express runs them. */
export function createChain(steps: readonly Step[], parts: ChainParts): App {
  const { writer } = parts;
  const chain = express().disable('x-powered-by').disable('etag').disable('query parser');
  for (const step of steps) chain.use(toHandler(step));
  chain.use(toErrorHandler(writer));
  const run = chain as unknown as Run;
  return (request, response) => {
    const exchange = begin(request, response, parts);
    (response as ServerResponse & { locals: Locals }).locals = { exchange };
    // Express has a reader of its own for URLs; it gets nothing to read. The guard reads the target as it was sent.
    request.url = '/';
    run(request, response, (error) => writeError(writer, exchange, error));
  };
}

/** A step as Express takes it. A step that need not wait does not: no promise on the hot path. */
function toHandler(step: Step): RequestHandler<object, unknown, unknown, object, Locals> {
  return (_request, response, next) => {
    const outcome = step(response.locals.exchange);
    if (outcome === 'next') return next();
    if (outcome === 'answered') return undefined;
    return outcome.then((settled) => {
      if (settled === 'next') next();
    });
  };
}

/** Express knows an error handler by its four parameters. */
function toErrorHandler(writer: AnswerWriter): ErrorRequestHandler<object, unknown, unknown, object, Locals> {
  return (error, _request, response, _next) => writeError(writer, response.locals.exchange, error);
}
