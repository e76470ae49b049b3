import type { Logger } from '../observability/logger.ts';
import { boundedLine } from './bounded-line.ts';
import type { Exchange } from './exchange.ts';
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
  return (exchange, durationMs) => logExchange(unredacted, exchange, durationMs);
}

function logExchange(logger: Logger, exchange: Exchange, durationMs: number): void {
  const { status } = exchange;
  const level = levelOf(exchange, status);
  if (!logger.isLevelEnabled(level)) return;
  const line = toLine(exchange, status, durationMs);
  const isShort = status < 500 && exchange.rawTarget.length <= SHORT_TARGET;
  logger[level](isShort ? line : boundedLine(line), 'request');
}

/** A probe that is told 503 has its answer: what fails is logged when it begins to. */
function levelOf({ route }: Exchange, status: number): 'error' | 'info' | 'debug' {
  if (route?.admission === 'health' && status !== 500) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

/** One literal with all members, absent ones undefined: objects of one shape are the cheapest to write. */
function toLine(exchange: Exchange, status: number, durationMs: number): Readonly<Record<string, unknown>> {
  const { request, response, target, identity, info, decision } = exchange;
  const { 'user-agent': userAgent, traceparent } = request.headers;
  return {
    requestId: exchange.requestId,
    traceId: typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined,
    method: request.method,
    route: exchange.route?.template ?? 'other',
    path: pathOf(exchange.rawTarget).slice(0, MAX_PATH),
    queryParameters: target.query === '' ? undefined : parameterNames(target.query),
    status,
    bytes: exchange.bodyBytes,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    source: exchange.source,
    userAgent: userAgent?.slice(0, MAX_USER_AGENT),
    user: identity?.name,
    clientId: identity?.clientId,
    sid: identity?.sid,
    verb: info?.verb,
    group: nameOrNothing(info?.group),
    version: nameOrNothing(info?.version),
    resource: nameOrNothing(info?.resource),
    namespace: nameOrNothing(info?.namespace),
    name: nameOrNothing(info?.name),
    subresource: nameOrNothing(info?.subresource),
    decision: decision ? (decision.allowed ? 'allow' : 'deny') : info && 'none',
    decisionSource: decision?.source,
    reason: status >= 400 && status < 500 ? exchange.reason : undefined,
    aborted: response.writableFinished ? undefined : true,
    error: status >= 500 ? describeFailure(exchange.failure) : undefined,
  };
}

function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

const nameOrNothing = (text: string | undefined): string | undefined => text?.slice(0, MAX_NAME) || undefined;

/** The stack of an unforeseen error, the chain of messages of any other. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure).slice(0, MAX_FAILURE);
  const text = failure.stack ?? failure.message;
  const cause = failure.cause instanceof Error ? `; caused by: ${failure.cause.message}` : '';
  return `${text}${cause}`.slice(0, MAX_FAILURE);
}
