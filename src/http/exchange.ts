import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Decision } from '../authorization/authorizer.ts';
import type { Impersonation } from '../gateway/acting-as.ts';
import type { Actor } from '../oauth/tokens/act.ts';
import type { Identity } from '../oauth/tokens/identity.ts';
import { Moment } from '../runtime/moment.ts';
import type { ExchangeStart, Taken } from './exchange-start.ts';
import type { RequestInfo } from './request-info.ts';
import { isOAuthPath, type Target } from './target.ts';

/** What is known of a request after authentication: its caller, and the verb and resource. */
type SignedIn = { readonly identity: Identity; readonly info: RequestInfo };

type Writable = { -readonly [Fact in keyof Exchange]: Exchange[Fact] };

const NOWHERE: Target = { segments: [], path: '/', query: '' };
/**
 * One request and its answer. Members about the request are read-only: the step that knows a value first sets it with a method, and
 * later steps and the log read it. Members about the answer are set while the answer is made, for the log. An exchange has only facts;
 * the steps get their dependencies elsewhere.
 */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly rawTarget: string;
  readonly requestId: string;
  readonly ownRequestId: string | undefined;
  readonly startedAt: number;
  readonly source: string;
  readonly address: string;
  readonly upgrade: Taken | undefined;

  /** The value of `Authorization`, or the credential that was sent in another way. */
  readonly authorization: string | undefined;
  /** Set by the guard; `/` if the guard has refused the request. */
  readonly target: Target = NOWHERE;
  /** Set by the router; `undefined` for a path without a route. */
  readonly route: Route | undefined;
  /** Set by the router: the values of the route's `{…}` segments, in their order. */
  readonly parameters: readonly string[] = [];
  /** Set by authentication. */
  readonly identity: Identity | undefined;
  /** Set by the gateway: the user whom the caller asks to impersonate and may impersonate. */
  impersonation: Impersonation | undefined;
  /** Set by the gateway: the call is answered over the namespaces in which the caller has the right to it, and by whose rights it is read. */
  permitted: { readonly namespaces: number; readonly way: 'as_caller' | 'as_ourselves' } | undefined;
  /** Set under /oauth: the client, user and session, as far as the authorization server knows them. */
  readonly actor: Actor | undefined;
  /** Set after authentication. */
  readonly info: RequestInfo | undefined;
  /** Set by authorization: the last decision, which is made again while a watch is open. */
  readonly decision: Decision | undefined;

  /** Each name, then its value. A route with origins of its own replaces them. */
  corsHeaders: readonly string[];
  /** Set by the answer writer; streams add to it. */
  bodyBytes = 0;
  /** Set when a streamed answer begins: monotonic milliseconds. */
  streamedAt: number | undefined;
  /** Set by the gateway: milliseconds until the cluster's answer began. */
  upstreamMs: number | undefined;
  /** Set before the answer begins. */
  coding: 'identity' | 'gzip' | 'br' = 'identity';
  /** Why the answer is a 4xx, or why a stream ended, as one of a few fixed words. Set by authentication, the error writer and streams. */
  reason: string | undefined;
  /** The cause of a 5xx, or why a stream broke off; set by the error writer and by streams. It is logged and never sent. */
  failure: unknown;

  readonly #answered = new Moment();
  readonly #ended = new Moment();
  #admit: (() => void) | undefined;
  #take: (() => () => void) | undefined;
  #leave: (() => void) | undefined;
  #gone: AbortController | undefined;

  constructor(beginning: ExchangeStart) {
    this.request = beginning.request;
    this.response = beginning.response;
    this.rawTarget = beginning.rawTarget;
    this.requestId = beginning.requestId;
    this.ownRequestId = beginning.ownRequestId;
    this.startedAt = beginning.startedAt;
    this.source = beginning.source;
    this.address = beginning.address ?? beginning.source;
    this.corsHeaders = beginning.corsHeaders;
    this.upgrade = beginning.upgrade;
    this.authorization = beginning.request.headers.authorization;
    this.response.on('close', () => this.#end());
  }

  /** The status of the answer; 499, as proxies log it, if the client disconnected before an answer began. */
  get status(): number {
    return this.response.headersSent ? this.response.statusCode : 499;
  }

  /** Whether errors are sent as OAuth JSON: under /oauth, even if the target itself is refused. */
  get speaksOAuth(): boolean {
    return this.target.segments[0] === 'oauth' || isOAuthPath(this.rawTarget);
  }

  /** Postpones admission until the body has arrived. `take` takes the seat, or throws a 429. */
  admitLater(take: () => void): void {
    this.#admit = take;
  }

  /** Admits the request, because its body has arrived. Does nothing for a request that was admitted before, or refused. */
  admit(): void {
    const admit = this.#admit;
    this.#admit = undefined;
    admit?.();
  }

  /**
   * Takes a seat with `take`, which throws a 429 if there is none, unless the exchange has ended. The function that `take` returns is
   * called once, when the answer has been made or the client has gone.
   */
  takeSeat(take: () => () => void): void {
    if (this.#ended.isPast) return;
    this.#take = take;
    this.#leave = take();
  }

  /** Gives the seat back while the request waits in a queue. The returned function takes a seat again, or throws a 429. */
  stepAside(): () => void {
    const take = this.#leave && this.#take;
    this.leaveSeat();
    return () => take && this.takeSeat(take);
  }

  /** Gives the seat back, if the request has one. */
  leaveSeat(): void {
    const leave = this.#leave;
    this.#leave = undefined;
    leave?.();
  }

  /** Called by the guard. */
  located(target: Target): void {
    (this as Writable).target = target;
  }

  /** Called by the router, with the values of the `{…}` segments. */
  found(route: Route, parameters: readonly string[]): void {
    (this as Writable).route = route;
    (this as Writable).parameters = parameters;
  }

  /** Sets a credential that was not sent in `Authorization`. */
  presents(authorization: string): void {
    (this as Writable).authorization = authorization;
  }

  /** Called by authentication. */
  authenticated(identity: Identity): void {
    (this as Writable).identity = identity;
  }

  /** The caller, the verb and the resource. Throws if the route has no step that authenticates, which is a bug. */
  get signedIn(): SignedIn {
    const { identity, info } = this;
    if (!identity || !info) throw new Error('the requests of this route are not authenticated');
    return { identity, info };
  }

  /** Called when verb and resource are known. */
  asks(info: RequestInfo): void {
    (this as Writable).info = info;
  }

  /** Called by authorization. */
  decided(decision: Decision): void {
    (this as Writable).decision = decision;
  }

  /** Called by the authorization server, whenever it knows more. */
  actedFor(actor: Actor): void {
    (this as Writable).actor = actor;
  }

  /** Runs `ending` once, when the answer has been sent or the client has gone; at once if the exchange has ended. */
  atEnd(ending: () => void): void {
    this.#ended.whenPast(ending);
  }

  /** Runs `run` once, when the status is final: with the head of the answer, or at the end if the client has gone before; at once if it is. */
  whenAnswered(run: () => void): void {
    this.#answered.whenPast(run);
  }

  /** Called by the answer writer, which has written the head of the answer. */
  answered(): void {
    this.#answered.comes();
  }

  /** A signal that aborts when the client disconnects before the answer is complete. */
  get signal(): AbortSignal {
    if (this.#gone) return this.#gone.signal;
    const gone = new AbortController();
    this.#gone = gone;
    this.atEnd(() => this.response.writableFinished || gone.abort());
    return gone.signal;
  }

  #end(): void {
    this.leaveSeat();
    this.#answered.comes();
    this.#ended.comes();
  }
}

/** The result of a step. `next`: the chain goes on. `answered`: the step has sent the answer, or has begun to. */
export type Outcome = 'next' | 'answered';

/** A named step of the chain. An error that it throws or rejects with goes to the error writer. */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>;

/** A step that calls `go` to run the rest of the chain, so that it can measure how long that takes. */
export type WrappingStep = (exchange: Exchange, go: (error?: unknown) => void) => void;

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof METHODS)[number];

