import type { CallerReport } from './load/callers.ts';
import type { FloodedReviews, FrozenReviews, ReviewResults } from './reviews.ts';
import { median, quantile } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';
import { FLOODED_REVIEW_P99_RATIO, FROZEN_P99_MS, RIGHT_OUTLIVES_MS } from './targets.ts';

/** The results of access reviews as text: tables with their targets. */
export const printReviews = ({ flooded, frozen }: ReviewResults): string =>
  [...flooded.map(floodedText), frozenText(frozen)].join('\n');

const p99 = ({ latenciesMs }: CallerReport): number => quantile(latenciesMs, 0.99);

const row = (name: string, report: CallerReport): string[] => [
  name,
  count(report.latenciesMs.length),
  number(median(report.latenciesMs)),
  number(p99(report)),
  number(quantile(report.latenciesMs, 1)),
  statusText(report),
];

const statusText = ({ statuses }: CallerReport): string =>
  Object.entries(statuses)
    .map(([status, times]) => `${status}: ${count(times)}`)
    .join(', ');

const HEAD = ['', 'requests', 'p50 ms', 'p99 ms', 'max ms', 'answers'];

/** The right is there and the node is not. */
const isAnswered = ({ statuses }: CallerReport): boolean => Object.keys(statuses).every((status) => status === '404');

function floodedText({ roundTripMs, idle, flooded, flood, outlivedMs }: FloodedReviews): string {
  const ratio = p99(flooded) / p99(idle);
  const mostMs = RIGHT_OUTLIVES_MS + roundTripMs;
  return [
    table(`Questions that were never asked, cluster ${roundTripMs} ms away (R-21)`, HEAD, [
      row('another user, idle', idle),
      row('another user, flooded', flooded),
      row('the flood', flood),
    ]),
    `p99 flooded ${number(ratio)} × idle, target ≤ ${FLOODED_REVIEW_P99_RATIO}: ${verdict(ratio <= FLOODED_REVIEW_P99_RATIO)}. None refused: ${verdict(isAnswered(flooded))}.`,
    `A right that ends beside the flood is refused after ${number(outlivedMs)} ms, target ≤ ${count(mostMs)}: ${verdict(outlivedMs <= mostMs)}.`,
    '',
  ].join('\n');
}

function frozenText({ cluster, frozenMs, before, frozen, after }: FrozenReviews): string {
  const isServed = [before, frozen, after].every(({ statuses }) =>
    Object.keys(statuses).every((code) => code === '200'),
  );
  return [
    table(`Callers whose answer is known, while ${cluster} is frozen for ${frozenMs / 1000} s`, HEAD, [
      row('before', before),
      row('frozen', frozen),
      row('after', after),
    ]),
    `p99 frozen, target ≤ ${FROZEN_P99_MS} ms: ${verdict(p99(frozen) <= FROZEN_P99_MS)}. Nobody refused: ${verdict(isServed)}.`,
    '',
  ].join('\n');
}
