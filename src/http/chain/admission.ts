import type { Registry } from 'prom-client';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { tooManyRequests } from '../../status-error.ts';
import type { HttpLimits } from '../limits.ts';
import { type HttpMetrics, registerInFlight } from '../metrics.ts';
import type { Exchange } from './exchange.ts';
import type { Step } from './step.ts';

/**
 * Bounds the requests in flight, by class (HL-05): no class takes another's places, and health takes none. A place is given
 * back when the answer has been made or the client has gone: who reads slowly costs a connection (HL-03) and
 * bytes that all readers of a version share, and has the time limit of the writer.
 *
 * A form takes its place when it has arrived: a place is for work of ours, and forms that never come would hold all of them
 * for as long as the time limit of a body. What waits for a form is a connection (HL-03) and at most `maxFormBytes`.
 */
export function admission(limits: HttpLimits, metrics: HttpMetrics, registry: Registry): Step {
  const places = {
    'sign-in': new Places(limits.maxSignInsInFlight, signInFull),
    other: new Places(limits.maxRequestsInFlight, tooManyRequests),
  };
  registerInFlight(registry, places);
  const take = (kind: keyof typeof places, exchange: Exchange): void => {
    const place = places[kind];
    if (place.taken >= place.all) {
      metrics.rejected(`in_flight_${kind}`);
      throw place.refuse();
    }
    place.taken++;
    exchange.takePlace(place.leave);
  };
  return (exchange) => {
    const kind = exchange.route?.admission ?? 'other';
    if (kind === 'health') return 'next';
    if (exchange.route?.readsForm && exchange.request.method === 'POST') {
      exchange.admit = () => take(kind, exchange);
    } else take(kind, exchange);
    return 'next';
  };
}

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

/** T-02. */
const signInFull = (): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'temporarily_unavailable',
    description: 'too many sign-ins at once, please try again later',
    headers: { 'Retry-After': '1' },
  });
