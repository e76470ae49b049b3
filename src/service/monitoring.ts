import type { Config } from '../config/config.ts';
import { monitoringFamily } from '../http/monitoring/monitoring-family.ts';
import { MetricReader } from '../monitoring/metric-reader.ts';
import { PrometheusMetrics } from '../monitoring/metrics.ts';
import type { PrometheusPurpose } from '../monitoring/prometheus.ts';
import { StoreClient } from '../stores/store-client.ts';
import { openStoreFiles, type StoreFilesOptions } from '../stores/store-files.ts';
import { type Family, NO_UPKEEP, type Shared } from './family.ts';

export interface MonitoringOptions extends StoreFilesOptions {
  readonly prometheus: string;
  readonly insecureSkipTLSVerify: boolean;
}

/** `undefined` when no Prometheus is configured. */
export function toMonitoringOptions({ monitoring }: Pick<Config, 'monitoring'>): MonitoringOptions | undefined {
  const { prometheus, ...options } = monitoring;
  return prometheus === undefined ? undefined : { ...options, prometheus };
}

/** A metric of all nodes of a cluster of 15,000 has 2 MiB; all that arrive at a time have 16 MiB together. */
const LONGEST_ANSWER_BYTES = 4 * 1024 * 1024;

/** Metrics of the cluster and its nodes. Asks Prometheus nothing yet: it may be unavailable at the start. */
export async function createMonitoring(
  options: MonitoringOptions | undefined,
  { clock, random, logger, registry }: Pick<Shared, 'clock' | 'random' | 'logger' | 'registry'>,
): Promise<Family> {
  if (!options) return { routes: monitoringFamily(undefined) };
  const metrics = new PrometheusMetrics(registry);
  const files = openStoreFiles(options, { clock, logger, name: 'Prometheus' });
  const client = await StoreClient.open<PrometheusPurpose>(
    {
      name: 'Prometheus',
      url: options.prometheus,
      trustsAnybody: options.insecureSkipTLSVerify,
      longestAnswerBytes: LONGEST_ANSWER_BYTES,
    },
    { clock, files, observe: (purpose, status, seconds) => metrics.requested(purpose, status, seconds) },
  );
  return {
    routes: monitoringFamily(new MetricReader({ clock, random, logger, client, metrics })),
    upkeep: { ...NO_UPKEEP, parts: [{ name: 'files of Prometheus', run: files.run }] },
    close: () => client.close(),
  };
}
