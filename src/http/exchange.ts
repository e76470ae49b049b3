import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Decision } from '../authorization/authorizer.ts';
import type { Impersonation } from '../gateway/acting-as.ts';
import type { Actor } from '../oauth/tokens/act.ts';
import type { Identity } from '../oauth/tokens/identity.ts';
import type { RequestInfo } from './request-info.ts';
import { isOAuthPath, type Target } from './target.ts';

/** What is fixed when a request begins. */
export interface ExchangeStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request target as sent. */
  readonly rawTarget: string;
  /** The id in the answer and in the log: the caller's own when it is harmless, else ours. */
  readonly requestId: string;
  /** Our own id, set when `requestId` is the caller's. It distinguishes requests that reuse an id. */
  readonly ownRequestId?: string | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** The caller's normalised address. */
  readonly source: string;
  /** The caller's whole address. Default: `source`. */
  readonly address?: string;
  /** Names and values in turn, for a configured origin only. */
  readonly corsHeaders: readonly string[];
  /** The connection, when the request may turn it into another protocol. */
  readonly upgrade?: Taken | undefined;
}

/** A connection that HTTP reads no more: the answer to its last request is still written to it. */
export interface Taken {
  readonly socket: Socket;
  /** What came behind the request. */
  readonly head: Buffer;
  /** Ends the connection so that its client notices. */
  reset(): void;
}

/** The exchange as it writes itself. */
type Writable = { -readonly [Fact in keyof Exchange]: Exchange[Fact] };

const NOWHERE: Target = { segments: [], path: '/', query: '' };

