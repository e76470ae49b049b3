/** How long a server took to tell all its watchers of a change. */
export interface Told {
  readonly meanMs: number;
  /** The slowest took so long or less: the bound of its bucket, infinite above the last. */
  readonly slowestMs: number;
}

const NAME = 'gatehouse_watch_fanout_seconds';

/** From two pages of its metrics, one after the other; nothing where no change was told between them. */
export function toldBetween(before: string, after: string): { readonly told?: Told } {
  const grown = (series: string): number => seriesOf(after, series) - seriesOf(before, series);
  const count = grown(`${NAME}_count`);
  if (!(count > 0)) return {};
  const bounds = [...after.matchAll(/^gatehouse_watch_fanout_seconds_bucket\{le="([^"]+)"\}/gm)].map(
    ([, le]) => le ?? '',
  );
  const bound = bounds.find((le) => grown(`${NAME}_bucket{le="${le}"}`) === count);
  const slowestMs = bound === undefined || bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1_000;
  return { told: { meanMs: (grown(`${NAME}_sum`) / count) * 1_000, slowestMs } };
}

/** Of one series on a page of metrics; NaN where it is not there. */
export function seriesOf(page: string, series: string): number {
  const line = page.split('\n').find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? Number.NaN);
}
