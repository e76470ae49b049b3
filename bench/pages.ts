import { type Bench, listPlan } from './bench.ts';
import { startChurn } from './churn.ts';
import type { LoadReport } from './load/load.ts';
import { startSimulated } from './peers/clusters.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { CODINGS, type Coding } from './peers/peer.ts';
import { median, ratios } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

/** A page of ten out of many nodes beside a list of ten, in one coding. */
interface PageRound {
  readonly coding: Coding;
  readonly page: LoadReport;
  readonly list: LoadReport;
}

export interface PageResults {
  readonly nodes: number;
  readonly pages: readonly PageRound[];
  /** A page of ten with a selector that matches a third, one request after the other. One result a round. */
  readonly selector: readonly LoadReport[];
  /** Like `selector`, while a hundred nodes change in a second. */
  readonly selectorChanging: readonly LoadReport[];
}

const MANY_NODES = 5_000;
const PAGE = 10;
/** Selects a third of the workers, because the simulated cluster spreads them over three zones. */
const THIRD = encodeURIComponent('topology.kubernetes.io/zone=zone-b');
const CHANGES_PER_SECOND = 100;

/** Target: the ratio of requests per second of a page of ten, out of many nodes, to a list of ten nodes. */
const PAGE_RATIO = 0.7;
/** Target: the 99th percentile of a page of ten with a label selector that matches a third of the nodes. */
const SELECTOR_P99_MS = 5;

/** Measures two clusters alternately, each with a Gatehouse. */
export async function measurePages(bench: Bench): Promise<PageResults> {
  bench.note(`a page of ${PAGE} out of ${MANY_NODES} nodes beside the list of ${PAGE}`);
  const clusters = [await startSimulated(MANY_NODES), await startSimulated(PAGE)] as const;
  const many = await startGatehouse(bench.children, { ...clusters[0], name: 'pages-many' });
  const few = await startGatehouse(bench.children, { ...clusters[1], name: 'pages-few' });
  const pages = await measureRounds(bench, many, few);
  const selector = await measureSelector(bench, many);
  const churn = startChurn(clusters[0].cluster.objects, { kind: 'nodes', perSecond: CHANGES_PER_SECOND });
  const selectorChanging = await measureSelector(bench, many);
  await churn.stop();
  for (const part of [many, few, ...clusters]) await part.stop();
  return { nodes: MANY_NODES, pages, selector, selectorChanging };
}

async function measureRounds({ generator, options }: Bench, many: Gatehouse, few: Gatehouse): Promise<PageRound[]> {
  const rounds: PageRound[] = [];
  for (let round = 0; round < options.rounds; round++)
    for (const coding of CODINGS) {
      const plan = listPlan(many, coding, options.seconds);
      const page = await generator.load({ ...plan, path: `${many.listPath}?limit=${PAGE}` });
      rounds.push({ coding, page, list: await generator.load(listPlan(few, coding, options.seconds)) });
    }
  return rounds;
}

/** Uses one connection, so that the time of an answer is only that of its own work. */
async function measureSelector({ generator, options }: Bench, many: Gatehouse): Promise<LoadReport[]> {
  const path = `${many.listPath}?labelSelector=${THIRD}&limit=${PAGE}`;
  const reports: LoadReport[] = [];
  for (let round = 0; round < options.rounds; round++)
    reports.push(await generator.load({ ...listPlan(many, 'identity', options.seconds), path, connections: 1 }));
  return reports;
}

/** Pages and selections as text: tables with their targets. */
export function printPages(results: PageResults): string {
  return [pageTable(results), selectorTable(results)].join('\n');
}

function pageTable({ nodes, pages }: PageResults): string {
  const rows = CODINGS.map((coding) => {
    const rounds = pages.filter((round) => round.coding === coding);
    const rates = (of: 'page' | 'list'): number[] => rounds.map((round) => round[of].requestsPerSecond);
    const ratio = median(ratios(rates('page'), rates('list')));
    const figures = [median(rates('page')), median(rates('list')), ratio].map(number);
    return [coding, ...figures, `≥ ${PAGE_RATIO}`, verdict(ratio >= PAGE_RATIO)];
  });
  const head = ['', 'page, requests/s', 'list, requests/s', 'ratio', 'target', ''];
  return table(`limit=10 out of ${count(nodes)} nodes, beside the list of 10 nodes, 8 connections`, head, rows);
}

function selectorTable({ nodes, selector, selectorChanging }: PageResults): string {
  const row = (name: string, reports: readonly LoadReport[]): string[] => {
    const p99 = median(reports.map((report) => report.p99Ms));
    const p50 = median(reports.map((report) => report.p50Ms));
    return [name, number(p50), number(p99), `≤ ${SELECTOR_P99_MS}`, verdict(p99 <= SELECTOR_P99_MS)];
  };
  return table(
    `Label selector that matches a third of ${count(nodes)} nodes, limit=10, one connection`,
    ['', 'p50 ms', 'p99 ms', 'target p99', ''],
    [row('nodes as they are', selector), row('100 node updates a second', selectorChanging)],
  );
}
