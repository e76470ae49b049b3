import type { ActName, SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import type { OAuthRefusal } from '../oauth-error.ts';

/** Who takes part in a request under /oauth, as far as we know: names of ours, never what a caller typed. */
export interface Party {
  readonly user?: string | undefined;
  /** The client that asks. */
  readonly clientId?: string | undefined;
  readonly sid?: string | undefined;
}

/** Where a request comes from, as the log tells it. */
export interface Origin {
  /** The caller's normalised address. */
  readonly source: string;
  /** The same as in the access log, so that the lines of one request can be found together. */
  readonly requestId: string;
  /** What we call the request, where `requestId` is the caller's word for it. */
  readonly ownRequestId?: string | undefined;
  /**
   * Called whenever more is known, and with all of it: the access log names the same people as the audit trail, as far as
   * they are known when the client has its answer or has left.
   */
  partyKnown?(party: Party): void;
}

/** Why nobody was let in as a client, or as a caller of the TokenReview webhook. A label of a metric, too. */
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
 * What one request under /oauth is and comes to: gathered while it is judged, told once at its end as one line of the audit
 * trail. A request that was never said to be an act leaves no line: one that is malformed, for example.
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

  /** From here on the request is this act. */
  is(name: ActName): void {
    this.#name = name;
  }

  /** Who takes part; what is absent here stays as it was. */
  involves(party: Party): void {
    this.#party = { ...this.#party, ...party };
    this.#origin.partyKnown?.(this.#party);
  }

  /** Further members of the line. They win over those of the party: a token can be another client's than the one that asks. */
  says(fields: SecurityEventFields): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /** What it came to, where `ok` does not say it, or where a refusal has a better word than its status. */
  came(result: string): void {
    this.#result = result;
  }

  /** Whoever asks is not let in: that is the act, whatever was wanted. */
  refusesClient(reason: ClientFault): void {
    this.#name = 'client_refused';
    this.says({ endpoint: this.#endpoint, reason });
  }

  refused({ status, code }: OAuthRefusal): void {
    if (this.#result === 'ok') this.#result = status === 429 ? 'throttled' : status >= 500 ? 'failed' : 'refused';
    this.#fields = { reason: code, ...this.#fields };
  }

  /** Tells it, once. */
  end(): void {
    if (this.#name === undefined) return;
    const { source, requestId, ownRequestId } = this.#origin;
    const whence = { source, requestId, ...(ownRequestId === undefined ? {} : { ownRequestId }) };
    this.#events.report(this.#name, { result: this.#result, ...this.#party, ...whence, ...this.#fields });
  }
}
