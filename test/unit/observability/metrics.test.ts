import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createMetricRegistry, registerLostLines, registerMemoryLimit } from '../../../src/observability/metrics.ts';

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

test('no gauge has the suffix of counters', async () => {
  const page = await createMetricRegistry({ version: '1', gitCommit: 'c', nodeVersion: 'v' }).metrics();
  expect([...page.matchAll(/^# TYPE (\S+_total) gauge$/gm)].map(([, name]) => name)).toEqual([]);
  expect(page).toContain('# TYPE nodejs_active_resources gauge');
});

test('the memory limit is read at each scrape, and has no value where there is none', async () => {
  const registry = new Registry();
  let limit = 2 ** 29;
  registerMemoryLimit(registry, () => limit);
  expect(await shown(registry)).toEqual(['gatehouse_memory_limit_bytes 536870912']);
  for (const none of [0, 2 ** 63, 2 ** 64]) {
    limit = none;
    expect([none, await shown(registry)]).toEqual([none, []]);
  }
  const withoutAny = new Registry();
  registerMemoryLimit(withoutAny);
  expect(await shown(withoutAny)).toEqual([]);
});
