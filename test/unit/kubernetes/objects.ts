import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type ReflectorMetrics, ReflectorMetricsFamily } from '../../../src/kubernetes/metrics.ts';
import type { WatchEvent } from '../../../src/kubernetes/reflector/lister-watcher.ts';

export const silent = pino({ level: 'silent' });

export const node = (name: string, resourceVersion: string, more: { uid?: string; malformed?: boolean } = {}) => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name, uid: more.uid ?? `uid-${name}`, resourceVersion },
  ...(more.malformed ? { malformed: true } : {}),
});

export const event = (type: string, object: object): WatchEvent => ({ type, object: { ...object } });
export const bookmark = (resourceVersion: string, annotations?: object): WatchEvent =>
  event('BOOKMARK', { kind: 'Node', metadata: { resourceVersion, ...(annotations ? { annotations } : {}) } });
export const initialEventsEnd = (resourceVersion: string): WatchEvent =>
  bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' });

/** Metrics of one resource and how to read them. */
export function measured(): { metrics: ReflectorMetrics; value: (name: string, labels?: object) => Promise<number> } {
  const registry = new Registry();
  return {
    metrics: new ReflectorMetricsFamily(registry).of('nodes'),
    async value(name, labels = {}) {
      const metric = await registry.getSingleMetric(`gatehouse_${name}`)?.get();
      const wanted = Object.entries({ resource: 'nodes', ...labels });
      const found = metric?.values.find((one) => wanted.every(([key, value]) => one.labels[key] === value));
      return found?.value ?? 0;
    },
  };
}
