import type { ActName, SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import type { OAuthRefusal } from '../oauth-error.ts';

/**
 * Who takes part in a request under /oauth, as far as we know: only names that exist here, never what a caller typed.
 */
export interface Party {
  readonly user?: string | undefined;
  /** The client that asks. */
  readonly clientId?: string | undefined;
  readonly sid?: string | undefined;
}

/** Where a request comes from, as it is logged. */
export interface Origin {
  /** The caller's normalised address. */
  readonly source: string;
  /** The request's id in the access log, by which the lines of one request are found. */
  readonly requestId: string;
  /** Our own id of the request, set when `requestId` is the caller's. */
  readonly ownRequestId?: string | undefined;
  /**
   * Called whenever more is known, with everything known so far. The access log then names the same people as the audit
   * trail, as far as they are known when the client has its answer or has left.
   */
  partyKnown?(party: Party): void;
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

export type EndpointName = 'token' | 'revoke' | 'introspect' | 'logout' | 'authenticate';

/**
 * Collects what one request under /oauth does and how it ends, and reports it at its end as one line of the audit
 * trail. A request for which `is` or `refusesClient` was never called leaves no line: a malformed one, for example.
 */
export class Act {
  readonly #events: SecurityEvents;
  readonly #origin: Origin;
  readonly #endpoint: EndpointName;
  #name: ActName | undefined;
  #result = 'ok';
  #party: Party = {};
  #fields: SecurityEventFields = {};

  constructor(events: SecurityEvents, origin: Origin, endpoint: EndpointName) {
    this.#events = events;
    this.#origin = origin;
    this.#endpoint = endpoint;
  }

  /** Names the act that this request is. */
  is(name: ActName): void {
    this.#name = name;
  }

  /** Adds who takes part; members that are absent here keep their values. */
  involves(party: Party): void {
    this.#party = { ...this.#party, ...party };
    this.#origin.partyKnown?.(this.#party);
  }

  /**
   * Further members of the line. They win over those of the party, because a token may belong to another client than
   * the one that asks.
   */
  says(fields: SecurityEventFields): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /** The result, where `ok` does not say it, or where a refusal has a better word than its status gives. */
  came(result: string): void {
    this.#result = result;
  }

  /** The caller is refused. The event reports that refusal, not what the caller wanted. */
  refusesClient(reason: ClientFault): void {
    this.#name = 'client_refused';
    this.says({ endpoint: this.#endpoint, reason });
  }

  refused({ status, code }: OAuthRefusal): void {
    if (this.#result === 'ok') this.#result = status === 429 ? 'throttled' : status >= 500 ? 'failed' : 'refused';
    this.#fields = { reason: code, ...this.#fields };
  }

  /** Reports the act. Call it once. */
  end(): void {
    if (this.#name === undefined) return;
    const { source, requestId, ownRequestId } = this.#origin;
    const whence = { source, requestId, ...(ownRequestId === undefined ? {} : { ownRequestId }) };
    this.#events.report(this.#name, { result: this.#result, ...this.#party, ...whence, ...this.#fields });
  }
}
