import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { GatewayMetrics, registerCallsInFlight, registerStreams } from '../../../src/gateway/metrics.ts';
import { boundsOf, expectFineBounds } from '../../support/histogram-bounds.ts';

const valuesIn = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

test('every reason of a refusal and both directions are there before the first one', async () => {
  const registry = new Registry();
  const metrics = new GatewayMetrics(registry);
  const reasons = [
    ...['reserved_identity', 'impersonate_header', 'proxy_subresource', 'header', 'origin', 'requests'],
    ...['requests_per_user', 'streams', 'streams_per_user', 'unreachable', 'timeout', 'away', 'full'],
    ...['credential', 'impersonation', 'not_chosen', 'not_granted_yet', 'not_granted'],
  ];
  expect(await valuesIn(registry, 'gatehouse_gateway_refusals_total')).toEqual(
    reasons.map((reason) => `gatehouse_gateway_refusals_total{reason="${reason}"} 0`),
  );
  metrics.sent(3);
  metrics.received(5);
  metrics.received(1);
  expect(await valuesIn(registry, 'gatehouse_gateway_bytes_total')).toEqual([
    'gatehouse_gateway_bytes_total{direction="sent"} 3',
    'gatehouse_gateway_bytes_total{direction="received"} 6',
  ]);
});

test('calls are counted by verb, kind and class of the status; a verb that is none of Kubernetes is "other"', async () => {
  const registry = new Registry();
  const metrics = new GatewayMetrics(registry);
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
  for (const verb of [...verbs, 'whatever-a-client-wrote']) metrics.answered(verb, 'object', 404);
  metrics.answered('get', 'discovery', 599);
  expect(await valuesIn(registry, 'gatehouse_gateway_requests_total')).toEqual([
    ...[...verbs, 'other'].map((verb) => `gatehouse_gateway_requests_total{verb="${verb}",kind="object",code="4xx"} 1`),
    'gatehouse_gateway_requests_total{verb="get",kind="discovery",code="5xx"} 1',
  ]);
});

test('questions about groups are counted by the answer, each from 0 on', async () => {
  const registry = new Registry();
  const metrics = new GatewayMetrics(registry);
  metrics.groupsReviewed('deny');
  expect(await valuesIn(registry, 'gatehouse_gateway_group_reviews_total')).toEqual([
    'gatehouse_gateway_group_reviews_total{decision="allow"} 0',
    'gatehouse_gateway_group_reviews_total{decision="deny"} 1',
    'gatehouse_gateway_group_reviews_total{decision="error"} 0',
  ]);
});

test('the time of an answer is in seconds', async () => {
  const registry = new Registry();
  new GatewayMetrics(registry).upstreamAnswered('watch', 2_500);
  const lines = await valuesIn(registry, 'gatehouse_gateway_upstream_duration_seconds');
  expect(lines).toContain('gatehouse_gateway_upstream_duration_seconds_sum{kind="watch"} 2.5');
  const least = lines.find((line) => line.endsWith(' 1'));
  expect(least).toBe('gatehouse_gateway_upstream_duration_seconds_bucket{le="2.5",kind="watch"} 1');
});

test('what is open and under way is read when it is asked for', async () => {
  const registry = new Registry();
  registerStreams(registry, (kind) => (kind === 'exec' ? 2 : 0));
  registerCallsInFlight(registry, { requests: () => 3, upgrades: () => 4, waiting: () => 5 });
  const lines = await valuesIn(registry, 'gatehouse_gateway');
  expect(lines).toContain('gatehouse_gateway_streams{kind="exec"} 2');
  expect(lines).toContain('gatehouse_gateway_streams{kind="log"} 0');
  expect(lines.slice(-3)).toEqual([
    'gatehouse_gateway_requests_in_flight 3',
    'gatehouse_gateway_requests_waiting 5',
    'gatehouse_gateway_upgrades_in_flight 4',
  ]);
});

test('the time of an answer is told finely from a millisecond to a minute', async () => {
  const registry = new Registry();
  new GatewayMetrics(registry).upstreamAnswered('object', 1);
  const bounds = await boundsOf(registry, 'gatehouse_gateway_upstream_duration_seconds');
  expectFineBounds(bounds, { first: 0.001, last: 60 });
});
