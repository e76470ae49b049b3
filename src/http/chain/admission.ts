import type { Registry } from 'prom-client';
import { throttled } from '../../oauth/endpoints/refusals.ts';
import type { OAuthError } from '../../oauth/oauth-error.ts';
import { tooManyRequests } from '../../status-error.ts';
import type { Exchange, Step } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';
import { type HttpMetrics, registerInFlight } from '../metrics.ts';

interface AdmissionParts {
  readonly metrics: HttpMetrics;
  readonly registry: Registry;
  readonly onOther?: (() => void) | undefined;
}

/**
 * Limits the requests in flight, by class (HL-05): no class can use up the places of another, and health checks need none. A request
 * gives its place back when its answer has been made or the client has gone. So a slow reader takes no place; it takes a connection
 * (HL-03) and bytes that all readers of a version share, and the answer writer limits its time.
 *
 * A request with a form takes its place when the form has arrived. Otherwise forms that never arrive could take all places for the
 * whole time limit of a body. Until then such a request costs a connection (HL-03) and at most `maxFormBytes`.
 *
 * The gateway also limits its requests by user, so it takes their places itself, after authentication. `onOther` is called for each
 * request that is not the gateway's.
 */
export function admission(limits: HttpLimits, { metrics, registry, onOther }: AdmissionParts): Step {
  const places = {
    'sign-in': new Places(limits.maxSignInsInFlight, signInFull),
    other: new Places(limits.maxRequestsInFlight, tooManyRequests),
  };
  registerInFlight(registry, places);
  const take = (kind: keyof typeof places, exchange: Exchange): void =>
    exchange.takePlace(() => {
      const place = places[kind];
      if (place.taken >= place.all) {
        metrics.rejected(`in_flight_${kind}`);
        throw place.refuse();
      }
      place.taken++;
      return place.leave;
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

class Places {
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
