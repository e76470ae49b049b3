import type { IncomingMessage } from 'node:http';
import type { Route } from '../exchange.ts';

/** Cross-origin headers: for the configured origins, and for those of the route. */
export interface Cors {
  /** The headers of any answer: each name, followed by its value. Without a route: those for the configured origins. */
  headers(request: IncomingMessage, route?: CorsRoute): readonly string[];
  /** The headers of the answer to a preflight request, in addition to `headers`. */
  preflight(request: IncomingMessage, allow: string, route?: CorsRoute): Readonly<Record<string, string>>;
}

type CorsRoute = Pick<Route, 'crossOrigin'>;

const NONE: readonly string[] = [];
/** Also sent to an origin that may not read the answer: a cache must not give an answer for one origin to another. */
const VARY = ['Vary', 'Origin'];

/** The headers that a script must be able to read: version, retry time, what is wrong with the bearer token, request id, and age. */
const EXPOSED = ['Access-Control-Expose-Headers', 'ETag, Retry-After, WWW-Authenticate, X-Request-Id, Age, Warning'];

/** The headers that a script may send. Tracing in a page adds the last two (W3C Trace Context). */
const ALLOWED = 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id, traceparent, tracestate';

/** `origins` are compared exactly. There is never a wildcard and never `Allow-Credentials`: callers send bearer tokens, not cookies. */
export function createCors(origins: readonly string[]): Cors {
  const listed = new Set(origins);
  /** Whether the answer depends on the origin at all. */
  const varies = ({ crossOrigin }: CorsRoute): boolean =>
    crossOrigin === undefined ? listed.size > 0 : crossOrigin !== 'never';
  const readerOf = ({ headers: { origin } }: IncomingMessage, { crossOrigin }: CorsRoute): string | undefined => {
    if (origin === undefined || crossOrigin === 'never') return undefined;
    return listed.has(origin) || crossOrigin?.(origin) ? origin : undefined;
  };
  return {
    headers: (request, route = {}) => {
      if (!varies(route)) return NONE;
      const origin = readerOf(request, route);
      return origin === undefined ? VARY : ['Access-Control-Allow-Origin', origin, ...EXPOSED, ...VARY];
    },
    preflight: (request, allow, route = {}): Readonly<Record<string, string>> => {
      const isPreflight = request.headers['access-control-request-method'] !== undefined;
      if (!isPreflight || readerOf(request, route) === undefined) return {};
      return {
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': ALLOWED,
        'Access-Control-Max-Age': '600',
      };
    },
  };
}
