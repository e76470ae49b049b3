import type { IncomingMessage } from 'node:http';
import type { Identity } from '../oauth/tokens/identity.ts';
import type { Logger } from '../observability/logger.ts';
import { shownText } from '../observability/shown-text.ts';
import { boundedLine } from './bounded-line.ts';
import type { Exchange } from './chain/exchange.ts';
import { normaliseAddress } from './connection/source-address.ts';
import { parameterNames } from './parameter-names.ts';

const MAX_PATH = 1_024;
const MAX_USER_AGENT = 256;
/** Longer than any valid name; a path may hold anything. */
const MAX_NAME = 256;
/** A target of this length and an agent make up at most 6 KiB, whatever their characters: shorter ones need not be measured. */
const SHORT_TARGET = 1_024;
const MAX_FAILURE = 2_048;

const TRACEPARENT = /^00-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Writes the one line of a request, when it ends. */
export type AccessLog = (exchange: Exchange, durationMs: number) => void;

/**
 * Only named members are logged: no header, no value of a parameter, no body. So the redaction of other lines, which
 * would cost many times the rest of a list request, is switched off for these.
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
 * Loggers that hold what the requests of one caller to one place share, already written as JSON: most of a line, and most of
 * its cost.
 */
class CallerLoggers {
  readonly #parent: Logger;
  readonly #loggers = new Map<string, Logger>();

  constructor(parent: Logger) {
    this.#parent = parent;
  }

  of(exchange: Exchange, identity: Identity): Logger {
    const key = keyOf(exchange, identity);
    const known = this.#loggers.get(key);
    if (known) return known;
    if (this.#loggers.size >= MOST_CALLERS) this.#loggers.clear();
    const made = this.#parent.child(callerPart(exchange));
    this.#loggers.set(key, made);
    return made;
  }
}

/**
 * No part can run over into the next: none of them holds a line break. Parts that a caller writes are cut and escaped as in
 * the line, so that no key is longer than 2 KiB. A service account has no session, and its name has colons, which the id of a session has not.
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

/** A probe that is told 503 has its answer: what fails is logged when it begins to. */
function levelOf({ route }: Exchange, status: number): 'error' | 'info' | 'debug' {
  if (route?.admission === 'health' && status !== 500) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

/** What this request alone has. One literal with all members, absent ones undefined: objects of one shape are the cheapest to write. */
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

/** What it shares with others of the same caller to the same place. */
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

/** What a caller wrote, as it may stand in a line; cut before it is escaped, and after, since an escape is longer. */
const bounded = (text: string, length: number): string => shownText(text.slice(0, length)).slice(0, length);

/** The line of a CONNECT, behind which no exchange stands. It is not answered, so there is no status. */
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

/** RFC 9112 3.2.3: host and port. What somebody put before or behind them may be a secret. */
const authorityOf = (target: string): string => target.replace(/[?#].*$/s, '').replace(/^.*@/s, '');

/** What stands before the name of a host: a name and a password, maybe (RFC 3986 3.2.1). A path of ours has none. */
const USER_INFO = /^((?:[a-z][a-z\d+.-]*:)?(?:\/{2,})?)[^/]*@/i;

/** Without what may hold a secret: the query, the fragment that a client should have kept to itself, the user of an authority. */
function pathOf(target: string): string {
  const mark = target.search(/[?#]/);
  const path = mark < 0 ? target : target.slice(0, mark);
  return path.startsWith('/') && path[1] !== '/' ? path : path.replace(USER_INFO, '$1');
}

const nameOrNothing = (text: string | undefined): string | undefined => (text ? bounded(text, MAX_NAME) : undefined);

/** The stack of an unforeseen error, the chain of messages of any other. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure).slice(0, MAX_FAILURE);
  const text = failure.stack ?? failure.message;
  const cause = failure.cause instanceof Error ? `; caused by: ${failure.cause.message}` : '';
  return `${text}${cause}`.slice(0, MAX_FAILURE);
}
