import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { DocumentMetrics } from '../../../src/documents/metrics.ts';
import { badRequest, StatusError } from '../../../src/status-error.ts';
import { boundsOf, expectFineBounds } from '../../support/histogram-bounds.ts';

const QUERIES = 'gatehouse_log_queries_total';
const OPERATIONS = ['query', 'statistics', 'histogram', 'export'] as const;
const RESULTS = ['answered', 'overloaded', 'refused', 'unavailable', 'timeout', 'other'];

const linesOf = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

test('every operation and result, and every purpose of a request, begins at 0', async () => {
  const registry = new Registry();
  new DocumentMetrics(registry).showInFlight(() => 3);
  expect(await linesOf(registry, QUERIES)).toEqual(
    OPERATIONS.flatMap((operation) =>
      RESULTS.map((result) => `${QUERIES}{operation="${operation}",result="${result}"} 0`),
    ),
  );
  expect(await linesOf(registry, 'gatehouse_log_store_request_duration_seconds_count')).toEqual(
    ['detect', 'indices', 'search', 'scroll', 'close'].map(
      (purpose) => `gatehouse_log_store_request_duration_seconds_count{purpose="${purpose}",code="2xx"} 0`,
    ),
  );
  expect(await linesOf(registry, 'gatehouse_log_exports_cut_total')).toEqual(['gatehouse_log_exports_cut_total 0']);
  expect(await linesOf(registry, 'gatehouse_log_queries_in_flight')).toEqual(['gatehouse_log_queries_in_flight 3']);
});

test('a query is counted by how it ended', async () => {
  const registry = new Registry();
  const metrics = new DocumentMetrics(registry);
  metrics.answered('query');
  for (const refusal of ['TooManyRequests', 'BadGateway', 'ServiceUnavailable', 'Timeout'] as const)
    metrics.failed('export', new StatusError(refusal, { message: '' }));
  metrics.failed('histogram', badRequest('bad'));
  metrics.failed('histogram', new Error('a fault of ours'));
  metrics.cut();
  const counted = (await linesOf(registry, QUERIES)).filter((line) => !line.endsWith(' 0'));
  expect(counted).toEqual([
    `${QUERIES}{operation="query",result="answered"} 1`,
    `${QUERIES}{operation="histogram",result="other"} 2`,
    ...RESULTS.slice(1, 5).map((result) => `${QUERIES}{operation="export",result="${result}"} 1`),
  ]);
  expect(await linesOf(registry, 'gatehouse_log_exports_cut_total')).toEqual(['gatehouse_log_exports_cut_total 1']);
});

test('a request to the store is timed by purpose and class of its status', async () => {
  const registry = new Registry();
  const metrics = new DocumentMetrics(registry);
  metrics.requested('search', 599, 0.3);
  metrics.requested('close', 0, 30);
  const lines = await linesOf(registry, 'gatehouse_log_store_request_duration_seconds');
  const [name, search] = ['gatehouse_log_store_request_duration_seconds', 'purpose="search",code="5xx"'];
  expect(lines).toContain(`${name}_bucket{le="0.25",${search}} 0`);
  expect(lines).toContain(`${name}_bucket{le="0.5",${search}} 1`);
  expect(lines).toContain(`${name}_sum{purpose="close",code="none"} 30`);
});

test('the time of a request to the store is told finely from 2.5 ms to the time limit of 30 s', async () => {
  const registry = new Registry();
  new DocumentMetrics(registry).requested('search', 200, 1);
  const bounds = await boundsOf(registry, 'gatehouse_log_store_request_duration_seconds');
  expectFineBounds(bounds, { first: 0.0025, last: 30 });
});
