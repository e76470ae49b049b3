import { asArray, asObject } from '../runtime/text/json-value.ts';
import { publicText } from '../stores/public-text.ts';
import type { StoreAnswer, StoreClient } from '../stores/store-client.ts';
import type { AskedTime } from './question.ts';

export const PROMETHEUS_PURPOSES = ['instant', 'range'] as const;

export type PrometheusPurpose = (typeof PROMETHEUS_PURPOSES)[number];

export type PrometheusClient = Pick<StoreClient<PrometheusPurpose>, 'json'>;

/** Seconds since 1970, and the value as text. */
type Point = readonly [seconds: number, value: string];

/** A series with its labels: one value at the asked time, or those of a range. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

/** The time that Prometheus has for a query; it gives up by itself then. */
export const QUERY_LIMIT_MS = 10_000;

/**
 * Prometheus answers with something else than series. `status` says whether that is about this query (400, 422) or about
 * Prometheus itself, which the pauses between calls depend on (`runtime/limits/circuit-breaker.ts`).
 */
export class PrometheusFault extends Error {
  readonly status: { readonly code: number };

  constructor(code: number, message: string) {
    super(`${code} ${message}`.trim());
    this.name = 'PrometheusFault';
    this.status = { code };
  }
}

/** Asks Prometheus by its HTTP API (https://prometheus.io/docs/prometheus/latest/querying/api/). Rejects with a fault or a `StoreError`. */
export async function askPrometheus(
  client: PrometheusClient,
  query: string,
  time: AskedTime,
  signal: AbortSignal,
): Promise<readonly Series[]> {
  const isRange = 'start' in time;
  const times = isRange
    ? { start: `${time.start}`, end: `${time.end}`, step: `${time.step}` }
    : { ...(time.time === undefined ? {} : { time: `${time.time}` }) };
  // A form, because the names of many nodes are longer than proxies let the address be.
  const answer = await client.json(
    {
      purpose: isRange ? 'range' : 'instant',
      method: 'POST',
      path: isRange ? '/api/v1/query_range' : '/api/v1/query',
      form: { query, ...times, timeout: `${QUERY_LIMIT_MS}ms` },
    },
    signal,
  );
  return seriesIn(answer, isRange ? 'matrix' : 'vector');
}

function seriesIn({ status, body, text = '' }: StoreAnswer, type: 'vector' | 'matrix'): readonly Series[] {
  const { status: word, data, error } = asObject(body);
  const { resultType, result } = asObject(data);
  if (status !== 200 || word !== 'success')
    throw new PrometheusFault(status === 200 ? 502 : status, publicText(typeof error === 'string' ? error : text));
  if (resultType !== type || !Array.isArray(result)) throw new PrometheusFault(502, `no ${type} is in the answer`);
  return asArray(result).flatMap((one) => toSeries(asObject(one), type));
}

/** Values that are no numbers, such as a share of nothing, are left out: the console would draw them. */
function toSeries(one: Readonly<Record<string, unknown>>, type: 'vector' | 'matrix'): readonly Series[] {
  const metric = Object.fromEntries(
    Object.entries(asObject(one['metric'])).filter((label): label is [string, string] => typeof label[1] === 'string'),
  );
  if (type === 'vector') return isPoint(one['value']) ? [{ metric, value: one['value'] }] : [];
  const values = asArray(one['values']).filter(isPoint);
  return values.length === 0 ? [] : [{ metric, values }];
}

const isPoint = (point: unknown): point is Point =>
  Array.isArray(point) &&
  point.length === 2 &&
  typeof point[0] === 'number' &&
  typeof point[1] === 'string' &&
  point[1] !== '' &&
  Number.isFinite(Number(point[1]));
