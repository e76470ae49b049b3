import type { Registry } from 'prom-client';
import type { AccountReads } from '../accounts/account-reads.ts';
import type { UserPresenter } from '../accounts/users/user-presenter.ts';
import type { AccountWrites } from '../accounts/writes/account-writes.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { AuthorizationServer } from '../oauth/authorization-server.ts';
import type { TokenReviewWebhook } from '../oauth/endpoints/token-review.ts';
import type { BearerVerifier } from '../oauth/tokens/identity.ts';
import type { Logger } from '../observability/logger.ts';
import type { Age, Lister } from '../resources/cache.ts';
import type { Kind } from '../resources/entries/kind.ts';
import type { WatchSource } from '../resources/watch/watch.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { AnswerWriter } from './answer/answer.ts';
import { createCors } from './answer/cors.ts';
import { type BodyReader, createBodyReader } from './answer/read-body.ts';
import { admission } from './chain/admission.ts';
import { type AnswerDeadline, createAnswerDeadline } from './chain/answer-deadline.ts';
import { createAuthenticate } from './chain/authenticate.ts';
import { createAuthorize, readRequestInfo } from './chain/authorize.ts';
import { createBegin } from './chain/begin.ts';
import { type App, createRouter, gate, middleware, serveRouter } from './chain/chain.ts';
import { createGuard } from './chain/guard.ts';
import { createImpersonate } from './chain/impersonation.ts';
import {
  answerMethod,
  guardedBelow,
  mountRoutes,
  refuseUnknownPaths,
  refuseUnknownPublicPaths,
  refuseWithdrawnPaths,
} from './chain/routes.ts';
import { createStillAuthorized } from './chain/still-authorized.ts';
import { createTakeTurn, UserTurns } from './chain/user-turns.ts';
import { createCallerAddress, createUnreadableReport, type TrustedProxy } from './connection/source-address.ts';
import type { Route } from './exchange.ts';
import { createServedGateway, type ServedGateway, type ServedGatewayParts } from './gateway/served-gateway.ts';
import { isUpgrade } from './gateway/upgrade-request.ts';
import { Health, type HealthChecks } from './health.ts';
import type { HttpLimits } from './limits.ts';
import type { ServedLogs } from './logs/export-answer.ts';
import { logRoutes } from './logs/log-routes.ts';
import { type HttpMetrics, registerReadiness, registerWatches } from './metrics.ts';
import { Places } from './places.ts';
import { createRefusalPace } from './refusal-pace.ts';
import { userWriteHandlers } from './routes/account-writes.ts';
import { accountRoutes } from './routes/accounts.ts';
import {
  type Descriptions,
  descriptionRoutes,
  discoveryRoutes,
  type ReleaseInfo,
  versionRoutes,
} from './routes/discovery.ts';
import { healthRoutes } from './routes/health.ts';
import { listRoutes } from './routes/lists.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { tokenReviewRoutes } from './routes/token-review.ts';
import { withdrawnLogRoutes } from './routes/withdrawn.ts';
import { type CallerSteps, createRecheck } from './watch/recheck.ts';
import { WatchPlaces } from './watch/watch-places.ts';
import { Watches } from './watch/watches.ts';

/** A kind that is served, and what answers for it. */
export interface ServedList {
  readonly kind: Kind;
  readonly lister: Lister;
  readonly watches: WatchSource;
  readonly age: Age;
}

/** Users and platform roles, and what changes them. */
interface ServedAccounts {
  readonly reads: AccountReads;
  readonly writes: AccountWrites;
  readonly presenter: UserPresenter;
}

