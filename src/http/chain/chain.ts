import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import type { AnswerWriter } from '../answer/answer.ts';
import type { Exchange, Handler, Step, WrappingStep } from '../exchange.ts';
import type { Taken } from '../exchange-start.ts';
import { writeError } from './error-writer.ts';
import type { Guard } from './guard.ts';

/** The request handler of a port, and what the port needs to know about requests. */
export interface App {
  /** Answers a request. `taken` is the connection of a request that `takesUpgrade` has accepted. */
  handle(request: IncomingMessage, response: ServerResponse, taken?: Taken): void;
  /** Whether a request may upgrade its connection to another protocol. Absent: none may. */
  readonly takesUpgrade?: ((request: IncomingMessage) => boolean) | undefined;
  /** Whether the body of a request has its own time limits, so that the whole request may take long. Absent: none has. */
  readonly pacesItself?: ((request: IncomingMessage) => boolean) | undefined;
  /** Whether the answer to a request may go on at a shutdown when other answers are cut. Absent: none may. */
  readonly outlasts?: ((request: IncomingMessage) => boolean) | undefined;
}

/** The content of `response.locals` for Express's middleware. */
interface Locals extends Record<string, unknown> {
  readonly exchange: Exchange;
}

type Parameters = Readonly<Record<string, string>>;

/** Middleware and endpoints as Express calls them. They read the exchange and not Express's own objects. */
export type Middleware = RequestHandler<Parameters, unknown, unknown, object, Locals>;

/** Creates a router with case-sensitive paths: `/Nodes` is not `/nodes`. The guard has already removed a trailing slash. */
export const createRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

/**
 * Makes middleware of a step, with the name of the step, so that a stack trace shows it. Errors go to the error writer. A step that need
 * not wait returns no promise, so a list request creates none.
 */
export function middleware(step: Step): Middleware {
  const run: Middleware = (_request, response, next) => {
    const outcome = step(response.locals.exchange);
    if (outcome === 'next') return next();
    if (outcome === 'answered') return undefined;
    return outcome.then((settled) => {
      if (settled === 'next') next();
    });
  };
  return Object.defineProperty(run, 'name', { value: step.name });
}

/** Makes middleware of a step that wraps the rest of the chain, with the name of the step. */
export function wrapping(step: WrappingStep): Middleware {
  const run: Middleware = (_request, response, next) => step(response.locals.exchange, next);
  return Object.defineProperty(run, 'name', { value: step.name });
}

/** Makes the last middleware of a route, which answers the request. Errors go to the error writer. */
export function endpoint(handler: Handler): Middleware {
  return (_request, response) => handler(response.locals.exchange);
}

/** The error handler, which Express recognizes by its four parameters. */
function sendError(writer: AnswerWriter): ErrorRequestHandler<Parameters, unknown, unknown, object, Locals> {
  return function sendError(error, _request, response, _next) {
    writeError(writer, response.locals.exchange, error);
  };
}

type Run = (request: IncomingMessage, response: ServerResponse, last: (error: unknown) => void) => void;

/** The parts around the router of a port. */
interface Frame {
  readonly guard: Guard;
  readonly writer: AnswerWriter;
  begin(request: IncomingMessage, response: ServerResponse, taken?: Taken): Exchange;
}

/**
 * Makes an app of the router, with the guard before it and the error writer after all of its layers. It uses a router and not an Express
 * application, which would change the prototype of each request and response for methods that are not used here.
 */
export function serveRouter(router: Router, { guard, writer, begin }: Frame): App {
  router.use(sendError(writer));
  const run = router as unknown as Run;
  return {
    handle: (request, response, taken) => {
      const exchange = begin(request, response, taken);
      (response as ServerResponse & { locals: Locals }).locals = { exchange };
      try {
        guard(exchange); // puts the canonical path into `request.url`, so that Express reads no other
      } catch (error) {
        return writeError(writer, exchange, error);
      }
      run(request, response, (error) => writeError(writer, exchange, error));
    },
  };
}
