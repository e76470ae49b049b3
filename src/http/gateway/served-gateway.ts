import type { IncomingMessage } from 'node:http';
import type { Registry } from 'prom-client';
import type { Gateway } from '../../gateway/gateway.ts';
import { registerStreams, registerUnderway } from '../../gateway/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import type { Impersonate } from '../chain/impersonation.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';
import { Places } from '../places.ts';
import type { Recheck } from '../watch/recheck.ts';
import { createCallRecord } from './call-record.ts';
import { CallTurns } from './call-turns.ts';
import { OpenStreams } from './open-streams.ts';
import { gatewayRoutes } from './routes.ts';
import { serveCall } from './serve-call.ts';

export interface ServedGatewayParts {
  readonly gateway: Gateway;
  readonly events: SecurityEvents;
  readonly platform: string;
  readonly limits: HttpLimits;
  readonly corsOrigins: readonly string[];
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
  readonly registry: Registry;
  /** Aborts when the port has closed. */
  readonly closing: AbortSignal;
  /** How long streams go on from then on; watches have 10 s. */
  readonly streamDrainMs: number;
  readonly recheck: (exchange: Exchange) => Recheck;
  readonly impersonate: Impersonate;
}

/** The paths of the cluster, served. */
export interface ServedGateway {
  readonly routes: readonly Route[];
  /** To be told of each other request. */
  readonly turns: CallTurns;
  /** Whether the body of this request is read at the pace of the cluster, so that it has no time limit as a whole. */
  pacesItself(request: IncomingMessage): boolean;
  /** Whether this request has a stream that goes on at a shutdown, when those of others are cut. */
  outlasts(request: IncomingMessage): boolean;
}

/** Puts the parts of the gateway together. */
export function createServedGateway(parts: ServedGatewayParts): ServedGateway {
  const { gateway, events, platform, limits, corsOrigins, writer, clock, loopLoad, registry } = parts;
  const { metrics } = gateway;
  const streams = new OpenStreams(parts);
  const places = {
    requests: new Places({ all: limits.maxGatewayRequests, perUser: limits.maxGatewayRequestsPerUser }, (isPerUser) =>
      metrics.refused(isPerUser ? 'requests_per_user' : 'requests'),
    ),
    streams: new Places({ all: limits.maxGatewayStreams, perUser: limits.maxGatewayStreamsPerUser }, (isPerUser) =>
      metrics.refused(isPerUser ? 'streams_per_user' : 'streams'),
    ),
  };
  registerStreams(registry, (kind) => streams.count(kind));
  const turns = new CallTurns({ clock, loopLoad });
  registerUnderway(registry, {
    requests: () => places.requests.taken,
    upgrades: () => streams.upgrades,
    waiting: () => turns.waiting,
  });
  const paced = new WeakSet<IncomingMessage>();
  const serve = serveCall({
    gateway,
    impersonate: parts.impersonate,
    places,
    streams,
    turns,
    writer,
    clock,
    platform,
    origins: new Set(corsOrigins),
    bodyStallMs: limits.bodyTimeoutMs,
    sendTimeoutMs: limits.sendTimeoutMs,
    onBody: (request) => paced.add(request),
    record: createCallRecord(events, metrics),
  });
  return {
    routes: gatewayRoutes(serve),
    turns,
    pacesItself: (request) => paced.has(request),
    outlasts: streams.outlasts,
  };
}
