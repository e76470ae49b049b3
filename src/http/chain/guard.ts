import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { StatusError } from '../../status-error.ts';
import { headerBytesExceeded, headerLinesExceeded, malformed } from '../answer/refusals.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';
import type { HttpMetrics, Rejection } from '../metrics.ts';
import { type BadTarget, parseTarget, type Target } from '../target.ts';

/** A rule of the guard that a request breaks: its name for the metric, its phrase for the caller. */
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

/** A Host as RFC 9110 7.2 has it: a name, an IPv4 address or a bracketed IPv6 one, and perhaps a port. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/;

/**
 * Stands before the router: checks the rules of the protocol that Node's parser leaves to us, then the path. What passes
 * can be read in one way only. Throws what the error writer sends.
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

/** Looks at the target as it was sent, so that a long one costs no more than this. An escaped `/%61pi` has the lower limit. */
const OF_CLUSTER = /^(?:[A-Za-z]+:\/\/[^/?]*)?\/apis?(?:[/?]|$)/;

/** Node's parser has one limit for all paths; those that are not the cluster's keep theirs. */
function lengthBreach({ rawTarget, request }: Exchange, limits: HttpLimits): Breach | undefined {
  const { maxHeaderBytes, maxHeaderBytesElsewhere: limit } = limits;
  if (maxHeaderBytes <= limit || OF_CLUSTER.test(rawTarget)) return undefined;
  // Counted as by the parser: without colons and ends of lines.
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

/** Proxies disagree about every other form (RFC 9112 6.1), and HTTP/1.0 has no chunks at all. */
const isPlainlyChunked = (request: IncomingMessage, counts: HeaderCounts): boolean =>
  counts.transferEncoding === 1 &&
  request.httpVersion === '1.1' &&
  request.headers['transfer-encoding']?.toLowerCase() === 'chunked';

interface HeaderCounts {
  host: number;
  authorization: number;
  transferEncoding: number;
}

/** Counted as sent: Node keeps the first of two and hides the second. */
function countHeaders(rawHeaders: readonly string[]): HeaderCounts {
  const counts = { host: 0, authorization: 0, transferEncoding: 0 };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // Only a name as long as one of the three is worth folding to lower case.
    if (name.length === 4 && name.toLowerCase() === 'host') counts.host++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') counts.authorization++;
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') counts.transferEncoding++;
  }
  return counts;
}

/** Reads the target. The router sees its canonical path only. */
function place(exchange: Exchange, locator: Locator): Breach | undefined {
  const location = locator.locate(exchange.rawTarget, exchange.request.headers.host);
  if ('fault' in location) return { rule: 'target', refusal: malformed(location.fault) };
  exchange.located(location.target);
  exchange.request.url = location.path;
  return undefined;
}

/** A target, and its path in the one form that the router gets to see. */
export interface Location {
  readonly target: Target;
  /** Each segment decoded once and encoded again, without a trailing slash, without the query. */
  readonly path: string;
}

/**
 * Clients ask the same few things over and over. What is kept of one target is its text (256 B), its path, which may be
 * three times as long where it has to be escaped (768 B), and 16 segments with what an object costs (1 KiB): 2 KiB, and
 * 512 KiB for all. Paths that nothing is served on are kept as well, because the router comes later; they push out the
 * oldest ones, which then cost a second reading.
 */
const MOST_KEPT = 256;
const LONGEST_KEPT = 256;
const MOST_SEGMENTS_KEPT = 16;

/** Reads raw targets. Remembers short ones, since a target can be read in one way only. */
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

/** Whether a target is remembered: not one in absolute-form, whose reading depends on the Host as well. */
const isKept = (rawTarget: string, { segments }: Target): boolean =>
  rawTarget.startsWith('/') && rawTarget.length <= LONGEST_KEPT && segments.length <= MOST_SEGMENTS_KEPT;
