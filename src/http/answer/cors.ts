import type { IncomingMessage } from 'node:http';

/** Cross-origin headers, for the configured origins only. */
export interface Cors {
  /** The headers of any answer: each name, followed by its value. */
  headers(request: IncomingMessage): readonly string[];
  /** The headers of the answer to a preflight request, in addition to `headers`. */
  preflight(request: IncomingMessage, allow: string): Readonly<Record<string, string>>;
}

const NONE: readonly string[] = [];
const VARY = ['Vary', 'Origin'];

/** The headers that a script must be able to read: version, retry time, what is wrong with the bearer token, request id, and age. */
const EXPOSED = ['Access-Control-Expose-Headers', 'ETag, Retry-After, WWW-Authenticate, X-Request-Id, Age, Warning'];

/** The headers that a script may send. Tracing in a page adds the last two (W3C Trace Context). */
const ALLOWED = 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id, traceparent, tracestate';

/** `origins` are compared exactly. There is never a wildcard and never `Allow-Credentials`: callers send bearer tokens, not cookies. */
export function createCors(origins: readonly string[]): Cors {
  const listed = new Set(origins);
  const listedOrigin = (request: IncomingMessage): string | undefined => {
    const { origin } = request.headers;
    return origin !== undefined && listed.has(origin) ? origin : undefined;
  };
  if (listed.size === 0) return { headers: () => NONE, preflight: () => ({}) };
  return {
    headers: (request) => {
      const origin = listedOrigin(request);
      return origin ? ['Access-Control-Allow-Origin', origin, ...EXPOSED, ...VARY] : VARY;
    },
    preflight: (request, allow): Readonly<Record<string, string>> => {
      if (!listedOrigin(request) || request.headers['access-control-request-method'] === undefined) return {};
      return {
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': ALLOWED,
        'Access-Control-Max-Age': '600',
      };
    },
  };
}
