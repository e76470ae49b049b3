import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { MetricReader, offeredMetrics } from '../../../src/monitoring/metric-reader.ts';
import { PrometheusMetrics } from '../../../src/monitoring/metrics.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('CO-09 all answers in the making have 400,000 values at most, and give their room back', async () => {
  const result = Array.from({ length: 40_000 }, (_, at) => ({ metric: { node: `node-${at}` }, value: [1, '1'] }));
  const body = { status: 'success', data: { resultType: 'vector', result } };
  const reader = new MetricReader({
    clock: new FakeClock(),
    random: systemRandom,
    logger: createLogger({ level: 'error', format: 'json' }, { write: () => {} }),
    client: { json: async () => ({ status: 200, body }) },
    metrics: new PrometheusMetrics(new Registry()),
  });
  const ask = (count: number) =>
    reader.answer(
      'node',
      { metrics: offeredMetrics.node.slice(0, count), nodes: [], time: { time: undefined }, ranking: undefined },
      'ada',
    );
  const failures = ({ answer }: Awaited<ReturnType<typeof ask>>): number =>
    answer.results.filter(({ error }) => error?.startsWith('too many values')).length;
  const first = await ask(9);
  const second = await ask(3);
  expect([failures(first), failures(second)]).toEqual([0, 2]);
  first.release();
  expect(failures(await ask(9))).toBe(0);
});
