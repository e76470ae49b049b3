import type { IncomingMessage } from 'node:http';
import type { Gateway } from '../../gateway/gateway.ts';
import { registerCallsInFlight, registerStreams } from '../../gateway/metrics.ts';
import type { PermittedLists } from '../../gateway/permitted/permitted-lists.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { createImpersonate } from '../chain/impersonation.ts';
import { createStillAuthorized } from '../chain/still-authorized.ts';
import type { Step } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import { CallQueue } from '../limits/call-queue.ts';
import { UserSeats } from '../limits/user-seats.ts';
import { createRecheck } from '../watch/recheck.ts';
import { createCallRecord } from './call-record.ts';
import { OpenStreams } from './open-streams.ts';
import { createServePermitted } from './permitted/serve-permitted.ts';
import { gatewayRoutes } from './routes.ts';
import { serveCall } from './serve-call.ts';
import { isUpgrade } from './upgrade-request.ts';
import { createLogRights } from './workload-logs/log-rights.ts';
import { workloadLogRoute } from './workload-logs/serve-logs.ts';

export interface ServedGateway {
  readonly gateway: Gateway;
  readonly events: SecurityEvents;
  /** Absent: lists and watches over the whole cluster are passed on like any other call. */
  readonly permittedLists?: PermittedLists | undefined;
  /** How long streams may go on after the port has closed; watches end within 10 s. */
  readonly streamDrainMs: number;
}

/** The recheck of an open stream: also whether its caller may still use the gateway. */
const withAccess =
  (gateway: Gateway, authorize: Step): Step =>
  (exchange) => {
    const { identity, impersonation } = exchange;
    if (identity) gateway.checkAccess(identity, impersonation?.subject);
    return authorize(exchange);
  };

/** The routes of the cluster's own paths. */
export const gatewayFamily =
  ({ gateway, events, permittedLists, streamDrainMs }: ServedGateway): RouteFamily =>
  (tools) => {
    const { platform, limits, corsOrigins, writer, clock, loopLoad, registry, authorizer, deadline } = tools;
    const { metrics } = gateway;
    const { authenticate } = tools.callerSteps;
    const recheckBy = (judge: Step) =>
      createRecheck({ authenticate, authorize: withAccess(gateway, judge) }, clock, tools.maxDecisionAgeMs);
    const recheck = recheckBy(createStillAuthorized({ authorizer, deadline }));
    const streams = new OpenStreams({ ...tools, streamDrainMs, recheck });
    const seats = {
      requests: new UserSeats({
        all: limits.maxGatewayRequests,
        perUser: limits.maxGatewayRequestsPerUser,
        refused: (isPerUser) => metrics.refused(isPerUser ? 'requests_per_user' : 'requests'),
      }),
      streams: new UserSeats({
        all: limits.maxGatewayStreams,
        perUser: limits.maxGatewayStreamsPerUser,
        refused: (isPerUser) => metrics.refused(isPerUser ? 'streams_per_user' : 'streams'),
      }),
    };
    registerStreams(registry, (kind) => streams.count(kind));
    const queue = new CallQueue({ clock, loopLoad });
    registerCallsInFlight(registry, {
      requests: () => seats.requests.taken,
      upgrades: () => streams.upgrades,
      waiting: () => queue.waiting,
    });
    const paced = new WeakSet<IncomingMessage>();
    const common = {
      ...{ gateway, seats, streams, queue, writer, clock, platform },
      impersonate: createImpersonate({ authorizer, deadline }),
      sendTimeoutMs: limits.sendTimeoutMs,
      record: createCallRecord(events, metrics),
    };
    const serve = serveCall({
      ...common,
      origins: new Set(corsOrigins),
      bodyStallMs: limits.bodyTimeoutMs,
      onBody: (request) => paced.add(request),
      servePermitted: permittedLists && createServePermitted({ lists: permittedLists, authorizer, deadline }),
    });
    const rights = createLogRights({ authorizer, deadline });
    const logs = workloadLogRoute({ ...common, rights, random: tools.random, recheckBy });
    return {
      routes: [...gatewayRoutes(serve), logs],
      others: queue,
      takesUpgrade: isUpgrade,
      pacesItself: (request) => paced.has(request),
      outlasts: streams.outlasts,
    };
  };