export interface AppParts {
  /** Names the API groups and the realm. */
  readonly platform: string;
  readonly release: ReleaseInfo;
  /** The cluster's own `/version`; `undefined` until it is known. */
  clusterVersion(): Readonly<Record<string, unknown>> | undefined;
  readonly authorizationServer: AuthorizationServer;
  readonly tokenReviews: TokenReviewWebhook;
  readonly verifier: BearerVerifier;
  readonly authorizer: Authorizer;
  /** How long an open watch may go on after the last decision about its caller, while the cluster gives no new one. */
  readonly maxDecisionAgeMs: number;
  readonly lists: readonly ServedList[];
  /** Absent: accounts are not served. */
  readonly accounts?: ServedAccounts | undefined;
  /** Absent: there is no log store, and log queries are told so. */
  readonly logs?: ServedLogs | undefined;
  /** Absent: the paths of the cluster are not served. */
  readonly gateway?: Pick<ServedGatewayParts, 'gateway' | 'events' | 'streamDrainMs'> | undefined;
  /** Aborts when the port has closed: open streams must end then. */
  readonly closing: AbortSignal;
  readonly health: HealthChecks;
  readonly limits: HttpLimits;
  readonly trustedProxies: readonly TrustedProxy[];
  /** Origins that may read answers from a browser, compared exactly. */
  readonly corsOrigins: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: HttpMetrics;
  readonly writer: AnswerWriter;
  readonly descriptions: Descriptions;
}

/** Everything that the API port serves. */
export function createApp(parts: AppParts): App {
  const gateway = parts.gateway && servedGateway(parts.gateway, parts);
  const app = serveRoutes([...createRoutes(parts), ...(gateway?.routes ?? [])], parts, gateway?.turns);
  if (!gateway) return app;
  const { pacesItself, outlasts } = gateway;
  return { ...app, takesUpgrade: isUpgrade, pacesItself, outlasts };
}

/** The one table of what is served and who may access it. */
export function createRoutes(parts: AppParts): Route[] {
  const { platform, clock, limits, metrics, writer, descriptions, release } = parts;
  const bodies = createBodyReader({ clock, timeoutMs: limits.bodyTimeoutMs, metrics });
  const health = new Health(parts.health, parts);
  registerReadiness(parts.registry, health);
  const lists = servedLists(parts);
  const deadline = createAnswerDeadline(clock, limits.answerTimeoutMs);
  const gatewayIsOpen = parts.gateway !== undefined;
  const accounts = parts.accounts ? servedAccounts(parts.accounts, { bodies, writer, deadline, gatewayIsOpen }) : [];
  const logs = servedLogs(parts);
  return [
    ...lists, // asked for most, so the router looks here first
    ...healthRoutes(health, writer),
    ...versionRoutes(parts, writer),
    ...descriptionRoutes({ platform, version: release.version, descriptions }, writer),
    ...oauthRoutes({ server: parts.authorizationServer, limits, bodies, writer, clock }),
    ...tokenReviewRoutes({ reviews: parts.tokenReviews, bodies, writer, clock }),
    ...accounts,
    ...logs,
    ...discoveryRoutes([...lists, ...accounts, ...logs], writer),
    ...withdrawnLogRoutes(platform),
  ];
}

function servedLogs({ platform, logs, limits, metrics, writer, clock }: AppParts): Route[] {
  const { maxLogQueries: all, maxLogQueriesPerUser: perUser, sendTimeoutMs } = limits;
  const places = new Places({ all, perUser }, (isPerUser) =>
    metrics.rejected(isPerUser ? 'log_queries_per_user' : 'log_queries'),
  );
  logs?.showUnderway(() => places.taken);
  return logRoutes({ platform, logs, places, writer, clock, sendTimeoutMs });
}

function servedGateway(own: NonNullable<AppParts['gateway']>, parts: AppParts): ServedGateway {
  const { clock, authorizer, limits } = parts;
  const asking = { authorizer, deadline: createAnswerDeadline(clock, limits.answerTimeoutMs) };
  const authorize = createStillAuthorized(asking);
  const recheck = createRecheck({ ...callerSteps(parts), authorize }, clock, parts.maxDecisionAgeMs);
  return createServedGateway({ ...parts, ...own, recheck, impersonate: createImpersonate(asking) });
}