/** Answers one request of a route. Throws or rejects with a `StatusError` or `OAuthError`, which the error writer sends. */
export type Handler = (exchange: Exchange) => void | Promise<void>;

/** The handlers of a path, by method. */
export type Methods = Readonly<Partial<Record<Method, Handler>>>;

/** A path that is served. Only the table of routes says which paths are public. */
export interface Route {
  /** The path, with `{…}` for a variable segment; also its name in metrics and in the API description. */
  readonly template: string;
  /** `public`: the bearer token is ignored. `signed-in`: any authenticated caller; what such a caller may see or do is the route's own business. `authorized`: the caller is also authorized. */
  readonly access: 'public' | 'signed-in' | 'authorized';
  /** The class whose limit of requests in flight applies (HL-05). `health` has no limit, and the gateway has its own. */
  readonly admission: 'health' | 'sign-in' | 'other' | 'gateway';
  /** Whether a POST, PUT or PATCH reads a body (a form, a review, an object), and calls `exchange.admit()` only when it has arrived. */
  readonly readsForm?: true;
  /** With `json`, a caller that does not accept JSON gets a 406. */
  readonly produces: 'json' | 'any';
  readonly methods: Methods;
  /** Whether pages of an origin may read the answers, besides those of `cors.origins`. `never`: not even those may. Default: only those. */
  readonly crossOrigin?: ((origin: string) => boolean) | 'never';
  /** A step before authentication. */
  readonly before?: Step;
  /** A step before authorization, which finds out which resource of the cluster the request is about. */
  readonly resolve?: Step;
  /** Whether a caller without the right to all objects may see some of them. Then the handler answers or refuses the request. */
  readonly narrows?: (exchange: Exchange) => boolean;
  /** Whether the route serves this request. Requests that it does not serve go to later routes. Default: it serves all. */
  readonly takes?: (request: IncomingMessage) => boolean;
  /** Answers a GET or HEAD that asks for a watch. It checks `Accept` itself. */
  readonly watch?: Handler;
  /** The time limit that the caller sets in the request, in milliseconds from its beginning. Absent: the route reads none. */
  readonly allowedMs?: (exchange: Exchange) => number | undefined;
  /**
   * What the user named by the first variable segment may do without a right in the cluster. `free`: the cluster is not asked. `narrowed`:
   * it is asked, and if it denies, the handler still allows what every user may do to their own data.
   */
  readonly self?: Readonly<Partial<Record<Method, 'free' | 'narrowed'>>>;
  /**
   * Whether the caller is also authorized for paths below this one that no route serves. Then the answer does not reveal whether an object
   * exists (docs/contract/accounts.md, section 2).
   */
  readonly guardsBelow?: true;
  /** For the collection of a kind: its names in discovery (`metav1.APIResource`). */
  readonly kind?: ResourceKind;
  /** For a path that was withdrawn: the message of the 410 that every method gets. */
  readonly gone?: (parameters: readonly string[]) => string;
}

export interface ResourceKind {
  readonly kind: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
}
