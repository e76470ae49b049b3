import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { decisionCounter, recentQuestionMetrics, reviewMetrics } from '../../../src/authorization/metrics.ts';
import { boundsOf, expectFineBounds } from '../../support/histogram-bounds.ts';

const DECISIONS = 'gatehouse_authorization_decisions_total';
const linesOf = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

test('every kind of decision begins at 0, and either mode counts in the same series', async () => {
  const registry = new Registry();
  const [count, also] = [decisionCounter(registry), decisionCounter(registry)];
  const sources = ['cache', 'review', 'stale', 'always_allow'];
  const series = [
    ...['allow', 'deny'].flatMap((decision) => sources.map((source) => `decision="${decision}",source="${source}"`)),
    ...['review', 'overload'].map((source) => `decision="error",source="${source}"`),
  ];
  expect(await linesOf(registry, DECISIONS)).toEqual(series.map((labels) => `${DECISIONS}{${labels}} 0`));
  count({ allowed: true, source: 'cache' });
  also({ allowed: false, source: 'review' });
  also('error');
  count('overload');
  expect((await linesOf(registry, DECISIONS)).filter((line) => line.endsWith(' 1'))).toEqual(
    ['decision="allow",source="cache"', 'decision="deny",source="review"', ...series.slice(-2)].map(
      (labels) => `${DECISIONS}{${labels}} 1`,
    ),
  );
});

test('reviews are timed in seconds, and what is open is read when it is asked for', async () => {
  const registry = new Registry();
  reviewMetrics(registry, { entries: () => 7, load: () => ({ inFlight: 3, waiting: 2 }) })(0.02);
  const lines = await linesOf(registry, 'gatehouse_authorization');
  expect(lines.find((line) => line.endsWith(' 1'))).toContain('le="0.025"');
  expect(lines).toContain('gatehouse_authorization_review_duration_seconds_sum 0.02');
  expect(lines.slice(-3)).toEqual([
    'gatehouse_authorization_cache_entries 7',
    'gatehouse_authorization_reviews{state="in_flight"} 3',
    'gatehouse_authorization_reviews{state="waiting"} 2',
  ]);
});

test('the time of a review is told finely from a millisecond to the 3 s after which it is given up', async () => {
  const registry = new Registry();
  reviewMetrics(registry, { entries: () => 0, load: () => ({ inFlight: 0, waiting: 0 }) })(0.02);
  const bounds = await boundsOf(registry, 'gatehouse_authorization_review_duration_seconds');
  expectFineBounds(bounds, { first: 0.001, last: 3 });
});

test('recent questions are told by their origin: asked here, or told by other replicas', async () => {
  const registry = new Registry();
  let counts = { own: 0, shared: 0 };
  recentQuestionMetrics(registry, () => counts);
  const name = 'gatehouse_authorization_recent_questions';
  expect(await linesOf(registry, name)).toEqual([`${name}{origin="own"} 0`, `${name}{origin="shared"} 0`]);
  counts = { own: 5, shared: 3 };
  expect(await linesOf(registry, name)).toEqual([`${name}{origin="own"} 5`, `${name}{origin="shared"} 3`]);
});

test('reviews in the background are counted by outcome, each from 0 on', async () => {
  const registry = new Registry();
  const count = recentQuestionMetrics(registry, () => ({ own: 0, shared: 0 }));
  const name = 'gatehouse_authorization_background_reviews_total';
  const outcomes = ['allowed', 'denied', 'failed'] as const;
  const lines = (...values: number[]) => outcomes.map((one, index) => `${name}{outcome="${one}"} ${values[index]}`);
  expect(await linesOf(registry, name)).toEqual(lines(0, 0, 0));
  for (const outcome of ['allowed', 'failed', 'allowed', 'denied', 'allowed', 'failed'] as const) count(outcome);
  expect(await linesOf(registry, name)).toEqual(lines(3, 1, 2));
});
