import type { IncomingMessage } from 'node:http';
import { type CallKind, isLongRunning, kindOf, type UpgradeProtocol, upgradeKindOf } from '../../gateway/call.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { badGateway, foreignOrigin } from '../../gateway/refusals.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type AnswerWriter, hasBody } from '../answer/answer.ts';
import { cutOff } from '../answer/cut-off.ts';
import { SlowReader } from '../answer/slow-reader.ts';
import type { Impersonate } from '../chain/impersonation.ts';
import type { Exchange, Handler } from '../exchange.ts';
import type { CallQueue } from '../limits/call-queue.ts';
import type { UserSeats } from '../limits/user-seats.ts';
import { ActiveCall } from './active-call.ts';
import { callOf, endedEarly, takeImpersonation } from './asked-call.ts';
import type { CallRecord } from './call-record.ts';
import { ClientBody } from './client-body.ts';
import { EarlyBytes } from './early-bytes.ts';
import type { OpenStreams } from './open-streams.ts';
import type { ServePermitted } from './permitted/serve-permitted.ts';
import { isHandshake, WatchSocket } from './permitted/watch-socket.ts';
import { Relay } from './relay.ts';
import { readsFailures } from './spdy-frames.ts';
import { type EndSignal, Tunnel } from './tunnel.ts';
import { askedProtocol, isForeign, readSubprotocols } from './upgrade-request.ts';

export interface ServeCallParts {
  readonly gateway: Gateway;
  readonly impersonate: Impersonate;
  readonly seats: { readonly requests: UserSeats; readonly streams: UserSeats };
  readonly streams: OpenStreams;
  readonly queue: CallQueue;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  readonly platform: string;
  /** The origins, besides our own, that may open a WebSocket. */
  readonly origins: ReadonlySet<string>;
  /** The longest time in which a client may send nothing while we read its body. */
  readonly bodyStallMs: number;
  /** A client that reads nothing of the waiting bytes for this long is cut off, except with `log`. */
  readonly sendTimeoutMs: number;
  /** Called before the body of a request is read. */
  onBody(request: IncomingMessage): void;
  readonly record: CallRecord;
  /** Answers lists and watches over the namespaces that the caller may see. Absent: they are passed on like any other call. */
  readonly servePermitted?: ServePermitted | undefined;
}

/** Passes a call on to the cluster, and its answer back (docs/gateway.md). */
export function serveCall(parts: ServeCallParts): Handler {
  const { seats, record } = parts;
  return async (exchange) => {
    const { info, identity } = exchange.signedIn;
    const protocol = exchange.upgrade && askedProtocol(exchange.request);
    const kind = (protocol && upgradeKindOf(info, protocol)) ?? kindOf(info);
    exchange.atEnd(() => record.ended(exchange, kind));
    if (parts.gateway.honoursImpersonation) await takeImpersonation(exchange, parts);
    exchange.takeSeat(() => seats[isLongRunning(kind) ? 'streams' : 'requests'].take(identity.name));
    if (protocol) await upgrade(exchange, { kind, protocol }, parts);
    else await forward(exchange, { kind, user: identity.name }, parts);
  };
}

async function forward(
  exchange: Exchange,
  { kind, user }: { readonly kind: CallKind; readonly user: string },
  parts: ServeCallParts,
): Promise<void> {
  const { gateway, streams, clock } = parts;
  const { metrics } = gateway;
  const isStream = isLongRunning(kind);
  const activeCall = new ActiveCall(exchange);
  if (isStream) streams.opened(exchange, { kind, isUpgrade: false, end: activeCall.end });
  const onBytes = (bytes: number): void => metrics.sent(bytes);
  const body = hasBody(exchange) ? new ClientBody(exchange, { clock, stallMs: parts.bodyStallMs, onBytes }) : undefined;
  if (body) parts.onBody(exchange.request);
  // `ClientBody` already listens, so an error of the body is noticed while the call waits for its turn.
  const queued = parts.queue.take(user);
  exchange.atEnd(queued.leave);
  if (queued.begins !== undefined) await queued.begins;
  // A stream may last for hours and costs little once its answer has begun, so it gives up its turn then.
  const relay = createRelay(exchange, activeCall, { kind, parts, onStart: isStream ? queued.leave : undefined });
  try {
    const call = { ...callOf(exchange, kind, parts.record), body };
    const { servePermitted } = parts;
    const isAnswered =
      servePermitted !== undefined && (await servePermitted(exchange, call, { out: relay, signal: activeCall.signal }));
    if (!isAnswered) await gateway.forward(call, relay, activeCall.signal);
    relay.end();
  } catch (error) {
    conclude(exchange, kind, { activeCall, relay, error: body?.errored ?? error, platform: parts.platform });
  }
}

interface Broken {
  readonly activeCall: ActiveCall;
  readonly relay: Relay;
  readonly error: unknown;
  readonly platform: string;
}

/**
 * Handles an answer that broke off. If we have ended it, a watch gets an orderly end, after which its client starts a new one. Any
 * other answer is cut, so that the client does not take a part of a log for the whole.
 */
function conclude(exchange: Exchange, kind: CallKind, { activeCall, relay, error, platform }: Broken): void {
  if (relay.isUnusable) throw badGateway(new Error('a header of the answer has a control character'));
  if (!activeCall.ended) throw error;
  exchange.reason = activeCall.ended;
  if (!exchange.response.headersSent) throw endedEarly(activeCall.ended, platform);
  if (kind === 'watch') relay.end();
  else cutOff(exchange.response);
}

