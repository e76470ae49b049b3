import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Exchange, Route } from '../../../../src/http/exchange.ts';
import { admission } from '../../../../src/http/limits/admission.ts';
import type { HttpMetrics } from '../../../../src/http/metrics.ts';
import { defaultLimits } from '../../../support/default-limits.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

/** Two seats for sign-ins and one for all else. */
function start() {
  const rejected: string[] = [];
  let others = 0;
  const metrics: Partial<HttpMetrics> = { rejected: (reason) => rejected.push(reason) };
  const registry = new Registry();
  const limits = { ...defaultLimits, maxSignInsInFlight: 2, maxRequestsInFlight: 1 };
  const step = admission(limits, { metrics: metrics as HttpMetrics, registry, onOther: () => others++ });
  const come = (route?: Partial<Route>, method = 'GET') => {
    const { exchange, end } = fakeExchange({ method });
    if (route) exchange.found(route as Route, []);
    return { exchange, end, outcome: step(exchange) };
  };
  const taken = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('gatehouse_http_requests_in_flight{'));
  return { rejected, come, taken, others: () => others };
}

const inFlight = (signIns: number, others: number): string[] => [
  `gatehouse_http_requests_in_flight{class="sign-in"} ${signIns}`,
  `gatehouse_http_requests_in_flight{class="other"} ${others}`,
];

describe('the seats of requests in flight (HL-05)', () => {
  test('are taken by class, and given back when the answer has been made', async () => {
    const { come, taken, rejected } = start();
    const first = come({ admission: 'other' });
    expect([first.outcome, await taken()]).toEqual(['next', inFlight(0, 1)]);
    come({ admission: 'sign-in' });
    come({ admission: 'sign-in' });
    expect(await taken()).toEqual(inFlight(2, 1));
    expect(() => come()).toThrow('Too many requests, please try again later.');
    expect(() => come({ admission: 'sign-in' })).toThrow('too many sign-ins at once, please try again later');
    expect(rejected).toEqual(['in_flight_other', 'in_flight_sign-in']);
    first.exchange.leaveSeat();
    first.end();
    expect(await taken()).toEqual(inFlight(2, 0));
    expect(come().outcome).toBe('next');
  });

  test('T-02 are refused to a sign-in in the words of OAuth, with a time to come back', () => {
    const { come } = start();
    for (let index = 0; index < 2; index++) come({ admission: 'sign-in' });
    expect(() => come({ admission: 'sign-in' })).toThrow(
      expect.objectContaining({
        refusal: expect.objectContaining({
          status: 429,
          code: 'temporarily_unavailable',
          headers: { 'Retry-After': '1' },
        }),
      }),
    );
  });

  test('are not needed for health', async () => {
    const { come, taken } = start();
    for (let index = 0; index < 3; index++) expect(come({ admission: 'health' }).outcome).toBe('next');
    expect(await taken()).toEqual(inFlight(0, 0));
  });

  test('are taken for a form when it has come, and not before', async () => {
    const { come, taken } = start();
    const forms: Exchange[] = [];
    for (let index = 0; index < 2; index++) forms.push(come({ admission: 'other', readsForm: true }, 'POST').exchange);
    expect(await taken()).toEqual(inFlight(0, 0));
    forms[0]?.admit?.();
    expect(await taken()).toEqual(inFlight(0, 1));
    expect(() => forms[1]?.admit?.()).toThrow('Too many requests');
  });

  test('are taken at once by a request without a form, on a route that reads one too', async () => {
    const { come, taken } = start();
    const { exchange } = come({ admission: 'other', readsForm: true });
    expect(await taken()).toEqual(inFlight(0, 1));
    exchange.admit(); // there is no form to wait for: a second call takes no second place
    expect(await taken()).toEqual(inFlight(0, 1));
  });
});

test('tells of each request that is not the gateway’s', () => {
  const { come, others } = start();
  come();
  come({ admission: 'health' });
  come({ admission: 'sign-in' });
  expect(others()).toBe(3);
  come({ admission: 'gateway' });
  expect(others()).toBe(3);
});
