import type { DocumentCondition } from '../document-kind.ts';
import type { DocumentSearch } from '../store/document-store.ts';
import { NANOSECONDS_OF_MS, type Span } from './loki-query.ts';
import { spanOf } from './loki-span.ts';

/** The part of a search that one query to Loki covers: a span of time, and namespaces that are all searched in this span. */
export interface Slice extends Span {
  /** The search that the slice belongs to. Requests of different searches take turns. */
  readonly flow: string;
  readonly conditions: readonly DocumentCondition[];
  /** Absent: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

/** The most namespaces in a query: 32 kB. Loki accepts queries of 128 KiB, and a caller's parameters may be two thirds of that. */
const MOST_NAMES = 500;

/**
 * Splits a search into queries that Loki can answer. No line is in two slices. `now` is in milliseconds since 1970. Throws a
 * 400 for a time that is too long.
 */
export function slicesOf(
  { conditions, time, namespaces }: DocumentSearch,
  { flow, now }: { readonly flow: string; readonly now: number },
): readonly Slice[] {
  const [start, end] = spanOf(time, now);
  const slice = (names: readonly string[] | undefined, from: number): Slice[] =>
    from < end ? [{ flow, conditions, namespaces: names, start: toNs(from), end: toNs(end) }] : [];
  if (!namespaces) return slice(undefined, start);
  const young = namespaces.young.filter(({ since }) => since > start);
  const old = namespaces.young.filter(({ since }) => since <= start);
  const whole = [...namespaces.whole, ...old.map(({ name }) => name)];
  const pieces = Array.from({ length: Math.ceil(whole.length / MOST_NAMES) }, (_, at) =>
    whole.slice(at * MOST_NAMES, (at + 1) * MOST_NAMES),
  );
  return [
    ...pieces.flatMap((names) => slice(names, start)),
    ...young.flatMap(({ name, since }) => slice([name], since)),
  ];
}

export const toNs = (ms: number): bigint => BigInt(Math.trunc(ms)) * NANOSECONDS_OF_MS;
export const toMs = (ns: bigint): number => Number(ns / NANOSECONDS_OF_MS);
export const lengthMs = ({ start, end }: Span): number => toMs(end - start);
