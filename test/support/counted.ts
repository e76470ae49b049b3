import type { Registry } from 'prom-client';

/** What a counter has counted, by the value of this label; series that are still 0 are left out. */
export async function countedBy(registry: Registry, name: string, label: string): Promise<Record<string, number>> {
  const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
  return Object.fromEntries(values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels[label], value]));
}
