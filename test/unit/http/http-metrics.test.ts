import { Counter, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Route } from '../../../src/http/exchange.ts';
import { createHttpMetrics } from '../../../src/http/metrics.ts';
import { fakeExchange } from '../../support/fake-exchange.ts';
import { boundsOf, expectFineBounds } from '../../support/histogram-bounds.ts';

/** The metrics, and the lines of the exposition that start so. */
function create() {
  const registry = new Registry();
  const bearers = new Counter({ name: 'bearers', help: 'h', labelNames: ['result'], registers: [registry] });
  const metrics = createHttpMetrics(registry, bearers);
  const linesOf = async (start: string): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(start));
  return { metrics, linesOf, registry };
}

const route = { template: '/x/{name}' } as Route;

describe('the metrics of HTTP', () => {
  test('A-37 count an answer by its method, route and status, and never by what was sent', async () => {
    const { metrics, linesOf } = create();
    const asked = Object.assign(fakeExchange({ status: 200 }).exchange, {
      route,
      bodyBytes: 7,
      coding: 'gzip' as const,
    });
    metrics.answered(asked, 0.05);
    metrics.answered(asked, 0.051);
    metrics.answered(fakeExchange({ method: 'BREW', rawTarget: '/secret', status: 405 }).exchange, 0.001);
    expect(await linesOf('gatehouse_http_requests_total')).toEqual([
      'gatehouse_http_requests_total{method="GET",route="/x/{name}",code="200"} 2',
      'gatehouse_http_requests_total{method="other",route="other",code="405"} 1',
    ]);
    expect(await linesOf('gatehouse_http_response_bytes_total')).toEqual([
      'gatehouse_http_response_bytes_total{route="/x/{name}",encoding="gzip"} 14',
    ]);
    const buckets = await linesOf('gatehouse_http_request_duration_seconds_bucket{le="0.05",method="GET"');
    expect(buckets).toEqual([
      'gatehouse_http_request_duration_seconds_bucket{le="0.05",method="GET",route="/x/{name}"} 1',
    ]);
  });

  test('count what was no request by its status, and a refusal by its reason', async () => {
    const { metrics, linesOf } = create();
    metrics.refusedUnread(431);
    metrics.rejected('parser');
    metrics.bearerRefused('absent');
    metrics.watchEnded('slow');
    expect(await linesOf('gatehouse_http_requests_total')).toEqual([
      'gatehouse_http_requests_total{method="other",route="other",code="431"} 1',
    ]);
    const rejections = await linesOf('gatehouse_http_rejections_total');
    expect(rejections.filter((line) => !line.endsWith(' 0'))).toEqual([
      'gatehouse_http_rejections_total{reason="parser"} 1',
    ]);
    expect(await linesOf('bearers')).toEqual(['bearers{result="absent"} 1']);
    expect(await linesOf('gatehouse_watches_ended_total{end="slow"}')).toEqual([
      'gatehouse_watches_ended_total{end="slow"} 1',
    ]);
  });

  test('have a series for each end of a watch from the start, so that a first one is a change', async () => {
    const ends = await create().linesOf('gatehouse_watches_ended_total');
    expect(ends.length).toBeGreaterThan(5);
    expect(ends.every((line) => line.endsWith(' 0'))).toBe(true);
  });

  test('tell the watches that were told within the second that is promised', async () => {
    const { metrics, linesOf } = create();
    metrics.watchesUpdated(500);
    metrics.watchesUpdated(1_000);
    metrics.watchesUpdated(1_001);
    const told = await linesOf('gatehouse_watch_fanout_seconds_bucket');
    expect(told.filter((line) => /le="(0\.5|1|2\.5)"/.test(line))).toEqual([
      'gatehouse_watch_fanout_seconds_bucket{le="0.5"} 1',
      'gatehouse_watch_fanout_seconds_bucket{le="1"} 2',
      'gatehouse_watch_fanout_seconds_bucket{le="2.5"} 3',
    ]);
  });
});

test.each([
  ['gatehouse_http_request_duration_seconds', 30],
  ['gatehouse_watch_fanout_seconds', 10],
])('%s is told finely from a millisecond to %i s', async (name, last) => {
  const { metrics, registry } = create();
  metrics.answered(fakeExchange({ status: 200 }).exchange, 1);
  metrics.watchesUpdated(1);
  expectFineBounds(await boundsOf(registry, name), { first: 0.001, last });
});
