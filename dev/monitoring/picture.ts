import type { Panel } from './panel.ts';
import { ROWS } from './panels.ts';

/** A series in Prometheus's answer to a query of a panel. */
export interface Line {
  readonly name: string;
  /** Seconds since 1970, and the value. */
  readonly points: readonly (readonly [number, number])[];
}

const COLUMNS = 3;
const WIDTH = 300;
const HEIGHT = 190;
const GAP = 12;
const HEAD = 26;
const PLOT = { left: 52, top: 30, width: 236, height: 86 };
const LEGEND = { top: 132, lineHeight: 13, lines: 4, longest: 44 };
const COLOURS = ['#0b5fff', '#c2410c', '#15803d', '#7e22ce', '#b45309', '#0e7490', '#be123c', '#4d7c0f'];
const PAGE = COLUMNS * (WIDTH + GAP) + GAP;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const round = (value: number): string => String(Math.round(value * 10) / 10);

const SCALES = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

function shown(value: number, unit: string): string {
  if (unit === 'percentunit') return `${round(value * 100)} %`;
  if (unit === 's' && Math.abs(value) >= 172_800) return `${round(value / 86_400)} d`;
  if (unit === 's' && value !== 0 && Math.abs(value) < 1) return `${round(value * 1_000)} ms`;
  const suffix = { s: ' s', bytes: 'B', Bps: 'B/s', reqps: '/s', ops: '/s' }[unit] ?? '';
  const [by, letter] = SCALES.find(([size]) => unit !== 's' && Math.abs(value) >= size) ?? [1, ''];
  const digits = Math.abs(value / by) < 1 ? Number((value / by).toPrecision(2)) : Number(round(value / by));
  return `${digits}${letter ? ` ${letter}` : ''}${suffix}`;
}

function text(x: number, y: number, content: string, more = ''): string {
  return `<text x="${round(x)}" y="${round(y)}"${more}>${escapeXml(content)}</text>`;
}

const last = ({ points }: Line): number => points.at(-1)?.[1] ?? Number.NaN;

function drawFigure({ unit }: Panel, [line]: readonly Line[]): string {
  return text(WIDTH / 2, 100, line ? shown(last(line), unit) : 'no data', ' text-anchor="middle" font-size="34"');
}

function drawLines({ unit }: Panel, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) return text(PLOT.left, 80, 'no data');
  const times = points.map(([time]) => time);
  const values = points.map(([, value]) => value);
  const [begin, end, low] = [Math.min(...times), Math.max(...times), Math.min(0, ...values)];
  const high = Math.max(...values) > low ? Math.max(...values) : low + 1;
  const toX = (time: number): number => PLOT.left + ((time - begin) / Math.max(1, end - begin)) * PLOT.width;
  const toY = (value: number): number => PLOT.top + PLOT.height - ((value - low) / (high - low)) * PLOT.height;
  const axis = [low, high].flatMap((value) => [
    `<line x1="${PLOT.left}" y1="${round(toY(value))}" x2="${PLOT.left + PLOT.width}" y2="${round(toY(value))}" stroke="#ddd"/>`,
    text(PLOT.left - 5, toY(value) + 4, shown(value, unit), ' text-anchor="end"'),
  ]);
  // Draws the lines with the highest values, and names the first of them. The dashboard shows all lines.
  const byHeight = lines.toSorted(
    (a, b) => Math.max(...b.points.map(([, v]) => v)) - Math.max(...a.points.map(([, v]) => v)),
  );
  const drawn = byHeight.slice(0, COLOURS.length).map(({ points: at }, index) => {
    const path = at.map(([time, value]) => `${round(toX(time))},${round(toY(value))}`).join(' ');
    return `<polyline points="${path}" fill="none" stroke-width="1.5" stroke="${COLOURS[index % COLOURS.length]}"/>`;
  });
  return [...axis, ...drawn.reverse(), ...legend(byHeight)].join('\n');
}

function legend(lines: readonly Line[]): string[] {
  const named = lines.length > LEGEND.lines ? lines.slice(0, LEGEND.lines - 1) : lines;
  const y = (index: number): number => LEGEND.top + index * LEGEND.lineHeight;
  const rows = named.map(({ name }, index) => {
    const short = name.length > LEGEND.longest ? `…${name.slice(1 - LEGEND.longest)}` : name;
    const colour = COLOURS[index % COLOURS.length];
    return `<line x1="12" y1="${y(index) - 4}" x2="26" y2="${y(index) - 4}" stroke-width="2" stroke="${colour}"/>${text(31, y(index), short)}`;
  });
  return lines.length > named.length
    ? [...rows, text(31, y(named.length), `and ${lines.length - named.length} more`)]
    : rows;
}

function drawPanel(panel: Panel, lines: readonly Line[], at: { readonly x: number; readonly y: number }): string {
  return [
    `<g transform="translate(${at.x} ${at.y})">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff" stroke="#ccc"/>`,
    text(10, 18, panel.title, ' font-weight="bold" font-size="12"'),
    panel.kind === 'figure' ? drawFigure(panel, lines) : drawLines(panel, lines),
    '</g>',
  ].join('\n');
}

/** All panels with their data, as an SVG that we draw ourselves; it is not a screenshot of Grafana. */
export function picture(answers: ReadonlyMap<Panel, readonly Line[]>): string {
  let y = GAP;
  const drawn: string[] = [];
  for (const { title, panels } of ROWS) {
    drawn.push(text(GAP, y + 16, title, ' font-weight="bold" font-size="15"'));
    y += HEAD;
    panels.forEach((panel, index) => {
      const at = { x: GAP + (index % COLUMNS) * (WIDTH + GAP), y: y + Math.floor(index / COLUMNS) * (HEIGHT + GAP) };
      drawn.push(drawPanel(panel, answers.get(panel) ?? [], at));
    });
    y += Math.ceil(panels.length / COLUMNS) * (HEIGHT + GAP) + GAP;
  }
  const box = `viewBox="0 0 ${PAGE} ${y}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="sans-serif" font-size="10">`,
    `<rect width="${PAGE}" height="${y}" fill="#f4f5f5"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
