import type { IncomingMessage } from 'node:http';
import type { Identity } from '../oauth/tokens/identity.ts';
import { boundedLine } from '../observability/bounded-line.ts';
import { type Logger, shownText } from '../observability/logger.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import { derived } from '../runtime/derived.ts';
import { normaliseAddress } from '../runtime/source-address.ts';
import type { Exchange } from './exchange.ts';
import type { RequestInfo } from './request-info.ts';
import type { Target } from './target.ts';

const MAX_PATH = 1_024;
const MAX_USER_AGENT = 256;
/** No valid name is longer, but a path may have any text in the place of a name. */
const MAX_NAME = 256;
/**
 * With a target up to this length, a line is short enough without being measured: target and user agent take at most 6 KiB, with any
 * characters.
 */
const SHORT_TARGET = 1_024;
const MAX_FAILURE = 2_048;

const TRACEPARENT = /^00-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Writes the line of a request when the request ends. */
export type AccessLog = (exchange: Exchange, durationMs: number) => void;

/**
 * A line has only the members that are listed below: no credentials, no parameter value, no body. So redaction is switched off
 * for these lines; it would cost many times as much as the rest of a list request.
 */
export function createAccessLog(logger: Logger): AccessLog {
  const unredacted = logger.child({}, { redact: [] });
  const callers = new CallerLoggers(unredacted);
  const namesIn = derived(({ query }: Target) => (query === '' ? undefined : parameterNames(query)));
  return (exchange, durationMs) => {
    const { status, identity, rawTarget } = exchange;
    const level = levelOf(exchange, status);
    if (!unredacted.isLevelEnabled(level)) return;
    const isShort = status < 500 && rawTarget.length <= SHORT_TARGET;
    const found = { status, durationMs, queryParameters: namesIn(exchange.target) };
    if (isShort && identity) callers.of(exchange, identity)[level](requestPart(exchange, found), 'request');
    else {
      const line = { ...requestPart(exchange, found), ...callerPart(exchange) };
      unredacted[level](isShort ? line : boundedLine(line), 'request');
    }
  };
}

/** The most callers that are remembered: enough for those of a busy minute. */
const MOST_CALLERS = 1_000;

/**
 * Keeps a child logger for each caller and resource. The fields that these requests share are encoded once, in the child logger. They
 * are most of a line and most of its cost.
 */
class CallerLoggers {
  readonly #parent: Logger;
  readonly #loggers = new BoundedMap<Logger>(MOST_CALLERS);
  readonly #placeOf = derived(placeIn);

  constructor(parent: Logger) {
    this.#parent = parent;
  }

