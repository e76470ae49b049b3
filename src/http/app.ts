import type { IncomingMessage } from 'node:http';
import type { BearerVerifier } from '../oauth/tokens/identity.ts';
import { createCors } from './answer/cors.ts';
import { createBodyReader } from './answer/read-body.ts';
import { createAnswerDeadline } from './chain/answer-deadline.ts';
import { createAuthenticate } from './chain/authenticate.ts';
import { createAuthorize, createReadRequestInfo } from './chain/authorize.ts';
import { createBegin } from './chain/begin.ts';
import { type App, createRouter, middleware, serveRouter, wrapping } from './chain/chain.ts';
import { createGuard } from './chain/guard.ts';
import {
  answerMethod,
  guardedBelow,
  mountRoutes,
  refuseUnknownPaths,
  refuseUnknownPublicPaths,
  refuseWithdrawnPaths,
  shareWithOrigins,
} from './chain/routes.ts';
import { createCallerAddress, createUnreadableReport, type TrustedProxy } from './connection/source-address.ts';
import type { Route } from './exchange.ts';
import type { OtherRequests, RouteFamily, RouteTools, ServedFamily } from './family.ts';
import { admission } from './limits/admission.ts';
import { createRefusalThrottle } from './limits/refusal-throttle.ts';
import { createQueueStep, RequestQueue } from './limits/request-queue.ts';
import type { PageAuthentication } from './page/page-authentication.ts';
import { discoveryRoutes } from './routes/discovery.ts';
import type { CallerSteps } from './watch/recheck.ts';

export interface AppParts extends Omit<RouteTools, 'bodies' | 'deadline' | 'callerSteps'> {
  /** The families of routes. The router checks routes in this order, so the most frequent ones come first. */
  readonly families: readonly RouteFamily[];
  readonly verifier: BearerVerifier;
  /** Absent without a page. */
  readonly page?: PageAuthentication | undefined;
  readonly trustedProxies: readonly TrustedProxy[];
}

/** Creates the app of the API port. */
export function createApp(parts: AppParts): App {
  const families = serveFamilies(parts);
  return {
    ...serveRoutes(allRoutes(families, parts), parts, families),
    takesUpgrade: anyOf(families, ({ takesUpgrade }) => takesUpgrade),
    pacesItself: anyOf(families, ({ pacesItself }) => pacesItself),
    outlasts: anyOf(families, ({ outlasts }) => outlasts),
  };
}

/** The table of all routes, which says who may access each. */
export const createRoutes = (parts: AppParts): Route[] => allRoutes(serveFamilies(parts), parts);

function serveFamilies(parts: AppParts): ServedFamily[] {
  const { clock, limits, metrics } = parts;
  const tools: RouteTools = {
    ...parts,
    bodies: createBodyReader({ clock, timeoutMs: limits.bodyTimeoutMs, metrics }),
    deadline: createAnswerDeadline(clock, limits.answerTimeoutMs),
    callerSteps: createCallerSteps(parts),
  };
  return parts.families.map((serve) => serve(tools));
}

function allRoutes(families: readonly ServedFamily[], { writer, platform }: AppParts): Route[] {
  const served = families.flatMap(({ routes }) => routes);
  const listable = families.find(({ listableKinds }) => listableKinds)?.listableKinds;
  const all = listable && { group: `resources.${platform}.io`, version: 'v1alpha3', listable };
  return [...served, ...discoveryRoutes(served, writer, all)];
}

type RequestTest = (request: IncomingMessage) => boolean;

/** Joins the tests of all families: true if one of them is true. `undefined` if no family has such a test. */
function anyOf(
  families: readonly ServedFamily[],
  testOf: (family: ServedFamily) => RequestTest | undefined,
): RequestTest | undefined {
  const tests = families.map(testOf).filter((test) => test !== undefined);
  return tests.length === 0 ? undefined : (request) => tests.some((test) => test(request));
}

/** Puts together the steps that every request goes through, in their order, and the routes. */
export function serveRoutes(
  routes: readonly Route[],
  parts: AppParts,
  families: readonly Pick<ServedFamily, 'others'>[] = [],
): App {
  const { platform, limits, metrics, registry, writer, clock, random, logger } = parts;
  const others = notifyAll(families);
  const cors = createCors(parts.corsOrigins);
  const { authenticate, authorize } = createCallerSteps(parts, guardedBelow(routes));
  const addressOf = createCallerAddress(parts.trustedProxies, createUnreadableReport(parts));
  const guard = createGuard({ platform, limits, metrics }); // protocol, header and path rules
  const queueRequest = createQueueStep({ queue: new RequestQueue(parts), registry, onOther: others.asked });
  const first = [
    shareWithOrigins(cors), // a page can read a refusal as well
    answerMethod(writer, cors), // OPTIONS and 405, without credentials
    admission(limits, { metrics, registry, onOther: others.other }), // bounds the requests in flight, by class
  ].map(middleware);
  const known = [
    middleware(authenticate), // from here on a user is known, or 401 was answered
    wrapping(queueRequest), // users take turns while the event loop is busy
    middleware(createReadRequestInfo()), // verb, group, resource, name
  ];
  const withdrawn = middleware(refuseWithdrawnPaths); // 410 to anybody signed in
  const allowed = middleware(authorize); // before any cache is read
  const router = createRouter();
  // Public routes (health, version, descriptions, /oauth) do not look at the bearer: a stale one must not fail a probe.
  mountRoutes(router, routes, ({ access, before, gone, resolve }) => {
    if (access === 'public') return first;
    const resolved = resolve ? [...known, middleware(resolve)] : known;
    const permitted = access === 'signed-in' ? [] : [allowed];
    const judged = gone ? [...known, withdrawn, allowed] : [...resolved, ...permitted];
    return before ? [...first, middleware(before), ...judged] : [...first, ...judged];
  });
  const unknown = [
    middleware(refuseUnknownPublicPaths(platform)),
    ...known,
    allowed,
    middleware(refuseUnknownPaths(platform)),
  ];
  router.use(...first, ...unknown);
  return serveRouter(router, {
    guard,
    writer,
    begin: createBegin({ clock, random, logger, metrics, cors, addressOf }),
  });
}

/** Passes each notification on to all families that want it. */
function notifyAll(families: readonly Pick<ServedFamily, 'others'>[]): OtherRequests {
  const listeners = families.flatMap(({ others }) => others ?? []);
  return {
    other: () => {
      for (const listener of listeners) listener.other();
    },
    asked: (user) => {
      for (const listener of listeners) listener.asked(user);
    },
  };
}

/** The two steps that authenticate and authorize a caller. They run for every request, and again while a stream is open. */
function createCallerSteps(parts: AppParts, isGuarded?: (segments: readonly string[]) => boolean): CallerSteps {
  const { platform, limits, clock, metrics, verifier, page, authorizer } = parts;
  const { maxBearerBytes, answerTimeoutMs } = limits;
  const deadline = createAnswerDeadline(clock, answerTimeoutMs);
  return {
    authenticate: createAuthenticate({ verifier, page, platform, maxBearerBytes, metrics, deadline }),
    authorize: createAuthorize({ authorizer, deadline, throttle: createRefusalThrottle(clock), isGuarded, platform }),
  };
}
