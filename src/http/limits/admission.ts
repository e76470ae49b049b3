import type { Registry } from 'prom-client';
import { throttled } from '../../oauth/endpoints/refusals.ts';
import type { OAuthError } from '../../oauth/oauth-error.ts';
import { tooManyRequests } from '../../status-error.ts';
import type { Exchange, Step } from '../exchange.ts';
import { type HttpMetrics, registerInFlight } from '../metrics.ts';
import type { HttpLimits } from './http-limits.ts';

interface AdmissionParts {
  readonly metrics: HttpMetrics;
  readonly registry: Registry;
  readonly onOther?: (() => void) | undefined;
}

/**
 * Limits the requests in flight, by class (HL-05): no class can use up the seats of another, and health checks need none. A request
 * gives its seat back when its answer has been made or the client has gone. So a slow reader takes no seat; it takes a connection
 * (HL-03) and bytes that all readers of a version share, and the answer writer limits its time.
 *
 * A request with a form takes its seat when the form has arrived. Otherwise forms that never arrive could take all seats for the
 * whole time limit of a body. Until then such a request costs a connection (HL-03) and at most `maxFormBytes`.
 *
 * The gateway also limits its requests by user, so it takes their seats itself, after authentication. `onOther` is called for each
 * request that is not the gateway's.
 */
export function admission(limits: HttpLimits, { metrics, registry, onOther }: AdmissionParts): Step {
  const seats = {
    'sign-in': new ClassSeats(limits.maxSignInsInFlight, signInFull),
    other: new ClassSeats(limits.maxRequestsInFlight, tooManyRequests),
  };
  registerInFlight(registry, seats);
  const take = (kind: keyof typeof seats, exchange: Exchange): void =>
    exchange.takeSeat(() => {
      const own = seats[kind];
      if (own.taken >= own.all) {
        metrics.rejected(`in_flight_${kind}`);
        throw own.refuse();
      }
      own.taken++;
      return own.leave;
    });
  return function admission(exchange) {
    const kind = exchange.route?.admission ?? 'other';
    if (kind === 'gateway') return 'next';
    onOther?.();
    if (kind === 'health') return 'next';
    if (exchange.route?.readsForm && WITH_BODY.has(exchange.request.method ?? '')) {
      exchange.admitLater(() => take(kind, exchange));
    } else take(kind, exchange);
    return 'next';
  };
}

/** The methods with a body. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** The seats of one class of requests. */
class ClassSeats {
  taken = 0;
  readonly all: number;
  readonly refuse: () => Error;
  readonly leave = (): void => {
    this.taken--;
  };

  constructor(all: number, refuse: () => Error) {
    this.all = all;
    this.refuse = refuse;
  }
}

/** There are too many sign-ins in flight. */
const signInFull = (): OAuthError => throttled('signInFull', 1);
