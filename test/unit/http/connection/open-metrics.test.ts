import { gunzipSync } from 'node:zlib';
import { Counter, Gauge, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { AnswerWriter } from '../../../../src/http/answer/answer.ts';
import { metricsRoute, toOpenMetrics } from '../../../../src/http/connection/metrics-server.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

describe('OpenMetrics', () => {
  test('describes counters without their suffix, drops blank lines and ends with a mark', async () => {
    const registry = new Registry();
    new Counter({ name: 'a_total', help: 'A.', labelNames: ['x'], registers: [registry] }).inc({ x: '1' });
    new Gauge({ name: 'b_total', help: 'No counter.', registers: [registry] }).set(2);
    new Counter({ name: 'c', help: 'Not named as OpenMetrics wants.', registers: [registry] });
    expect(toOpenMetrics(await registry.metrics())).toBe(
      [
        '# HELP a A.',
        '# TYPE a counter',
        'a_total{x="1"} 1',
        '# HELP b_total No counter.',
        '# TYPE b_total gauge',
        'b_total 2',
        '# HELP c Not named as OpenMetrics wants.',
        '# TYPE c unknown',
        'c 0',
        '# EOF',
        '',
      ].join('\n'),
    );
  });
});

describe('the answer of /metrics', () => {
  const OPEN = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

  test.each([
    ['plain text', {}, 'identity', 'text/plain; version=0.0.4; charset=utf-8', '# HELP a A.\n# TYPE a gauge\na 1\n'],
    ['OpenMetrics', { accept: `${OPEN},*/*;q=0.1` }, 'identity', OPEN, '# HELP a A.\n# TYPE a gauge\na 1\n# EOF\n'],
    [
      'gzip',
      { 'accept-encoding': 'gzip' },
      'gzip',
      'text/plain; version=0.0.4; charset=utf-8',
      '# HELP a A.\n# TYPE a gauge\na 1\n',
    ],
  ])('is %s for who asks for it', async (_, asked, coding, type, expected) => {
    const registry = new Registry();
    new Gauge({ name: 'a', help: 'A.', registers: [registry] }).set(1);
    const { exchange } = fakeExchange({ headers: asked });
    const sent: Parameters<AnswerWriter['send']>[] = [];
    const writer = { send: (...given: Parameters<AnswerWriter['send']>) => sent.push(given) };
    await metricsRoute(registry, writer as unknown as AnswerWriter, { monotonic: () => 0 }).methods.GET?.(exchange);
    const [[, status, headers, body] = []] = sent;
    expect([status, headers, exchange.coding]).toEqual([
      200,
      {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        Vary: 'Accept, Accept-Encoding',
        ...(coding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}),
      },
      coding,
    ]);
    const bytes = Buffer.concat(body?.pieces ?? []);
    expect((coding === 'gzip' ? gunzipSync(bytes) : bytes).toString()).toBe(expected);
  });

  test('is made over several turns of the event loop where it takes longer than 4 ms, and is the same text', async () => {
    const registry = new Registry();
    let now = 0;
    let turns = 0;
    const turnsOf: number[] = [];
    const collect = (): void => {
      now += 2;
      turnsOf.push(turns);
    };
    for (const name of ['a', 'b', 'c', 'd', 'e']) new Gauge({ name, help: name, registers: [registry], collect });
    const { exchange } = fakeExchange();
    const sent: Parameters<AnswerWriter['send']>[] = [];
    const writer = { send: (...given: Parameters<AnswerWriter['send']>) => sent.push(given) };
    const count = (): void => {
      turns++;
      if (sent.length === 0) setImmediate(count);
    };
    setImmediate(count);
    await metricsRoute(registry, writer as unknown as AnswerWriter, { monotonic: () => now }).methods.GET?.(exchange);
    expect(turnsOf).toEqual([0, 0, 1, 1, 2]);
    expect(Buffer.concat(sent[0]?.[3]?.pieces ?? []).toString()).toBe(await registry.metrics());
  });
});
