import { BoundedMap } from '../runtime/bounded-map.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Series } from './prometheus.ts';

/** A page in several tabs, or of several people, asks once. Prometheus scrapes every 15 s or less often. */
const KEPT_MS = 3_000;
/** Several pages. Each entry has at most `LONGEST_KEPT` values of some 150 bytes, so all have 15 MB at most. */
const CAPACITY = 100;
const LONGEST_KEPT = 1_000;

/** The number of values in the series. */
export const valuesIn = (series: readonly Series[]): number =>
  series.reduce((sum, { values }) => sum + (values?.length ?? 1), 0);

/** The answers of the last seconds, for callers who may all see them. */
export class RecentSeries {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new BoundedMap<{ readonly at: number; readonly series: readonly Series[] }>(CAPACITY);

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get(key: string): readonly Series[] | undefined {
    const known = this.#known.get(key);
    if (known === undefined) return undefined;
    if (this.#clock.monotonic() - known.at < KEPT_MS) return known.series;
    this.#known.delete(key);
    return undefined;
  }

  set(key: string, series: readonly Series[]): void {
    if (valuesIn(series) <= LONGEST_KEPT) this.#known.set(key, { at: this.#clock.monotonic(), series });
  }
}