async function upgrade(
  exchange: Exchange,
  { kind, protocol }: { readonly kind: CallKind; readonly protocol: UpgradeProtocol },
  parts: ServeCallParts,
): Promise<void> {
  const { gateway, streams, clock, origins, sendTimeoutMs } = parts;
  const { metrics } = gateway;
  const { request, upgrade: taken } = exchange;
  if (!taken) throw new Error('the connection was not taken out of HTTP');
  if (isForeign(request, origins)) {
    metrics.refused('origin');
    exchange.reason = 'the Origin is not in cors.origins'; // the line of the access log names the setting (CO-14)
    throw foreignOrigin();
  }
  const early = new EarlyBytes(taken);
  const activeCall = new ActiveCall(exchange);
  streams.opened(exchange, { kind, isUpgrade: true, end: activeCall.end });
  const relay = createRelay(exchange, activeCall, { kind, parts });
  const subprotocols = protocol === 'websocket' ? readSubprotocols(request).others : [];
  const call = { ...callOf(exchange, kind, parts.record), protocol, subprotocols };
  try {
    if (await watchBySocket(exchange, { kind, protocol, early, activeCall, relay }, parts)) return;
    const upgraded = await gateway.upgrade(call, relay, activeCall.signal);
    const head = early.stop();
    if (!upgraded) return relay.end();
    relay.switchTo(upgraded.headers, request.headers.upgrade ?? protocol);
    const tunnel = new Tunnel({
      client: taken.socket,
      reset: taken.reset,
      upstream: upgraded.socket,
      head,
      endSignal: endSignalOf(kind, protocol, upgraded.headers),
      clock,
      sendTimeoutMs,
      onBytes: (direction, bytes) => {
        metrics[direction](bytes);
        if (direction === 'received') exchange.bodyBytes += bytes;
      },
    });
    activeCall.onEnd = () => tunnel.end(activeCall.ended ?? 'closing');
    exchange.reason = await tunnel.closed;
  } catch (error) {
    early.stop();
    conclude(exchange, kind, { activeCall, relay, error, platform: parts.platform });
  }
}

interface AskedSocket {
  readonly kind: CallKind;
  readonly protocol: UpgradeProtocol;
  readonly early: EarlyBytes;
  readonly activeCall: ActiveCall;
  readonly relay: Relay;
}

/** Answers a permitted watch over a WebSocket. Resolves to false, with nothing sent, if the call is to be passed on. */
async function watchBySocket(
  exchange: Exchange,
  { kind, protocol, early, activeCall, relay }: AskedSocket,
  { gateway, clock, sendTimeoutMs, servePermitted, record }: ServeCallParts,
): Promise<boolean> {
  const { request, upgrade: taken } = exchange;
  if (!servePermitted || !taken || kind !== 'watch' || protocol !== 'websocket' || !isHandshake(request)) return false;
  const socket = new WatchSocket({
    ...{ exchange, client: taken.socket, early, relay, clock, sendTimeoutMs },
    subprotocols: readSubprotocols(request).others,
    onGone: activeCall.abort,
    onBytes: (direction, bytes) => {
      gateway.metrics[direction](bytes);
      if (direction === 'received') exchange.bodyBytes += bytes;
    },
  });
  activeCall.onEnd = () => {
    if (socket.isOpen) socket.endFor(activeCall.ended ?? 'closing');
    activeCall.abort();
  };
  const to = { out: socket, signal: activeCall.signal };
  try {
    if (!(await servePermitted(exchange, callOf(exchange, kind, record), to))) return false;
    socket.end();
  } catch (error) {
    if (!socket.isOpen) throw error;
    if (!activeCall.signal.aborted) exchange.failure = error;
    if (!activeCall.ended) socket.cut();
  }
  if (socket.isOpen) await socket.closed;
  exchange.reason = activeCall.ended;
  return true;
}

function endSignalOf(kind: CallKind, protocol: UpgradeProtocol, headers: readonly string[]): EndSignal {
  if (protocol === 'websocket') return 'websocket';
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-stream-protocol-version');
  const isCommand = kind === 'exec' || kind === 'attach';
  return isCommand && at >= 0 && readsFailures(headers[at + 1]) ? 'spdy-command' : 'other';
}

function createRelay(
  exchange: Exchange,
  { abort }: ActiveCall,
  {
    kind,
    parts,
    onStart,
  }: { readonly kind: CallKind; readonly parts: ServeCallParts; readonly onStart?: (() => void) | undefined },
): Relay {
  const { gateway, writer, clock, sendTimeoutMs } = parts;
  const sentAt = clock.monotonic();
  return new Relay(exchange, abort, {
    writer,
    // `kubectl logs | less` may pause for any time; each such stream takes one of the user's seats.
    reader: kind === 'log' ? undefined : new SlowReader(exchange.response, { clock, sendTimeoutMs }),
    isStream: isLongRunning(kind),
    onStart: () => {
      onStart?.();
      exchange.upstreamMs = clock.monotonic() - sentAt;
      gateway.metrics.upstreamAnswered(kind, exchange.upstreamMs);
    },
    onBytes: (bytes) => gateway.metrics.received(bytes),
  });
}
