import type { LoadReport } from './load/load.ts';
import type { PageResults } from './pages.ts';
import { CODINGS } from './peers/peer.ts';
import { median, ratios } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';
import { PAGE_RATIO, SELECTOR_P99_MS } from './targets.ts';

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
