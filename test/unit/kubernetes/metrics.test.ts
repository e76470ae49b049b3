import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createSecretLag, ReflectorMetricsFamily, RequestMetrics } from '../../../src/kubernetes/metrics.ts';
import type { FailureKind } from '../../../src/kubernetes/reflector/failure.ts';
import { boundsOf, expectFineBounds } from '../../support/histogram-bounds.ts';
import { measured } from './objects.ts';

describe('metrics of a reflector', () => {
  test('count lists by how they ended, and time the complete ones alone', async () => {
    const registry = new Registry();
    const metrics = new ReflectorMetricsFamily(registry).of('nodes');
    metrics.listed('ok', 2);
    metrics.listed('refused', 0);
    const text = await registry.metrics();
    expect(text).toContain('gatehouse_reflector_lists_total{resource="nodes",result="ok"} 1');
    expect(text).toContain('gatehouse_reflector_lists_total{resource="nodes",result="refused"} 1');
    expect(text).toContain('gatehouse_reflector_list_duration_seconds_sum{resource="nodes"} 2');
    expect(text).toContain('gatehouse_reflector_list_duration_seconds_count{resource="nodes"} 1');
  });

  test.each<[FailureKind, string]>([
    ['closed', 'closed'],
    ['quiet', 'quiet'],
    ['expired', 'expired'],
    ['reset', 'reset'],
    ['throttled', 'throttled'],
    ['unreadable', 'unreadable'],
    ['refused', 'refused'],
    ['stream_error', 'refused'],
    ['too_large_version', 'refused'],
    ['unsupported', 'refused'],
  ])('count a watch that ended by %s as %s', async (failure, end) => {
    const { metrics, value } = measured();
    metrics.watchEnded(failure);
    expect(await value('reflector_watches_total', { end })).toBe(1);
  });

  test.each([
    ['ADDED', 'ADDED'],
    ['MODIFIED', 'MODIFIED'],
    ['DELETED', 'DELETED'],
    ['BOOKMARK', 'BOOKMARK'],
    ['ERROR', 'ERROR'],
    ['from the wire', 'other'],
  ])('count an event %s as %s', async (type, label) => {
    const { metrics, value } = measured();
    metrics.event(type);
    expect(await value('reflector_watch_events_total', { type: label })).toBe(1);
  });

  test('show the number of surprises before there is one', async () => {
    const registry = new Registry();
    const metrics = new ReflectorMetricsFamily(registry).of('nodes');
    expect(await registry.metrics()).toContain('gatehouse_reflector_relist_surprises_total{resource="nodes"} 0');
    metrics.surprised(3);
    expect(await registry.metrics()).toContain('gatehouse_reflector_relist_surprises_total{resource="nodes"} 3');
  });

  test('show a reflector as it is now, and the age of data without one', async () => {
    const registry = new Registry();
    const family = new ReflectorMetricsFamily(registry);
    const reflector = {
      state: 'watching' as const,
      objects: 3,
      epoch: 2,
      hasSynced: () => true,
      isForbidden: () => false,
    };
    family.of('nodes').expose({ ...reflector, stalenessMs: () => 1_500 });
    family.exposeStaleness('keys', () => 250);
    const lines = (await registry.metrics()).split('\n');
    for (const line of [
      'gatehouse_cache_objects{resource="nodes"} 3',
      'gatehouse_cache_synced{resource="nodes"} 1',
      'gatehouse_reflector_forbidden{resource="nodes"} 0',
      'gatehouse_cache_epoch{resource="nodes"} 2',
      'gatehouse_cache_staleness_seconds{resource="nodes"} 1.5',
      'gatehouse_cache_staleness_seconds{resource="keys"} 0.25',
      'gatehouse_reflector_state{resource="nodes",state="listing"} 0',
      'gatehouse_reflector_state{resource="nodes",state="watching"} 1',
      'gatehouse_reflector_state{resource="nodes",state="backing_off"} 0',
    ])
      expect(lines).toContain(line);
  });

  test('show that the cluster refuses a collection, and then no age of one that we may go without', async () => {
    const registry = new Registry();
    const family = new ReflectorMetricsFamily(registry);
    let isRefused = false;
    const reflector = {
      ...{ state: 'backing_off' as const, objects: 0, epoch: 0, hasSynced: () => false },
      ...{ isForbidden: () => isRefused, stalenessMs: () => Number.POSITIVE_INFINITY },
    };
    family.of('nodes').expose(reflector);
    family.of('namespaces', { isOptional: true }).expose(reflector);
    const shown = async (name: string): Promise<string[]> =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
    const ages = ['nodes', 'namespaces'].map((name) => `gatehouse_cache_staleness_seconds{resource="${name}"} +Inf`);
    expect(await shown('gatehouse_cache_staleness_seconds')).toEqual(ages);
    isRefused = true;
    expect(await shown('gatehouse_cache_staleness_seconds')).toEqual([ages[0]]);
    expect(await shown('gatehouse_reflector_forbidden')).toEqual([
      'gatehouse_reflector_forbidden{resource="nodes"} 1',
      'gatehouse_reflector_forbidden{resource="namespaces"} 1',
    ]);
    isRefused = false;
    expect(await shown('gatehouse_cache_staleness_seconds')).toEqual(ages);
  });
});

test('metrics of requests show the connections that are open now, and no duration of a request without an answer', async () => {
  const registry = new Registry();
  const pool = { connections: 0 };
  const metrics = new RequestMetrics(registry, () => pool.connections);
  pool.connections = 4;
  metrics.failed('review');
  metrics.answered('review', 201, 0.5);
  const text = await registry.metrics();
  expect(text).toContain('gatehouse_cluster_connections 4');
  expect(text).toContain('gatehouse_cluster_requests_total{purpose="review",code="error"} 1');
  expect(text).toContain('gatehouse_cluster_requests_total{purpose="review",code="201"} 1');
  expect(text).toContain('gatehouse_cluster_request_duration_seconds_count{purpose="review"} 1');
});

test.each<[string, number, number, (registry: Registry) => void]>([
  [
    'gatehouse_cluster_request_duration_seconds',
    0.001,
    30,
    (all) => new RequestMetrics(all, () => 0).answered('x', 200, 1),
  ],
  [
    'gatehouse_reflector_list_duration_seconds',
    0.01,
    120,
    (all) => new ReflectorMetricsFamily(all).of('x').listed('ok', 1),
  ],
  ['gatehouse_session_record_lag_seconds', 0.001, 10, (all) => createSecretLag(all).observe(1)],
])('%s is told finely from %d s to %d s', async (name, first, last, observe) => {
  const registry = new Registry();
  observe(registry);
  expectFineBounds(await boundsOf(registry, name), { first, last });
});
