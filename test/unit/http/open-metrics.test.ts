import { Counter, Gauge, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { toOpenMetrics } from '../../../src/http/connection/metrics-server.ts';

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
