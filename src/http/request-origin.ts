import type { Origin } from '../oauth/tokens/act.ts';
import type { ReportedRequest, ReportedUser } from '../security-events.ts';
import { nameOrNothing, pathForLog, userAgentOf } from './access-log.ts';
import type { Exchange } from './exchange.ts';

/** What the audit trail records of a request. `actorKnown` adds user, client and session to the access log. */
export const originOf = (exchange: Exchange): Required<Origin> => ({
  source: exchange.source,
  requestId: exchange.requestId,
  ownRequestId: exchange.ownRequestId,
  request: reported(exchange),
  actorKnown: (actor) => {
    exchange.actedFor(actor);
  },
});

/** A request as the audit trail sees it. */
export const reported = (exchange: Exchange): ReportedRequest => new ReportedExchange(exchange);

/** Reads the exchange only when a record is written: by then more is known of it, and most trails need none of this. */
class ReportedExchange implements ReportedRequest {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get id(): string {
    return this.#exchange.ownRequestId ?? this.#exchange.requestId;
  }

  get startedAt(): number {
    return this.#exchange.startedAt;
  }

  get path(): string | undefined {
    const { route, target } = this.#exchange;
    return route?.admission === 'gateway' ? pathForLog(target.path) : route?.template;
  }

  get userAgent(): string | undefined {
    return userAgentOf(this.#exchange.request);
  }

  get caller(): ReportedUser | undefined {
    return this.#exchange.identity;
  }

  get impersonated(): ReportedUser | undefined {
    const { subject } = this.#exchange.impersonation ?? {};
    return subject && { name: subject.name, groups: subject.groups.map((group) => nameOrNothing(group) ?? '') };
  }

  get status(): number {
    return this.#exchange.status;
  }

  whenAnswered(run: () => void): void {
    this.#exchange.whenAnswered(run);
  }
}
