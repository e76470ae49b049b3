import type { CurveResults } from './curve.ts';
import { type Chart, drawCharts } from './draw-charts.ts';
import type { Coding } from './peers/peer.ts';
import { CODINGS } from './peers/peer.ts';
import { listTable, medianOf, memoryTable, ratioTable, visibleTable } from './print-lists.ts';
import type { Measured } from './results.ts';
import { count, megabytes, number, table } from './table.ts';

const PEERS = ['Gatehouse', 'bare node:http', 'nginx'] as const;

/** What a node more costs, as text; every size in full behind it. */
export function printCurve({ measured }: CurveResults): string {
  return [
    curveTable(measured),
    ...measured.flatMap((one) => [listTable(one), ratioTable(one)]),
    memoryTable(measured),
    visibleTable(measured),
  ].join('\n');
}

function curveTable(measured: readonly Measured[]): string {
  const rows = measured.map((one) => [
    count(one.nodes),
    ...CODINGS.flatMap((coding) => PEERS.map((peer) => number(rateOf(one, peer, coding)))),
    megabytes(one.memory.afterLoad),
  ]);
  const head = ['nodes', ...CODINGS.flatMap((coding) => PEERS.map((peer) => `${peer}, ${coding}`)), 'resident'];
  const isWhole = measured.some(({ cells }) => cells.some(({ peer }) => peer === 'nginx'));
  return [
    table('Lists a second by number of nodes, 8 connections, the same bytes of each', head, rows),
    ...(isWhole ? [] : ['nginx is not installed (Debian package nginx-light): its columns are empty.', '']),
  ].join('\n');
}

function rateOf({ cells }: Measured, peer: string, coding: Coding): number | undefined {
  const cell = cells.find((one) => one.peer === peer && one.coding === coding);
  return cell && medianOf(cell, (report) => report.requestsPerSecond);
}

/** The curve as a picture: a chart for each coding and one for memory. */
export function drawCurve({ measured }: CurveResults): string {
  const charts: Chart[] = CODINGS.map((coding) => ({
    title: `Lists a second, ${coding}`,
    lines: PEERS.map((peer) => ({
      name: peer,
      points: measured.map((one) => ({ x: one.nodes, y: rateOf(one, peer, coding) ?? Number.NaN })),
    })),
  }));
  const memory: Chart = {
    title: 'Resident memory of Gatehouse after load, MB',
    lines: [
      {
        name: 'Gatehouse',
        points: measured.map((one) => ({ x: one.nodes, y: (one.memory.afterLoad ?? Number.NaN) / 1e6 })),
      },
    ],
  };
  return drawCharts([...charts, memory], 'nodes');
}
