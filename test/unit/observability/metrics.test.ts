import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { registerLostLines } from '../../../src/observability/metrics.ts';

const shown = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith('gatehouse_'));

test('dropped log lines are counted from 0 on, by whether they were of the audit trail', async () => {
  const registry = new Registry();
  let lost = { audit: 0, other: 0 };
  registerLostLines(registry, () => lost);
  const name = 'gatehouse_log_lines_dropped_total';
  expect(await shown(registry)).toEqual([`${name}{trail="audit"} 0`, `${name}{trail="other"} 0`]);
  lost = { audit: 2, other: 30 };
  expect(await shown(registry)).toEqual([`${name}{trail="audit"} 2`, `${name}{trail="other"} 30`]);
});
