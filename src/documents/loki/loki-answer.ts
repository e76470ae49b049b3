import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { publicText } from '../../stores/public-text.ts';
import type { StoreAnswer } from '../../stores/store-client.ts';
import { StoreError, TooLongAnswer } from '../../stores/store-error.ts';
import { toRecord } from '../store/document-store.ts';
import { forbids, refusesUser } from '../store/rejected-account.ts';
import { type LokiLabels, NANOSECONDS_OF_MS, type Span } from './loki-query.ts';

/** A line of an answer of Loki. */
export interface LokiEntry {
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  readonly line: string;
  /** The labels of its stream, and these labels as one text. */
  readonly labels: Readonly<Record<string, unknown>>;
  readonly stream: string;
}

/** The limits of a request, which its answer must not exceed. */
export interface Expected extends Span {
  readonly limit: number;
  /** Absent: any namespace. */
  readonly namespaces?: ReadonlySet<unknown> | undefined;
}

/** The longest labels of a stream, which are compared as text. Loki's own limits allow 30 kB. */
const LONGEST_LABELS = 64 * 1_024;

/** The lines of an answer, stream by stream. Throws a `StoreError` if it cannot be read, or has lines that were not requested. */
export function entriesIn(answer: StoreAnswer, namespaceLabel: string, expected: Expected): LokiEntry[] {
  const entries: LokiEntry[] = [];
  for (const one of resultOf(answer)) {
    const labels = asObject(asObject(one)['stream']);
    const stream = JSON.stringify(labels);
    if (stream.length > LONGEST_LABELS || expected.namespaces?.has(labels[namespaceLabel]) === false)
      throw unreadable();
    for (const value of asArray(asObject(one)['values'])) entries.push({ ...entryOf(value, expected), labels, stream });
  }
  if (entries.length > expected.limit) throw unreadable();
  return entries;
}

function entryOf(value: unknown, { start, end }: Span): Pick<LokiEntry, 'at' | 'line'> {
  const [text, line] = asArray(value);
  if (typeof text !== 'string' || !/^\d{1,19}$/.test(text) || typeof line !== 'string') throw unreadable();
  const at = BigInt(text);
  if (at < start || at >= end) throw unreadable();
  return { at, line };
}

/** The labels of the streams of an answer. */
export const streamsIn = (answer: StoreAnswer): Readonly<Record<string, unknown>>[] => dataOf(answer).map(asObject);

/** The number in an answer that has one number; 0 if the answer is empty. */
export function numberIn(answer: StoreAnswer): number {
  const [sample] = resultOf(answer);
  return sample === undefined ? 0 : sampleOf(asObject(sample)['value']).count;
}

/** The times of the requested counts, in milliseconds since 1970. */
export interface CountTimes {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** The counts of an answer, each with its time. Throws a `StoreError` for a time that was not requested. */
export function countsIn(
  answer: StoreAnswer,
  { first, last, step }: CountTimes,
): { readonly at: number; readonly count: number }[] {
  const samples = resultOf(answer).flatMap((series) => asArray(asObject(series)['values']).map(sampleOf));
  for (const { at } of samples) if (at < first || at > last || (at - first) % step !== 0) throw unreadable();
  return samples;
}

/** The record of an entry. Its time has milliseconds, and more digits only if they are not zero. */
export function recordOf({ at, line, labels }: LokiEntry, names: LokiLabels): object {
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
  if (typeof seconds !== 'number' || typeof text !== 'string' || !(Number.isSafeInteger(count) && count >= 0))
    throw unreadable();
  return { at: Math.round(seconds * 1_000), count };
}

const resultOf = (answer: StoreAnswer): readonly unknown[] => asArray(asObject(goodData(answer))['result']);

const dataOf = (answer: StoreAnswer): readonly unknown[] => asArray(goodData(answer));

function goodData({ status, body, text = '' }: StoreAnswer): unknown {
  const { status: said, data } = asObject(body);
  if (status === 200 && said === 'success') return data;
  throw status === 200 ? unreadable() : failure(status, text);
}

/** Turns a failed request into an error. Loki gives its reason in plain text. */
function failure(status: number, text: string): StoreError {
  if (status === 401)
    return /org id/.test(text)
      ? new StoreError('away', `the log store asks for a tenant (lokiTenant): ${publicText(text)}`)
      : refusesUser();
  if (status === 403) return forbids(text);
  // One of Loki's own limits (grpc_server_max_recv_msg_size, 4 MiB): a smaller page may succeed.
  if (status === 413 || /larger than (?:the )?max/i.test(text))
    return new TooLongAnswer('the log store', '', undefined);
  // Loki always gives a reason, so an empty answer comes from something else.
  if (text.trim() === '' && status < 500)
    return new StoreError('away', `the log store answers ${status} as no Loki does: see logging.version`);
  if (status === 400 || status === 422) return new StoreError('refused', publicText(text.trim()));
  if (status === 504 || /context deadline exceeded|timeout/i.test(text))
    return new StoreError('slow', 'the log store gave up at its time limit');
  return new StoreError('away', `the log store answers ${status} ${publicText(text)}`);
}

const unreadable = (): StoreError => new StoreError('away', 'the log store answers what cannot be read');
