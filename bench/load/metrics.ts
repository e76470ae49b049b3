/** What a server under measurement reports about itself on its page of Prometheus metrics. */

export const pageOf = async ({ metricsUrl }: { readonly metricsUrl: string }): Promise<string> =>
  (await fetch(metricsUrl)).text();

/** The value of one series on a page of metrics; NaN if it is not there. */
export function seriesOf(page: string, series: string): number {
  const line = page.split('\n').find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? Number.NaN);
}

/** `process_resident_memory_bytes`, whatever prefix it has there. */
export function residentMetric(page: string): number | undefined {
  const value = /^(?:\w+_)?process_resident_memory_bytes(?:\{[^}]*\})? (\S+)$/m.exec(page)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** The interval at which Node checks its loop. Node includes it in every value. */
const RESOLUTION_MS = 10;

/** The event loop delay in milliseconds, without that interval; the 99th percentile by default. */
export function loopDelayOf(page: string, name: 'p99' | 'max' = 'p99'): number {
  const seconds = new RegExp(`^nodejs_eventloop_lag_${name}_seconds(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page)?.[1];
  return Math.max(0, Number(seconds) * 1_000 - RESOLUTION_MS);
}

/** The event loop delay in milliseconds since the last call. */
export const loopDelayMs = async (server: { readonly metricsUrl: string }): Promise<number> =>
  loopDelayOf(await pageOf(server));

/** How long a server took to send a change to all its watchers. */
export interface Told {
  readonly meanMs: number;
  /** The slowest change took at most this long: the bound of its bucket, infinite above the last bucket. */
  readonly slowestMs: number;
}

const TOLD = 'gatehouse_watch_fanout_seconds';

/** Reads it from two pages of the server's metrics, before and after; absent if no change was sent between them. */
export function toldBetween(before: string, after: string): { readonly told?: Told } {
  const grown = (series: string): number => seriesOf(after, series) - seriesOf(before, series);
  const count = grown(`${TOLD}_count`);
  if (!(count > 0)) return {};
  const bounds = [...after.matchAll(/^gatehouse_watch_fanout_seconds_bucket\{le="([^"]+)"\}/gm)].map(
    ([, le]) => le ?? '',
  );
  const bound = bounds.find((le) => grown(`${TOLD}_bucket{le="${le}"}`) === count);
  const slowestMs = bound === undefined || bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1_000;
  return { told: { meanMs: (grown(`${TOLD}_sum`) / count) * 1_000, slowestMs } };
}