function servedAccounts(
  { reads, writes, presenter }: ServedAccounts,
  others: { bodies: BodyReader; writer: AnswerWriter; deadline: AnswerDeadline; gatewayIsOpen: boolean },
): Route[] {
  const { bodies, writer, deadline, gatewayIsOpen } = others;
  return accountRoutes({
    reads,
    writes: userWriteHandlers({ writes, presenter, bodies, writer, deadline }),
    writer,
    deadline,
    gatewayIsOpen,
  });
}

/** The routes of all kinds. Their watches share the places. */
function servedLists(parts: AppParts): Route[] {
  const { clock, random, closing, limits, metrics, writer } = parts;
  const deadline = createAnswerDeadline(clock, limits.answerTimeoutMs);
  const places = new WatchPlaces(limits, metrics);
  registerWatches(parts.registry, places);
  const recheck = createRecheck(callerSteps(parts), clock, parts.maxDecisionAgeMs);
  return parts.lists.flatMap(({ kind, lister, age, watches: source }) => {
    const watches = new Watches({ source, age, places, limits, writer, metrics, clock, random, closing, recheck });
    return listRoutes({ kind, lister, age, watches, writer, deadline });
  });
}

/** What the turns of calls to the cluster hear of other requests: that one has come, and whose it is. */
interface OtherRequests {
  other(): void;
  asked(user: string): void;
}

/**
 * The steps that every request goes through, in their order, and the routes between them. `calls` is told of each request that
 * is not the gateway's.
 */
export function serveRoutes(routes: readonly Route[], parts: AppParts, calls?: OtherRequests): App {
  const { platform, limits, metrics, registry, writer, clock, random, logger } = parts;
  const cors = createCors(parts.corsOrigins);
  const { authenticate, authorize } = callerSteps(parts, guardedBelow(routes));
  const addressOf = createCallerAddress(parts.trustedProxies, createUnreadableReport(parts));
  const guard = createGuard({ platform, limits, metrics }); // protocol, header and path rules
  const takeTurn = createTakeTurn({ turns: new UserTurns(parts), registry, onOther: calls?.asked });
  const first = [
    answerMethod(writer, cors), // OPTIONS and 405, without credentials
    admission(limits, { metrics, registry, onOther: calls?.other }), // bounds the requests in flight, by class
  ].map(middleware);
  const judged = [
    middleware(authenticate), // from here on a user is known, or 401 was answered
    gate(takeTurn), // users take turns while the event loop is busy
    middleware(readRequestInfo), // verb, group, resource, name
    middleware(refuseWithdrawnPaths), // 410 to anybody signed in
    middleware(authorize), // before any cache is read
  ];
  const router = createRouter();
  // Public routes (health, version, descriptions, /oauth) do not look at the bearer: a stale one must not fail a probe.
  mountRoutes(router, routes, ({ access, before }) => {
    if (access === 'public') return first;
    return before ? [...first, middleware(before), ...judged] : [...first, ...judged];
  });
  router.use(...first, middleware(refuseUnknownPublicPaths(platform)), ...judged, middleware(refuseUnknownPaths));
  return serveRouter(router, {
    guard,
    writer,
    begin: createBegin({ clock, random, logger, metrics, cors, addressOf }),
  });
}

/** The two steps that judge a caller. They run for every request, and again while a stream goes on. */
function callerSteps(parts: AppParts, isGuarded?: (segments: readonly string[]) => boolean): CallerSteps {
  const { platform, limits, clock, metrics, verifier, authorizer } = parts;
  const { maxBearerBytes, answerTimeoutMs } = limits;
  const deadline = createAnswerDeadline(clock, answerTimeoutMs);
  return {
    authenticate: createAuthenticate({ verifier, platform, maxBearerBytes, metrics, deadline }),
    authorize: createAuthorize({ authorizer, deadline, pace: createRefusalPace(clock), isGuarded }),
  };
}