/**
 * One request and its answer. What is known of the request is read-only: the step that finds something out says so by
 * the method named after it, and later steps and the log read it. What the log says about the answer is written as the
 * answer is made. It carries facts only; collaborators are handed to the steps that use them.
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
  readonly corsHeaders: readonly string[];
  readonly upgrade: Taken | undefined;

  /** What the caller presents as `Authorization`, wherever it came from. */
  readonly authorization: string | undefined;
  /** Known behind the guard; of a request that it refused, that of `/`. */
  readonly target: Target = NOWHERE;
  /** Known behind the router; `undefined` for a path that nothing is served on. */
  readonly route: Route | undefined;
  /** Known behind the router: the values of the route's `{…}` segments, in their order. */
  readonly parameters: readonly string[] = [];
  /** Known behind authentication. */
  readonly identity: Identity | undefined;
  /** Written by the gateway: whom the caller may impersonate, and asks to be. */
  impersonation: Impersonation | undefined;
  /** Known under /oauth: the client and the user, as far as the authorization server found out. */
  readonly actor: Actor | undefined;
  /** Known behind authentication. */
  readonly info: RequestInfo | undefined;
  /** Known behind authorization: the last decision, which a watch asks for again. */
  readonly decision: Decision | undefined;

  /** Written by the writer of answers, and by a stream as it goes. */
  bodyBytes = 0;
  /** Written by the writer when a streamed answer begins: monotonic milliseconds. */
  streamedAt: number | undefined;
  /** Written by the gateway: milliseconds until the cluster's answer began. */
  upstreamMs: number | undefined;
  /** Written before the answer begins. */
  coding: 'identity' | 'gzip' = 'identity';
  /**
   * Written by authentication and the error writer: our word for why a 4xx was answered. Written by a stream: how it
   * ended.
   */
  reason: string | undefined;
  /** Written by the error writer and by streams: why a 5xx was answered, or a stream broken off. Logged, never sent. */
  failure: unknown;

  #ended = false;
  #admit: (() => void) | undefined;
  #take: (() => () => void) | undefined;
  #leave: (() => void) | undefined;
  readonly #endings: (() => void)[] = [];

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

  /** The status of the answer; 499, as proxies write it, when the client left before an answer began. */
  get status(): number {
    return this.response.headersSent ? this.response.statusCode : 499;
  }

  /** Whether errors are sent as OAuth JSON: everywhere under /oauth, even when the target itself is refused. */
  get speaksOAuth(): boolean {
    return this.target.segments[0] === 'oauth' || isOAuthPath(this.rawTarget);
  }

  /** Admission waits until the form has arrived: `take` takes the place, or throws a 429. */
  admitLater(take: () => void): void {
    this.#admit = take;
  }

  /** The form has arrived. Does nothing for a request that was admitted before, or refused. */
  admit(): void {
    const admit = this.#admit;
    this.#admit = undefined;
    admit?.();
  }

  /**
   * Takes a place of admission, unless the exchange has ended. `take` takes it, or throws a 429. What it returns is called
   * once, when the answer has been made or the client has gone.
   */
  takePlace(take: () => () => void): void {
    if (this.#ended) return;
    this.#take = take;
    this.#leave = take();
  }

  /** Gives the place back for as long as the request waits for its turn. The result takes one again, or throws a 429. */
  stepAside(): () => void {
    const take = this.#leave && this.#take;
    this.leavePlace();
    return () => take && this.takePlace(take);
  }

  leavePlace(): void {
    const leave = this.#leave;
    this.#leave = undefined;
    leave?.();
  }

  /** The guard has read the target. */
  located(target: Target): void {
    (this as Writable).target = target;
  }

  /** The router has found the route of its path, with the values of the `{…}` segments. */
  found(route: Route, parameters: readonly string[]): void {
    (this as Writable).route = route;
    (this as Writable).parameters = parameters;
  }

  /** The credential did not come in its header. */
  presents(authorization: string): void {
    (this as Writable).authorization = authorization;
  }

  /** Authentication knows the caller. */
  authenticated(identity: Identity): void {
    (this as Writable).identity = identity;
  }

  /** The request line has been read as Kubernetes reads it. */
  asks(info: RequestInfo): void {
    (this as Writable).info = info;
  }

  /** The authorizer has decided. */
  decided(decision: Decision): void {
    (this as Writable).decision = decision;
  }

  /** The authorization server knows who takes part. */
  actedFor(actor: Actor): void {
    (this as Writable).actor = actor;
  }

  /** Runs `ending` once, when the answer has been sent or the client has gone. */
  atEnd(ending: () => void): void {
    if (this.#ended) ending();
    else this.#endings.push(ending);
  }

  /** Aborts when the client goes before the answer is complete. */
  get signal(): AbortSignal {
    const controller = new AbortController();
    this.atEnd(() => {
      if (!this.response.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.leavePlace();
    for (const ending of this.#endings) ending();
  }
}

/** `next`: the chain goes on. `answered`: this step has sent the answer, or has begun to. */
export type Outcome = 'next' | 'answered';

/** One named step of the chain. What it throws or rejects with goes to the error writer. */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>;

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Answers one request of a route. Throws or rejects with a `StatusError` or `OAuthError`, which the error writer sends. */
export type Handler = (exchange: Exchange) => void | Promise<void>;

/** What a path serves, by method. */
export type Methods = Readonly<Partial<Record<Method, Handler>>>;

/** One path that is served. The table of all of them is the only place that says what is public. */
export interface Route {
  /** The path with `{…}` for a variable segment: also its name in metrics and in the description. */
  readonly template: string;
  /** `public`: the bearer is not looked at. `signed-in`: any verified caller. `authorized`: the authorizer is asked too. */
  readonly access: 'public' | 'signed-in' | 'authorized';
  /** Which places it takes while in flight: HL-05. Health takes none, the gateway has its own. */
  readonly admission: 'health' | 'sign-in' | 'other' | 'gateway';
  /** A POST, PUT or PATCH reads a body (a form, a review, an object) and calls `exchange.admit()` when it has arrived, not before. */
  readonly readsForm?: true;
  /** `json` routes answer 406 to a caller that accepts no JSON. */
  readonly produces: 'json' | 'any';
  readonly methods: Methods;
  /** Goes before authentication. */
  readonly before?: Step;
  /** Whether the route takes this request of its paths. What it leaves goes to the routes behind it. */
  readonly takes?: (request: IncomingMessage) => boolean;
  /** Answers a GET or HEAD of the collection that asks to watch it, in the forms that it offers itself. */
  readonly watch?: Handler;
  /** Milliseconds from the request on that its caller waits for the answer, by its own words. Absent: nobody is asked. */
  readonly allowedMs?: (exchange: Exchange) => number | undefined;
  /**
   * What the user whom the first variable segment names may do without a right in the cluster, by method. `free`: the cluster
   * is not asked; `narrowed`: it is asked, and after a no the handler still allows what every user may do to themselves.
   */
  readonly self?: Readonly<Partial<Record<Method, 'free' | 'narrowed'>>>;
  /**
   * A path below this one that no route serves is checked against the caller's rights first, so that the answer does not tell them
   * whether an object is there (docs/contract/accounts.md, section 2).
   */
  readonly guardsBelow?: true;
  /** Set on the collection of a kind: how discovery names it (`metav1.APIResource`). */
  readonly kind?: ResourceKind;
  /** Set on a path that was withdrawn: every method answers 410 with this message. */
  readonly gone?: (parameters: readonly string[]) => string;
}

export interface ResourceKind {
  readonly kind: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
}
