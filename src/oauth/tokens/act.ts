import type { ActName, ReportedRequest, SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import type { OAuthRefusal } from '../oauth-error.ts';

/**
 * The user, client and session of a request under /oauth, as far as they are known: only names that exist here, never what a
 * caller typed.
 */
export interface Actor {
  readonly user?: string | undefined;
  /** The client that sends the request. */
  readonly clientId?: string | undefined;
  readonly sid?: string | undefined;
}

/** The source of a request, as it is logged. */
export interface Origin {
  /** The caller's normalised address. */
  readonly source: string;
  /** The request's id in the access log, which all log lines of the request have. */
  readonly requestId: string;
  /** Our own id of the request, if `requestId` was chosen by the caller. */
  readonly ownRequestId?: string | undefined;
  /** What else the audit trail may tell about the request. */
  readonly request?: ReportedRequest;
  /**
   * Called whenever more of the actor is known, with all that is known. It gives the access log the names that the audit trail has,
   * as far as they are known when the request ends.
   */
  actorKnown?(actor: Actor): void;
}

/** Why a client, or a caller of the TokenReview webhook, was refused. Also a label of a metric. */
export const CLIENT_FAULTS = [
  'no_credentials',
  'unfit_credentials',
  'unknown_client',
  'wrong_secret',
  'throttled',
  'wrong_bearer',
  'certificate_not_allowed',
] as const;

export type ClientFault = (typeof CLIENT_FAULTS)[number];

export type EndpointName =
  | 'authorize'
  | 'device_authorization'
  | 'token'
  | 'revoke'
  | 'introspect'
  | 'logout'
  | 'authenticate';

/**
 * Collects what a request under /oauth does and how it ends, and reports it as one line of the audit trail when it ends. A
 * request for which neither `is` nor `refusesClient` was called, such as a malformed one, leaves no line.
 */
export class Act {
  readonly #events: SecurityEvents;
  readonly #origin: Origin;
  readonly #endpoint: EndpointName;
  #name: ActName | undefined;
  #result = 'ok';
  #actor: Actor = {};
  #fields: SecurityEventFields = {};

  constructor(events: SecurityEvents, origin: Origin, endpoint: EndpointName) {
    this.#events = events;
    this.#origin = origin;
    this.#endpoint = endpoint;
  }

  /** Sets the name of the act. */
  is(name: ActName): void {
    this.#name = name;
  }

  /** Takes the name back: the request turned out to be one of many that change nothing. A refused client keeps its line. */
  leavesNoLine(): void {
    this.#name = undefined;
  }

  /** Adds to the actor; members that are absent here keep their values. */
  involves(actor: Actor): void {
    this.#actor = { ...this.#actor, ...actor };
    this.#origin.actorKnown?.(this.#actor);
  }

  /**
   * Adds further members to the line. They replace those of the actor, because a token may belong to another client than the
   * one that sends the request.
   */
  says(fields: SecurityEventFields): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /** Sets a result other than `ok`, or a more exact word for a refusal than its status gives. */
  came(result: string): void {
    this.#result = result;
  }

  /**
   * Records that the client, or the caller of the webhook, is refused. The line is then about this refusal and not about the
   * requested act.
   */
  refusesClient(reason: ClientFault): void {
    this.#name = 'client_refused';
    this.says({ endpoint: this.#endpoint, reason });
  }

  /** Records that the request is refused or has failed. */
  refused({ status, code }: Pick<OAuthRefusal, 'status' | 'code'>): void {
    if (this.#result === 'ok') this.#result = status === 429 ? 'throttled' : status >= 500 ? 'failed' : 'refused';
    this.#fields = { reason: code, ...this.#fields };
  }

  /** Reports the act. Call it once. */
  end(): void {
    if (this.#name === undefined) return;
    const { source, requestId, ownRequestId, request } = this.#origin;
    const origin = { source, requestId, ...(ownRequestId === undefined ? {} : { ownRequestId }) };
    this.#events.report(this.#name, { result: this.#result, ...this.#actor, ...origin, ...this.#fields }, request);
  }
}
