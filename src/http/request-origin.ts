import type { Origin } from '../oauth/tokens/act.ts';
import type { Exchange } from './exchange.ts';

/** What the audit trail records of a request. `actorKnown` adds user, client and session to the access log. */
export const originOf = (exchange: Exchange): Required<Origin> => ({
  source: exchange.source,
  requestId: exchange.requestId,
  ownRequestId: exchange.ownRequestId,
  actorKnown: (actor) => {
    exchange.actedFor(actor);
  },
});