  of(exchange: Exchange, identity: Identity): Logger {
    const { info } = exchange;
    const key = keyOf(exchange, identity, info && this.#placeOf(info));
    const known = this.#loggers.get(key);
    if (known) return known;
    const made = this.#parent.child(callerPart(exchange));
    this.#loggers.set(key, made);
    return made;
  }
}

/**
 * The key of a child logger. Its parts are joined by line breaks, and none of them can contain one, so different callers never share
 * a key. Parts that a caller writes are cut and escaped as in the line, so that no key is longer than 2 KiB. A service account has
 * no session id; its name is used instead, whose colons distinguish it from any session id.
 */
function keyOf(exchange: Exchange, { sid, name, clientId }: Identity, place: string | undefined): string {
  const { request, route, decision, source } = exchange;
  return [
    sid ?? name,
    clientId,
    request.method,
    route?.template,
    place,
    decision?.allowed,
    decision?.source,
    source,
    userAgentOf(exchange.request),
  ].join('\n');
}

/** The part of the key that names the requested resource. An absent name leaves an empty line, so the number of lines is fixed. */
const placeIn = ({ verb, namespace, name, group, version, resource, subresource }: RequestInfo): string =>
  [verb, ...[namespace, name, group, version, resource, subresource].map(nameOrNothing)].join('\n');

/** A failing probe (503) is logged at debug only: `Health` logs each check when it begins to fail. */
function levelOf({ route }: Exchange, status: number): 'error' | 'info' | 'debug' {
  if (route?.admission === 'health' && status !== 500) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

interface Findings {
  readonly status: number;
  readonly durationMs: number;
  /** Absent without a query. */
  readonly queryParameters: readonly string[] | undefined;
}

/**
 * The fields that differ for each request. They are one literal with all members, absent ones undefined, because objects of one shape
 * are the cheapest to write.
 */
function requestPart(
  exchange: Exchange,
  { status, durationMs, queryParameters }: Findings,
): Readonly<Record<string, unknown>> {
  const { request, response } = exchange;
  const { traceparent } = request.headers;
  const isStream = exchange.streamedAt !== undefined;
  return {
    requestId: exchange.requestId,
    ownRequestId: exchange.ownRequestId,
    traceId: typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined,
    path: pathForLog(pathOf(exchange.rawTarget)),
    queryParameters,
    status,
    bytes: exchange.bodyBytes,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    upstreamMs: exchange.upstreamMs && Math.round(exchange.upstreamMs * 1_000) / 1_000,
    reason: isStream || (status >= 400 && status < 500) ? exchange.reason : undefined,
    aborted: response.writableFinished ? undefined : true,
    error: status >= 500 || (isStream && exchange.failure) ? describeFailure(exchange.failure) : undefined,
  };
}

/** The fields that a request shares with other requests of the same caller to the same resource. */
function callerPart(exchange: Exchange): Readonly<Record<string, unknown>> {
  const { request, identity, actor, info, decision } = exchange;
  return {
    method: request.method,
    route: exchange.route?.template ?? 'other',
    source: exchange.source,
    userAgent: userAgentOf(exchange.request),
    user: identity?.name ?? actor?.user,
    clientId: identity?.clientId ?? actor?.clientId,
    sid: identity?.sid ?? actor?.sid,
    verb: info?.verb,
    group: nameOrNothing(info?.group),
    version: nameOrNothing(info?.version),
    resource: nameOrNothing(info?.resource),
    namespace: nameOrNothing(info?.namespace),
    name: nameOrNothing(info?.name),
    subresource: nameOrNothing(info?.subresource),
    decision: decision ? (decision.allowed ? 'allow' : 'deny') : info && 'none',
    decisionSource: decision?.source,
  };
}

/** How the client names itself, cut and escaped for a log line. */
export const userAgentOf = ({ headers }: IncomingMessage): string | undefined => {
  const agent = headers['user-agent'];
  return agent && bounded(agent, MAX_USER_AGENT);
};

/**
 * Text from a caller, made safe for a log line. It is cut before it is escaped, and again afterwards, because escaping makes it
 * longer.
 */
const bounded = (text: string, length: number): string => shownText(text.slice(0, length)).slice(0, length);

/** A path without its query, cut and escaped. */
export const pathForLog = (path: string): string => bounded(path, MAX_PATH);

/** The log line of a CONNECT, which has no exchange. A CONNECT is not answered, so the line has no status. */
export function connectLine(request: IncomingMessage, requestId: string): Readonly<Record<string, unknown>> {
  return boundedLine({
    requestId,
    method: 'CONNECT',
    route: 'other',
    path: pathForLog(authorityOf(request.url ?? '')),
    rule: 'connect',
    source: normaliseAddress(request.socket.remoteAddress ?? ''),
    userAgent: userAgentOf(request),
  });
}

/** Only host and port (RFC 9112 3.2.3), because anything before or after them may be a secret. */
const authorityOf = (target: string): string => target.replace(/[?#].*$/s, '').replace(/^.*@/s, '');

/** The userinfo before a host, which may contain a password (RFC 3986 3.2.1). Our own paths have none. */
const USER_INFO = /^((?:[a-z][a-z\d+.-]*:)?(?:\/{2,})?)[^/]*@/i;

/**
 * The target without the parts that may hold a secret: the query, the fragment (which a client should not send) and the
 * userinfo.
 */
function pathOf(target: string): string {
  const mark = target.search(/[?#]/);
  const path = mark < 0 ? target : target.slice(0, mark);
  return path.startsWith('/') && path[1] !== '/' ? path : path.replace(USER_INFO, '$1');
}

/** A name from a path, made safe for a log line; `undefined` if it is empty. */
export const nameOrNothing = (text: string | undefined): string | undefined =>
  text ? bounded(text, MAX_NAME) : undefined;

/** The stack of an error, or its message if it has no stack, and the message of its cause. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure).slice(0, MAX_FAILURE);
  const text = failure.stack ?? failure.message;
  const cause = failure.cause instanceof Error ? `; caused by: ${failure.cause.message}` : '';
  return `${text}${cause}`.slice(0, MAX_FAILURE);
}

const MAX_PARAMETERS = 32;

/** A plain word, like all of our parameter names. A secret that a caller has put in the place of a name seldom looks like that. */
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/** Parameters that are sent without a value. */
const FLAGS: ReadonlySet<string> = new Set(['verbose', 'watch']);

/**
 * The names of the parameters in a query string, for the log, at most 32; never a value, nor a text that might be one. A name must be
 * a plain word with a value. A token without a name (`?eyJ…`, `?b2s=` with its padding, `?access_token%3DeyJ…`) becomes `other`.
 */
export function parameterNames(query: string): string[] {
  return query
    .split('&', MAX_PARAMETERS)
    .filter((pair) => pair !== '')
    .map(nameIn);
}

function nameIn(pair: string): string {
  const sign = pair.indexOf('=');
  const name = sign < 0 ? pair : pair.slice(0, sign);
  if (FLAGS.has(name)) return name;
  const hasValue = sign >= 0 && /[^=]/.test(pair.slice(sign));
  return hasValue && PLAIN.test(name) ? name : 'other';
}
