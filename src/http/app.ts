import type { Registry } from 'prom-client';
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
import { createBodyReader } from './answer/read-body.ts';
import { admission } from './chain/admission.ts';
import { createAnswerDeadline } from './chain/answer-deadline.ts';
import { createAuthenticate } from './chain/authenticate.ts';
import { createAuthorize, readRequestInfo } from './chain/authorize.ts';
import { createBegin } from './chain/begin.ts';
import { type App, createRouter, middleware, serveRouter } from './chain/chain.ts';
import { createGuard } from './chain/guard.ts';
import {
  answerMethod,
  mountRoutes,
  refuseUnknownPaths,
  refuseUnknownPublicPaths,
  refuseWithdrawnPaths,
} from './chain/routes.ts';
import { createSourceAddress, type TrustedProxy } from './connection/source-address.ts';
import type { Route } from './exchange.ts';
import { Health, type HealthChecks } from './health.ts';
import type { HttpLimits } from './limits.ts';
import { type HttpMetrics, registerReadiness, registerWatches } from './metrics.ts';
import { createRefusalPace } from './refusal-pace.ts';
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
  /** Aborts when the port has closed: open streams must end then. */
  readonly closing: AbortSignal;
  readonly health: HealthChecks;
  readonly limits: HttpLimits;
  readonly trustedProxies: readonly TrustedProxy[];
  /** Origins that may read answers from a browser, compared exactly. */
  readonly corsOrigins: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: HttpMetrics;
  readonly writer: AnswerWriter;
  readonly descriptions: Descriptions;
}

/** Everything that the API port serves. */
export function createApp(parts: AppParts): App {
  return serveRoutes(createRoutes(parts), parts);
}

/** The one table of what is served and who may access it. */
export function createRoutes(parts: AppParts): Route[] {
  const { platform, clock, limits, metrics, writer, descriptions, release } = parts;
  const bodies = createBodyReader({ clock, timeoutMs: limits.bodyTimeoutMs, metrics });
  const health = new Health(parts.health, parts);
  registerReadiness(parts.registry, health);
  const lists = servedLists(parts);
  return [
    ...lists, // asked for most, so the router looks here first
    ...healthRoutes(health, writer),
    ...versionRoutes(parts, writer),
    ...descriptionRoutes({ platform, version: release.version, descriptions }, writer),
    ...oauthRoutes({ server: parts.authorizationServer, limits, bodies, writer, clock }),
    ...tokenReviewRoutes({ reviews: parts.tokenReviews, bodies, writer, clock }),
    ...discoveryRoutes(lists, writer),
    ...withdrawnLogRoutes(platform),
  ];
}

/** The routes of all kinds. Their watches share the places. */
function servedLists(parts: AppParts): Route[] {
  const { clock, random, closing, limits, metrics, writer } = parts;
  const places = new WatchPlaces(limits, metrics);
  registerWatches(parts.registry, places);
  const recheck = createRecheck(callerSteps(parts), clock, parts.maxDecisionAgeMs);
  return parts.lists.flatMap(({ kind, lister, age, watches: source }) => {
    const watches = new Watches({ source, age, places, limits, writer, metrics, clock, random, closing, recheck });
    return listRoutes({ kind, lister, age, watches, writer });
  });
}

/** The steps that every request goes through, in their order, and the routes between them. */
export function serveRoutes(routes: readonly Route[], parts: AppParts): App {
  const { platform, limits, metrics, writer, clock, random, logger } = parts;
  const cors = createCors(parts.corsOrigins);
  const { authenticate, authorize } = callerSteps(parts);
  const sourceOf = createSourceAddress(parts.trustedProxies);
  const guard = createGuard({ platform, limits, metrics }); // protocol, header and path rules
  const first = [
    answerMethod(writer, cors), // OPTIONS and 405, without credentials
    admission(limits, metrics, parts.registry), // bounds the requests in flight, by class
  ];
  const judged = [
    authenticate, // from here on a user is known, or 401 was answered
    readRequestInfo, // verb, group, resource, name
    refuseWithdrawnPaths, // 410 to anybody signed in
    authorize, // before any cache is read
  ];
  const router = createRouter();
  // Public routes (health, version, descriptions, /oauth) do not look at the bearer: a stale one must not fail a probe.
  mountRoutes(router, routes, ({ access }) => (access === 'public' ? first : [...first, ...judged]));
  const unknown = [...first, refuseUnknownPublicPaths(platform), ...judged, refuseUnknownPaths];
  router.use(...unknown.map(middleware));
  return serveRouter(router, { guard, writer, begin: createBegin({ clock, random, logger, metrics, cors, sourceOf }) });
}

/** The two steps that judge a caller. They run for every request, and again while a stream goes on. */
function callerSteps({ platform, limits, clock, metrics, verifier, authorizer }: AppParts): CallerSteps {
  const { maxBearerBytes, answerTimeoutMs } = limits;
  const deadline = createAnswerDeadline(clock, answerTimeoutMs);
  return {
    authenticate: createAuthenticate({ verifier, platform, maxBearerBytes, metrics, deadline }),
    authorize: createAuthorize({ authorizer, deadline, pace: createRefusalPace(clock) }),
  };
}
