import type { LoadReport } from '../load/load.ts';
import { LONGEST_TURN_MS } from '../peers/turns.ts';
import { median, ratios } from '../statistics.ts';
import { count, megabytes, number, table, verdict } from '../table.ts';
import type { KindsResults } from './kinds.ts';
import type { ManyResults } from './many-kinds.ts';
import type { KindMemory } from './memory.ts';
import type { PermittedResults } from './permitted-pages.ts';
import type { PodResults } from './pod-pages.ts';

/** The targets of memory are for so many pods of 4 kB. */
const TARGET_PODS = 20_000;
const MOST_BYTES = { whole: 90e6, fields: 25e6 } as const;
const PAGE_P99_MS = 5;
const PERMITTED_P99_MS = 10;
const SEARCH_P99_MS = 20;
const VISIBLE_P99_MS = 20;
/** Requests per second, compared with kube-apiserver and with a bare server. */
const LEAST_BESIDE_REAL = 10;
const LEAST_BESIDE_BARE = 0.8;

const p99 = (reports: readonly LoadReport[]): number => median(reports.map(({ p99Ms }) => p99Ms));
const rates = (reports: readonly (LoadReport | undefined)[]): number[] =>
  reports.map((report) => report?.requestsPerSecond ?? Number.NaN);

const HEAD = ['', 'measured', 'target', ''];
type Row = readonly [name: string, measured: string, target: string, verdict: string];

const most = (name: string, value: number, limit: number, unit = 'ms'): Row => [
  name,
  `${number(value)} ${unit}`,
  `≤ ${number(limit)} ${unit}`,
  verdict(value <= limit),
];
const least = (name: string, value: number, limit: number): Row => [
  name,
  `${number(value)} ×`,
  `≥ ${limit} ×`,
  Number.isNaN(value) ? 'not measured' : verdict(value >= limit),
];
const told = (name: string, measured: string): Row => [name, measured, '', ''];

/** What every kind promises, as text: a table for each stand. */
export function printKinds({ memory, pods, permitted, many }: KindsResults): string {
  const [inUse, searched] = many;
  return [memoryTable(memory), podTable(pods), permittedTable(permitted), manyTable(inUse), manyTable(searched)].join(
    '\n',
  );
}

function memoryTable(memory: readonly KindMemory[]): string {
  const judged = ({ way, heap, buffers, pods }: KindMemory): Row => {
    const name = `held ${way === 'whole' ? 'whole' : 'by fields'}`;
    const bytes = heap + buffers;
    return pods === TARGET_PODS ? most(name, bytes / 1e6, MOST_BYTES[way] / 1e6, 'MB') : told(name, megabytes(bytes));
  };
  const rows = memory.flatMap((one): Row[] => [
    judged(one),
    told('… heap, buffers, texts in them', [one.heap, one.buffers, one.texts].map(megabytes).join(', ')),
    told('… a pod as sent, and the heap of one', `${number(one.sentBytes)} B, ${number(one.heap / one.pods)} B`),
  ]);
  return table(`Memory of ${count(memory[0]?.pods ?? 0)} pods, all garbage collected`, HEAD, rows);
}

function podTable({ pods, cluster, version, pages, lists, visibleP50Ms, visibleP99Ms }: PodResults): string {
  const names = [...new Set(pages.map(({ name }) => name))];
  const ofPages = names.flatMap((name): Row[] => {
    const own = pages.filter((round) => round.name === name);
    const beside = median(ratios(rates(own.map(({ page }) => page)), rates(own.map(({ peer }) => peer))));
    return [
      most(`page of 10, ${name}: p99`, p99(own.map(({ alone }) => alone)), PAGE_P99_MS),
      least('… rate beside limit=10 of kube-apiserver', beside, LEAST_BESIDE_REAL),
      told('… requests/s', number(median(rates(own.map(({ page }) => page))))),
    ];
  });
  const whole = rates(lists.map(({ gatehouse }) => gatehouse));
  const rows = [
    ...ofPages,
    least(
      'full list beside a bare server',
      median(ratios(whole, rates(lists.map(({ bare }) => bare)))),
      LEAST_BESIDE_BARE,
    ),
    least('… beside kube-apiserver', median(ratios(whole, rates(lists.map(({ peer }) => peer)))), LEAST_BESIDE_REAL),
    told('… bytes', megabytes(lists[0]?.gatehouse.bytesPerAnswer)),
    told('a change of a pod is visible: p50', `${number(visibleP50Ms)} ms`),
    most('… p99', visibleP99Ms, VISIBLE_P99_MS),
  ];
  return table(`${count(pods)} pods on ${cluster}${version === undefined ? '' : ` ${version}`}, identity`, HEAD, rows);
}

function permittedTable({ pods, namespaces, seen, scope, firstMs, warm, filtered, memory }: PermittedResults): string {
  const title = `${count(pods)} pods in ${count(namespaces)} namespaces, of which the caller may see ${count(seen)}`;
  return table(title, HEAD, [
    told('first page, with the reviews', `${number(firstMs)} ms`),
    most('page of 10, warm: p99', p99(warm), PERMITTED_P99_MS),
    most('… filtered and sorted: p99', p99(filtered), PERMITTED_P99_MS),
    told('heap and buffers of pods and scope', megabytes(memory)),
    told('Scope', scope),
  ]);
}

function manyTable({ objects, held, limit, allFirstMs, sync, search, searching }: ManyResults): string {
  const found = search.map(({ name, found: total, reports }) =>
    most(`search for ${name} (${count(total)}): p99`, p99(reports), SEARCH_P99_MS),
  );
  return table(`${count(objects)} objects of 40 kinds`, HEAD, [
    most('counted bytes beside kinds.memory', held / 1e6, limit / 1e6, 'MB'),
    told('first pages of all, asked for at once', `${number(allFirstMs)} ms`),
    most('longest turn while they come', sync.longestCpuMs, LONGEST_TURN_MS),
    ...found,
    most('longest turn while they are searched', searching.longestCpuMs, LONGEST_TURN_MS),
  ]);
}
