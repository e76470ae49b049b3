import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import type { AnswerWriter } from '../answer/answer.ts';
import type { Exchange, Handler, Step, Taken } from '../exchange.ts';
import { writeError } from './error-writer.ts';
import type { Guard } from './guard.ts';

/** What a port serves. */
export interface App {
  /** `taken` is the connection of a request that `takesUpgrade` accepted. */
  handle(request: IncomingMessage, response: ServerResponse, taken?: Taken): void;
  /** Whether the request may turn its connection into another protocol. When absent, none may. */
  readonly takesUpgrade?: ((request: IncomingMessage) => boolean) | undefined;
  /** Whether the body of a request has its own time limits, so that it may take long as a whole. When absent, none has. */
  readonly pacesItself?: ((request: IncomingMessage) => boolean) | undefined;
  /** Whether the answer to a request may go on at a shutdown when other answers are cut. When absent, none may. */
  readonly outlasts?: ((request: IncomingMessage) => boolean) | undefined;
}

/** What Express's middleware finds in `response.locals`. */
interface Locals extends Record<string, unknown> {
  readonly exchange: Exchange;
}

type Parameters = Readonly<Record<string, string>>;

/** Middleware and endpoints as Express calls them. They read the exchange, not the message. */
export type Middleware = RequestHandler<Parameters, unknown, unknown, object, Locals>;

/** A router that takes paths to the letter: `/Nodes` is not `/nodes`. The guard has taken a trailing slash off. */
export const createRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

/**
 * A step as middleware under its own name, so that a stack trace shows it. What it throws or rejects with goes
 * to the error writer. A step that need not wait returns no promise, so the path of a list request makes none.
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

/** A step that lets the rest of the chain run when it calls `go`, so that it sees how long that took. */
export type Gate = (exchange: Exchange, go: (error?: unknown) => void) => void;

/** A gate as middleware under its own name. */
export function gate(pass: Gate): Middleware {
  const run: Middleware = (_request, response, next) => pass(response.locals.exchange, next);
  return Object.defineProperty(run, 'name', { value: pass.name });
}

/** The end of a route: answers the request, or throws or rejects with what the error writer sends. */
export function endpoint(handler: Handler): Middleware {
  return (_request, response) => handler(response.locals.exchange);
}

/** The last middleware. Express recognizes an error handler by its four parameters. */
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
 * An app of this router, with the guard before it and the one error writer behind all of its layers. It is a router, not
 * an Express application: that would give each message another prototype, for methods that nobody here calls.
 */
export function serveRouter(router: Router, { guard, writer, begin }: Frame): App {
  router.use(sendError(writer));
  const run = router as unknown as Run;
  return {
    handle: (request, response, taken) => {
      const exchange = begin(request, response, taken);
      (response as ServerResponse & { locals: Locals }).locals = { exchange };
      try {
        guard(exchange); // puts the canonical path into `request.url`: Express must not read any other
      } catch (error) {
        return writeError(writer, exchange, error);
      }
      run(request, response, (error) => writeError(writer, exchange, error));
    },
  };
}
