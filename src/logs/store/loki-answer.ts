import { asArray, asObject } from '../../kubernetes/object.ts';
import { type LogRecord, StoreError, toRecord } from './log-store.ts';
import { type LokiLabels, NANOSECONDS_OF_MS } from './loki-query.ts';
import { publicText } from './public-text.ts';
import { forbids, refusesUser } from './search-answer.ts';
import type { StoreAnswer } from './store-client.ts';

/** A line as Loki has it. */
export interface LokiEntry {
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  readonly line: string;
  readonly labels: Readonly<Record<string, unknown>>;
}

/** The lines of an answer, stream by stream. Throws a `StoreError` when it has none. */
export function entriesIn(answer: StoreAnswer): LokiEntry[] {
  return resultOf(answer).flatMap((stream) => {
    const { stream: labels, values } = asObject(stream);
    return asArray(values).map((value) => {
      const [at, line] = asArray(value);
      if (typeof at !== 'string' || !/^\d{1,19}$/.test(at) || typeof line !== 'string') throw unreadable();
      return { at: BigInt(at), line, labels: asObject(labels) };
    });
  });
}

/** The one number of an answer; 0 where nothing was counted. */
export function numberIn(answer: StoreAnswer): number {
  const [sample] = resultOf(answer);
  return sample === undefined ? 0 : sampleOf(asObject(sample)['value']).count;
}

/** The counts of an answer, each with the time at which it was counted, in milliseconds since 1970. */
export function countsIn(answer: StoreAnswer): { readonly at: number; readonly count: number }[] {
  return resultOf(answer).flatMap((series) => asArray(asObject(series)['values']).map(sampleOf));
}

/** The record of an entry. Its time has milliseconds, or as many digits as it needs. */
export function recordOf({ at, line, labels }: LokiEntry, names: LokiLabels): LogRecord {
  const { [names.namespace]: namespace, [names.pod]: pod, [names.container]: container } = labels;
  return toRecord({ log: line, time: timeText(at), namespace, pod, container });
}

function timeText(at: bigint): string {
  const ms = at / NANOSECONDS_OF_MS;
  const digits = `${at % NANOSECONDS_OF_MS}`.padStart(6, '0').replace(/0+$/, '');
  return new Date(Number(ms)).toISOString().replace('Z', `${digits}Z`);
}

function sampleOf(value: unknown): { readonly at: number; readonly count: number } {
  const [seconds, text] = asArray(value);
  const count = Number(text);
  if (typeof seconds !== 'number' || typeof text !== 'string' || !Number.isSafeInteger(count)) throw unreadable();
  return { at: Math.round(seconds * 1_000), count };
}

function resultOf({ status, body, text = '' }: StoreAnswer): readonly unknown[] {
  const { status: said, data } = asObject(body);
  if (status === 200 && said === 'success') return asArray(asObject(data)['result']);
  if (status === 200) throw unreadable();
  throw failure(status, text);
}

/** Loki says in plain text why it gives no answer. */
function failure(status: number, text: string): StoreError {
  if (/context deadline exceeded|timeout/i.test(text) || status === 504)
    return new StoreError('slow', 'the log store gave up at its time limit');
  if (status === 401)
    return /org id/.test(text)
      ? new StoreError('away', `the log store asks for logging.lokiTenant: ${publicText(text)}`)
      : refusesUser();
  if (status === 403) return forbids(text);
  // Loki says why, in plain text.
  if (text.trim() === '' && status < 500)
    return new StoreError('away', `the log store answers ${status} as no Loki does: see logging.version`);
  if (status === 400 || status === 422) return new StoreError('refused', publicText(text.trim()));
  return new StoreError('away', `the log store answers ${status} ${publicText(text)}`);
}

const unreadable = (): StoreError => new StoreError('away', 'the log store answers what cannot be read');
