import { type AnswerWriter, NO_BODY } from '../answer/answer.ts';
import type { Cors } from '../answer/cors.ts';
import { methodNotAllowed, resourceNotFound } from '../answer/refusals.ts';
import type { Route, Step } from '../exchange.ts';

const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** A route's `Allow`: alphabetical, OPTIONS included (RFC 9110 10.2.1). */
export function allowOf(route: Route): string {
  return [...Object.keys(route.methods), 'OPTIONS'].sort().join(', ');
}

/** Answers OPTIONS from the route, without credentials, and refuses methods that no route has (TRACE …). */
export function answerMethod(writer: AnswerWriter, cors: Cors): Step {
  return function answerMethod(exchange) {
    const { request, route } = exchange;
    if (KNOWN.has(request.method ?? '')) return 'next';
    const allow = route ? allowOf(route) : '';
    if (request.method !== 'OPTIONS') throw methodNotAllowed(allow);
    if (!route) throw resourceNotFound();
    writer.send(exchange, 204, { Allow: allow, ...cors.preflight(request, allow) }, NO_BODY);
    return 'answered';
  };
}
