import type { Registry } from 'prom-client';

/** The values of a counter by the value of this label, without series that are 0. */
export async function countedBy(registry: Registry, name: string, label: string): Promise<Record<string, number>> {
  const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
  return Object.fromEntries(values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels[label], value]));
}
