import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { StatusError } from '../../status-error.ts';
import { headerBytesExceeded, headerLinesExceeded, malformed } from '../answer/refusals.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import type { HttpMetrics, Rejection } from '../metrics.ts';
import { type BadTarget, parseTarget, type Target } from '../target.ts';

/** A rule of the guard that a request breaks, with its name for the metric and the refusal. */
interface Breach {
  readonly rule: Rejection;
  readonly refusal: StatusError;
}

interface GuardParts {
  readonly platform: string;
  readonly limits: HttpLimits;
  readonly metrics: HttpMetrics;
}

export type Guard = (exchange: Exchange) => void;

/** The value of Host (RFC 9110 7.2): a name, an IPv4 address or an IPv6 address in brackets, with an optional port. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/;

/**
 * Creates the guard, which comes before the router: it checks the protocol rules that Node's parser does not check, then the path. All
 * parsers agree about the meaning of a request that passes. For any other request the guard throws a `StatusError`.
 */
export function createGuard(parts: GuardParts): Guard {
  const locator = new Locator();
  return (exchange) => {
    const breach =
      lengthBreach(exchange, parts.limits) ?? headerBreach(exchange.request, parts) ?? place(exchange, locator);
    if (!breach) return;
    parts.metrics.rejected(breach.rule);
    throw breach.refusal;
  };
}

/** Matches the cluster's own paths in the target as sent, without decoding a long one. So an escaped `/%61pi` has the lower limit. */
const OF_CLUSTER = /^(?:[A-Za-z]+:\/\/[^/?]*)?\/apis?(?:[/?]|$)/;

/** Applies the lower limit of paths that are not the cluster's: Node's parser has one limit for all paths. */
function lengthBreach({ rawTarget, request }: Exchange, limits: HttpLimits): Breach | undefined {
  const { maxHeaderBytes, maxHeaderBytesElsewhere: limit } = limits;
  if (maxHeaderBytes <= limit || OF_CLUSTER.test(rawTarget)) return undefined;
  // Counted as the parser does, without colons and line ends.
  let bytes = rawTarget.length;
  for (const text of request.rawHeaders) bytes += text.length;
  return bytes > limit ? { rule: 'header_bytes', refusal: headerBytesExceeded(limit) } : undefined;
}

function headerBreach(request: IncomingMessage, { limits, platform }: GuardParts): Breach | undefined {
  const { httpVersion, headers, rawHeaders } = request;
  const breach = (rule: Rejection, phrase: string, more?: Record<string, string>): Breach => ({
    rule,
    refusal: malformed(phrase, { Connection: 'close', ...more }),
  });
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return breach('version', 'it is neither HTTP/1.1 nor HTTP/1.0');
  if (rawHeaders.length / 2 > limits.maxHeaders) {
    return { rule: 'headers', refusal: headerLinesExceeded(limits.maxHeaders) };
  }
  const counts = countHeaders(rawHeaders);
  if (counts.host > 1) return breach('host', 'it has more than one Host header');
  if (counts.host === 0 && httpVersion === '1.1') return breach('host', 'it has no Host header');
  if (counts.host === 1 && !HOST.test(headers.host ?? '')) return breach('host', 'its Host header is not a host');
  if (counts.authorization > 1) {
    const challenge = `Bearer realm="${platform}", error="invalid_request"`;
    return breach('authorization', 'it has more than one Authorization header', { 'WWW-Authenticate': challenge });
  }
  if (counts.transferEncoding > 0 && !isPlainlyChunked(request, counts)) {
    return breach('transfer_encoding', 'its Transfer-Encoding is not chunked');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return breach('expect', 'its Expect header is unknown');
  }
  return undefined;
}

/** Whether `Transfer-Encoding` is just `chunked`. Proxies disagree about any other form (RFC 9112 6.1), and HTTP/1.0 has no chunks. */
const isPlainlyChunked = (request: IncomingMessage, counts: HeaderCounts): boolean =>
  counts.transferEncoding === 1 &&
  request.httpVersion === '1.1' &&
  request.headers['transfer-encoding']?.toLowerCase() === 'chunked';

interface HeaderCounts {
  host: number;
  authorization: number;
  transferEncoding: number;
}

/** Counts these headers as sent, because Node's `headers` has only the first of two. */
function countHeaders(rawHeaders: readonly string[]): HeaderCounts {
  const counts = { host: 0, authorization: 0, transferEncoding: 0 };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // The length is compared first, which is cheaper than folding every name to lower case.
    if (name.length === 4 && name.toLowerCase() === 'host') counts.host++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') counts.authorization++;
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') counts.transferEncoding++;
  }
  return counts;
}

/** Parses the target, and gives the router its canonical path. */
function place(exchange: Exchange, locator: Locator): Breach | undefined {
  const location = locator.locate(exchange.rawTarget, exchange.request.headers.host);
  if ('fault' in location) return { rule: 'target', refusal: malformed(location.fault) };
  exchange.located(location.target);
  exchange.request.url = location.path;
  return undefined;
}

/** A target with its canonical path, the only one that the router sees. */
export interface Location {
  readonly target: Target;
  /** Each segment decoded once and encoded again, without a trailing slash, without the query. */
  readonly path: string;
}

/**
 * The most targets that are remembered, because clients send the same few again and again. A target takes at most 2 KiB: 256 B for its
 * text, 768 B for its path, which escapes make up to three times as long, and 1 KiB for 16 segments. All of them take 512 KiB. Paths
 * without a route are remembered as well, because the router comes later. They replace the oldest ones, which are then parsed again.
 */
const MOST_KEPT = 256;
const LONGEST_KEPT = 256;
const MOST_SEGMENTS_KEPT = 16;

/** Parses targets, and remembers short ones. */
export class Locator {
  readonly #known = new BoundedMap<Location>(MOST_KEPT);

  locate(rawTarget: string, host: string | undefined): Location | BadTarget {
    const known = this.#known.get(rawTarget);
    if (known) return known;
    const target = parseTarget(rawTarget, host);
    if ('fault' in target) return target;
    const location = { target, path: `/${target.segments.map(encodeURIComponent).join('/')}` };
    if (isKept(rawTarget, target)) this.#known.set(rawTarget, location);
    return location;
  }
}

/** Whether a target is remembered: not one in absolute-form, because its validity also depends on Host. */
const isKept = (rawTarget: string, { segments }: Target): boolean =>
  rawTarget.startsWith('/') && rawTarget.length <= LONGEST_KEPT && segments.length <= MOST_SEGMENTS_KEPT;
