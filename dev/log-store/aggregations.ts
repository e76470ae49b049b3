import { QueryError } from './query.ts';
import type { StoredRecord } from './stored-record.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MONTHS: Readonly<Record<string, number>> = { M: 1, q: 3, y: 12 };
const DAY_MS = 86_400_000;
/** `search.max_buckets` of OpenSearch 2. */
const MOST_BUCKETS = 65_535;

type Json = Readonly<Record<string, unknown>>;

/** The `aggregations` of an answer. Only those that Gatehouse requests are supported. */
export function aggregate(asked: Json, records: readonly StoredRecord<object>[]): Json {
  return Object.fromEntries(
    Object.entries(asked).map(([name, body]) => {
      const [[type, options] = ['', {}]] = Object.entries(body as Record<string, Json>);
      if (type === 'cardinality') return [name, { value: cardinality(options, records) }];
      if (type === 'terms') return [name, { buckets: indices(options, records) }];
      if (type === 'date_histogram') return [name, { buckets: histogram(options, records) }];
      throw new QueryError('parsing_exception', `unknown aggregation type [${type}]`);
    }),
  );
}

function cardinality({ field }: Json, records: readonly StoredRecord<object>[]): number {
  const name = String(field).replace(/\.keyword$/, '');
  return new Set(records.map((record) => record.text(name)).filter((text) => text !== undefined)).size;
}

/** The indices that have records. */
function indices({ field }: Json, records: readonly StoredRecord<object>[]): Json[] {
  if (field !== '_index') throw new QueryError('illegal_argument_exception', `[${field}] has no terms here`);
  return Array.from(
    Map.groupBy(records, ({ index }) => index),
    ([key, { length }]) => ({ key, doc_count: length }),
  );
}

function histogram(options: Json, records: readonly StoredRecord<object>[]): Json[] {
  const { fixed_interval: fixed, calendar_interval: calendar, min_doc_count: least } = options;
  if (least !== 1) throw new QueryError('too_many_buckets_exception', 'this store makes no empty buckets');
  const startOf = fixed ? fixedStart(String(fixed)) : calendarStart(String(calendar));
  const counts = new Map<number, number>();
  for (const { at } of records) counts.set(startOf(at), (counts.get(startOf(at)) ?? 0) + 1);
  if (counts.size > MOST_BUCKETS)
    throw new QueryError('too_many_buckets_exception', 'Trying to create too many buckets.');
  return [...counts].sort(([a], [b]) => a - b).map(([key, count]) => ({ key, doc_count: count }));
}

function fixedStart(interval: string): (ms: number) => number {
  const [, count, unit = ''] = /^([0-9]+)([smhd])$/.exec(interval) ?? [];
  const length = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (!(length > 0)) throw new QueryError('illegal_argument_exception', `failed to parse setting [${interval}]`);
  return (ms) => Math.floor(ms / length) * length;
}

function calendarStart(interval: string): (ms: number) => number {
  const unit = interval.slice(1);
  if (unit === 'd') return (ms) => Math.floor(ms / DAY_MS) * DAY_MS;
  // 1970-01-05 was a Monday.
  if (unit === 'w') return (ms) => Math.floor((ms / DAY_MS - 4) / 7) * 7 * DAY_MS + 4 * DAY_MS;
  const months = MONTHS[unit];
  if (!months) throw new QueryError('illegal_argument_exception', `unknown calendar interval [${interval}]`);
  return (ms) => {
    const date = new Date(ms);
    return Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / months) * months);
  };
}
