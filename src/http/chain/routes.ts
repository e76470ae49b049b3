import type { Router } from 'express';
import { acceptsJson } from '../answer/accept.ts';
import { type AnswerWriter, NO_BODY } from '../answer/answer.ts';
import type { Cors } from '../answer/cors.ts';
import { gone, methodNotAllowed, notAcceptable, notServed, resourceNotFound } from '../answer/refusals.ts';
import type { Handler, Method, Route, Step } from '../exchange.ts';
import { endpoint, type Middleware, middleware } from './chain.ts';

/**
 * The pattern of Express: `/nodes/{name}` becomes `/nodes/:name`; `/api/*`, which is `/api` and all paths below it, becomes
 * `/api{/*rest}`.
 */
const toPattern = (template: string): string => template.replaceAll(/\{(\w+)\}/g, ':$1').replace(/\/\*$/, '{/*rest}');

/**
 * Adds the routes to the router, each with the steps before its handlers. The first route that matches a path serves it, so a literal path
 * must come before one with `{…}` in the same position. Throws if a route could never be reached.
 */
export function mountRoutes(
  router: Router,
  routes: readonly Route[],
  stepsOf: (route: Route) => readonly Middleware[],
): void {
  checkOrder(routes);
  for (const route of routes) {
    const mounted = router.route(toPattern(route.template)).all(found(route), ...stepsOf(route));
    for (const [method, handler] of Object.entries(route.methods) as [Method, Handler][]) {
      mounted[VERBS[method]](...serving(route, handler));
    }
    const refuse = middleware(refuseMethod);
    if (!route.methods.HEAD) mounted.head(refuse); // Express would give a HEAD to the endpoint of GET
    mounted.all(refuse);
  }
}

/** Throws if an earlier route covers a later one: a route answers all methods of its paths, those that it does not serve with 405. */
function checkOrder(routes: readonly Route[]): void {
  for (const [at, { template }] of routes.entries()) {
    const first = routes.slice(0, at).find((before) => !before.takes && covers(before.template, template));
    if (!first) continue;
    throw new Error(
      `the route ${template} can never be reached: ${first.template} comes before it and takes its paths`,
    );
  }
}

/** Whether every path of the other template is also a path of this one. */
function covers(template: string, other: string): boolean {
  const isOpen = template.endsWith('/*');
  const [segments, others] = [(isOpen ? template.slice(0, -2) : template).split('/'), other.split('/')];
  return (
    (isOpen ? segments.length <= others.length : segments.length === others.length) &&
    segments.every((segment, at) => segment.startsWith('{') || segment === others[at])
  );
}

/** Returns a predicate: whether a path is below a route with `guardsBelow`. */
export function guardedBelow(routes: readonly Route[]): (segments: readonly string[]) => boolean {
  const guarded = routes.filter((route) => route.guardsBelow).map(({ template }) => template.split('/').slice(1));
  return (segments) =>
    guarded.some(
      (above) =>
        segments.length > above.length && above.every((part, at) => part.startsWith('{') || part === segments[at]),
    );
}

const VERBS = { GET: 'get', HEAD: 'head', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/** Sets the route in the exchange, for later steps and for the log. */
function found(route: Route): Middleware {
  const isOpen = route.template.endsWith('/*');
  return function found(request, response, next) {
    if (route.takes && !route.takes(request)) return next('route');
    response.locals.exchange.found(route, isOpen ? [] : Object.values(request.params));
    next();
  };
}

/** The middleware that serves a watch if the request asks for one; otherwise it checks `Accept` and calls the handler. */
function serving(route: Route, handler: Handler): Middleware[] {
  const serve = endpoint(handler);
  const checked = route.produces === 'json' ? [middleware(requireJson), serve] : [serve];
  return route.watch ? [serveWatch(endpoint(route.watch)), ...checked] : checked;
}

function serveWatch(watch: Middleware): Middleware {
  return function serveWatch(request, response, next) {
    return response.locals.exchange.info?.verb === 'watch' ? watch(request, response, next) : next();
  };
}

const requireJson: Step = ({ request }) => {
  if (!acceptsJson(request.headers.accept)) throw notAcceptable();
  return 'next';
};

const refuseMethod: Step = ({ route }) => {
  throw methodNotAllowed(route ? allowOf(route) : '');
};

/**
 * Answers 404 to every caller for a public path without a route (docs/contract/http.md, section 2): an expired bearer token must not make
 * it a 401.
 */
export function refuseUnknownPublicPaths(platform: string): Step {
  const notOffered = `config.${platform}.io`;
  return function refuseUnknownPublicPaths({ target }) {
    const [first, second] = target.segments;
    if (first === 'oauth') throw resourceNotFound();
    // KubeSphere 3.4 serves this group without authentication, and its clients read it before they sign in.
    if (first === 'kapis' && second === notOffered) throw resourceNotFound();
    return 'next';
  };
}

/** Answers 410 to any signed-in caller for a path that was withdrawn, with any method and any rights. */
export const refuseWithdrawnPaths: Step = ({ route, parameters }) => {
  if (route?.gone) throw gone(route.gone(parameters));
  return 'next';
};

/** Answers 404 to a signed-in caller for a path without a route. */
export const refuseUnknownPaths =
  (platform: string): Step =>
  ({ info }) => {
    throw notServed(info, platform);
  };

const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The value of `Allow` for a route: its methods in alphabetical order, with OPTIONS (RFC 9110 10.2.1). */
function allowOf(route: Route): string {
  return [...Object.keys(route.methods), 'OPTIONS'].sort().join(', ');
}

/** Lets the origins of a route read its answers, refusals included, so this comes before every step that may refuse. */
export function shareWithOrigins(cors: Cors): Step {
  return function shareWithOrigins(exchange) {
    const { request, route } = exchange;
    if (route?.crossOrigin !== undefined) exchange.corsHeaders = cors.headers(request, route);
    return 'next';
  };
}

/** Answers OPTIONS from the route, without credentials, and refuses methods that no route has, such as TRACE. */
export function answerMethod(writer: AnswerWriter, cors: Cors): Step {
  return function answerMethod(exchange) {
    const { request, route } = exchange;
    if (KNOWN.has(request.method ?? '')) return 'next';
    const allow = route ? allowOf(route) : '';
    if (request.method !== 'OPTIONS') throw methodNotAllowed(allow);
    if (!route) throw resourceNotFound();
    writer.send(exchange, 204, { Allow: allow, ...cors.preflight(request, allow, route) }, NO_BODY);
    return 'answered';
  };
}
