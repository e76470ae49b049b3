import { writeFile } from 'node:fs/promises';
import type { Bench } from './bench.ts';
import { CODINGS, type Coding } from './peers/peer.ts';
import {
  listTable,
  type Measured,
  measureOnSimulated,
  medianOf,
  memoryTable,
  ratioTable,
  visibleTable,
} from './side-by-side.ts';
import { count, megabytes, number, table } from './table.ts';

interface CurveResults {
  readonly measured: readonly Measured[];
}

const SIZES: readonly number[] = [10, 100, 1_000, 5_000, 15_000];
const PEERS = ['Gatehouse', 'bare node:http', 'nginx'] as const;

/** Measures the cost of one more node, by the same measurements at several sizes. Draws them into a file, if one is named. */
export async function measureCurve(bench: Bench): Promise<CurveResults> {
  const results = { measured: await measureOnSimulated(bench, SIZES) };
  const { svg } = bench.options;
  if (svg !== undefined) await writeFile(svg, drawCurve(results));
  return results;
}

/** The cost of one more node as text, followed by all results of every size. */
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
function drawCurve({ measured }: CurveResults): string {
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

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Lines over the same x; a point whose y is not a number is left out. */
interface Chart {
  readonly title: string;
  readonly lines: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

const PANEL = { width: 620, height: 300 };
const MARGIN = { left: 70, right: 130, top: 40, bottom: 45 };
/** Lines differ by their dashes, so that they can be told apart without colours. */
const STYLES = [
  'stroke="#0b5fff"',
  'stroke="#c2410c" stroke-dasharray="6 3"',
  'stroke="#15803d" stroke-dasharray="2 3"',
];

/** Charts one below the other as one SVG, both axes logarithmic. */
export function drawCharts(charts: readonly Chart[], xName: string): string {
  const height = charts.length * PANEL.height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${PANEL.width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${PANEL.width}" height="${height}" fill="#fff"/>`,
    ...charts.map((chart, index) => drawChart(chart, xName, index * PANEL.height)),
    '</svg>',
    '',
  ].join('\n');
}

function drawChart({ title, lines }: Chart, xName: string, top: number): string {
  const points = lines.flatMap((line) => line.points).filter(isThere);
  const bottom = PANEL.height - MARGIN.bottom;
  const x = createScale(
    points.map((point) => point.x),
    { from: MARGIN.left, to: PANEL.width - MARGIN.right },
  );
  const y = createScale(
    points.map((point) => point.y),
    { from: bottom, to: MARGIN.top },
  );
  return [
    `<g transform="translate(0 ${top})">`,
    text({ x: MARGIN.left, y: 20 }, title, 'font-weight="bold"'),
    ...y.marks.map((mark) => gridLine(mark, y.at(mark))),
    ...[...new Set(points.map((point) => point.x))].map((mark) =>
      text({ x: x.at(mark), y: bottom + 18 }, shortly(mark), 'text-anchor="middle"'),
    ),
    text({ x: PANEL.width - MARGIN.right, y: bottom + 36 }, xName, 'text-anchor="end"'),
    ...lines.map((line, index) => drawLine(line, index, { x: x.at, y: y.at })),
    '</g>',
  ].join('\n');
}

type Axis = (value: number) => number;

function drawLine({ name, points }: Chart['lines'][number], index: number, scale: { x: Axis; y: Axis }): string {
  const places = points.filter(isThere).map((point) => `${round(scale.x(point.x))},${round(scale.y(point.y))}`);
  if (places.length === 0) return '';
  const style = STYLES[index % STYLES.length];
  const at = { x: PANEL.width - MARGIN.right + 12, y: MARGIN.top + 10 + index * 20 };
  return [
    `<polyline points="${places.join(' ')}" fill="none" stroke-width="2" ${style}/>`,
    `<line x1="${at.x}" y1="${at.y - 4}" x2="${at.x + 20}" y2="${at.y - 4}" stroke-width="2" ${style}/>`,
    text({ x: at.x + 25, y: at.y }, name, ''),
  ].join('\n');
}

/** A logarithmic axis: the powers of ten around the values, and the position of a value between them. */
function createScale(
  values: readonly number[],
  { from, to }: { from: number; to: number },
): { at: Axis; marks: number[] } {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    marks: Array.from({ length: high - low + 1 }, (_, power) => 10 ** (low + power)),
  };
}

const gridLine = (mark: number, y: number): string =>
  [
    `<line x1="${MARGIN.left}" y1="${round(y)}" x2="${PANEL.width - MARGIN.right}" y2="${round(y)}" stroke="#ddd"/>`,
    text({ x: MARGIN.left - 8, y: y + 4 }, shortly(mark), 'text-anchor="end"'),
  ].join('\n');

const text = ({ x, y }: Point, content: string, attributes: string): string =>
  `<text x="${round(x)}" y="${round(y)}" ${attributes}>${content}</text>`;

const isThere = ({ y }: Point): boolean => y > 0;
const shortly = (value: number): string => value.toLocaleString('en-US');
const round = (value: number): number => Math.round(value * 10) / 10;
