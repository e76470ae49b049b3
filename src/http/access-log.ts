import type { IncomingMessage } from 'node:http';
import type { Identity } from '../oauth/tokens/identity.ts';
import type { Logger } from '../observability/logger.ts';
import { shownText } from '../observability/shown-text.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import { boundedLine } from './bounded-line.ts';
import { normaliseAddress } from './connection/source-address.ts';
import type { Exchange } from './exchange.ts';
import { parameterNames } from './parameter-names.ts';

const MAX_PATH = 1_024;
const MAX_USER_AGENT = 256;
/** Longer than any valid name; a path may hold anything. */
const MAX_NAME = 256;
/**
 * A line whose target is no longer than this need not be measured: target and user agent take at most 6 KiB, whatever
 * their characters.
 */
const SHORT_TARGET = 1_024;
const MAX_FAILURE = 2_048;

const TRACEPARENT = /^00-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Writes the one line of a request, when it ends. */
export type AccessLog = (exchange: Exchange, durationMs: number) => void;

/**
 * The line has named members only: no header, no parameter value, no body. Redaction is therefore switched off
 * for these lines. It would cost many times the rest of a list request.
 */
export function createAccessLog(logger: Logger): AccessLog {
  const unredacted = logger.child({}, { redact: [] });
  const callers = new CallerLoggers(unredacted);
  return (exchange, durationMs) => {
    const { status, identity, rawTarget } = exchange;
    const level = levelOf(exchange, status);
    if (!unredacted.isLevelEnabled(level)) return;
    const isShort = status < 500 && rawTarget.length <= SHORT_TARGET;
    if (isShort && identity)
      callers.of(exchange, identity)[level](requestPart(exchange, status, durationMs), 'request');
    else {
      const line = { ...requestPart(exchange, status, durationMs), ...callerPart(exchange) };
      unredacted[level](isShort ? line : boundedLine(line), 'request');
    }
  };
}

/** Enough for the callers of a busy minute. */
const MOST_CALLERS = 1_000;

/**
 * Keeps one child logger for each caller and place. It holds the fields that their requests share, already written as
 * JSON: most of a line, and most of its cost.
 */
class CallerLoggers {
  readonly #parent: Logger;
  readonly #loggers = new BoundedMap<Logger>(MOST_CALLERS);

  constructor(parent: Logger) {
    this.#parent = parent;
  }

  of(exchange: Exchange, identity: Identity): Logger {
    const key = keyOf(exchange, identity);
    const known = this.#loggers.get(key);
    if (known) return known;
    const made = this.#parent.child(callerPart(exchange));
    this.#loggers.set(key, made);
    return made;
  }
}

/**
 * The parts are joined by line breaks, and none of them can contain one, so two callers never share a key. Parts that a
 * caller writes are cut and escaped as in the line, so that no key is longer than 2 KiB. A service account has no
 * session id. Its name takes that place, and its colons keep it apart from every session id.
 */
function keyOf(exchange: Exchange, { sid, name, clientId }: Identity): string {
  const { request, route, info, decision, source } = exchange;
  return [
    sid ?? name,
    clientId,
    request.method,
    route?.template,
    info?.verb,
    nameOrNothing(info?.namespace),
    nameOrNothing(info?.name),
    nameOrNothing(info?.group),
    nameOrNothing(info?.version),
    nameOrNothing(info?.resource),
    nameOrNothing(info?.subresource),
    decision?.allowed,
    decision?.source,
    source,
    userAgentOf(exchange.request),
  ].join('\n');
}

/** A failing probe (503) is logged at debug only: `Health` logs each check when it begins to fail. */
function levelOf({ route }: Exchange, status: number): 'error' | 'info' | 'debug' {
  if (route?.admission === 'health' && status !== 500) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

/**
 * The fields of this request alone. One literal with all members, absent ones undefined: objects of one shape are the
 * cheapest to write.
 */
function requestPart(exchange: Exchange, status: number, durationMs: number): Readonly<Record<string, unknown>> {
  const { request, response, target } = exchange;
  const { traceparent } = request.headers;
  const isStream = exchange.streamedAt !== undefined;
  return {
    requestId: exchange.requestId,
    ownRequestId: exchange.ownRequestId,
    traceId: typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined,
    path: bounded(pathOf(exchange.rawTarget), MAX_PATH),
    queryParameters: target.query === '' ? undefined : parameterNames(target.query),
    status,
    bytes: exchange.bodyBytes,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    reason: isStream || (status >= 400 && status < 500) ? exchange.reason : undefined,
    aborted: response.writableFinished ? undefined : true,
    error: status >= 500 || (isStream && exchange.failure) ? describeFailure(exchange.failure) : undefined,
  };
}

/** The fields that it shares with other requests of the same caller to the same place. */
function callerPart(exchange: Exchange): Readonly<Record<string, unknown>> {
  const { request, identity, party, info, decision } = exchange;
  return {
    method: request.method,
    route: exchange.route?.template ?? 'other',
    source: exchange.source,
    userAgent: userAgentOf(exchange.request),
    user: identity?.name ?? party?.user,
    clientId: identity?.clientId ?? party?.clientId,
    sid: identity?.sid ?? party?.sid,
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

const userAgentOf = ({ headers }: IncomingMessage): string | undefined => {
  const agent = headers['user-agent'];
  return agent && bounded(agent, MAX_USER_AGENT);
};

/**
 * Text from a caller, made safe for a log line. It is cut before it is escaped, and again after, since an escape is
 * longer.
 */
const bounded = (text: string, length: number): string => shownText(text.slice(0, length)).slice(0, length);

/** The log line of a CONNECT, which has no exchange. A CONNECT is not answered, so the line has no status. */
export function connectLine(request: IncomingMessage, requestId: string): Readonly<Record<string, unknown>> {
  return boundedLine({
    requestId,
    method: 'CONNECT',
    route: 'other',
    path: bounded(authorityOf(request.url ?? ''), MAX_PATH),
    rule: 'connect',
    source: normaliseAddress(request.socket.remoteAddress ?? ''),
    userAgent: userAgentOf(request),
  });
}

/** Host and port only (RFC 9112 3.2.3). What somebody put before or behind them may be a secret. */
const authorityOf = (target: string): string => target.replace(/[?#].*$/s, '').replace(/^.*@/s, '');

/** The userinfo before a host, perhaps a name and a password (RFC 3986 3.2.1). Our own paths have none. */
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

const nameOrNothing = (text: string | undefined): string | undefined => (text ? bounded(text, MAX_NAME) : undefined);

/** The stack of an error, or its message where it has no stack, and the message of its cause. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure).slice(0, MAX_FAILURE);
  const text = failure.stack ?? failure.message;
  const cause = failure.cause instanceof Error ? `; caused by: ${failure.cause.message}` : '';
  return `${text}${cause}`.slice(0, MAX_FAILURE);
}
