import type { ProbeReport } from './load/probes.ts';
import type { Descriptors } from './peers/open-descriptors.ts';
import type { SoakResults } from './soak.ts';
import { count, megabytes, number, table, verdict } from './table.ts';
import { SOAK_SLOPE_BYTES } from './targets.ts';

/** From here on the slope says something: the heap has found its size. */
const JUDGED_MINUTES = 20;

/** A soak as text: a table with its targets, then what happened. */
export function printSoak(soak: SoakResults): string {
  const { probes, memory, slopePerHour, before, after, faults, minutes, seed, outageMinutes } = soak;
  const answered = probes.statuses['200'] ?? 0;
  const part = `${number(memory.minutes)} min, ${megabytes(memory.first)} to ${megabytes(memory.last)}`;
  const rows = [
    ['probes, ten a second', count(probes.probes), '–', ''],
    ['answered 200', share(answered / probes.probes), '100 %', verdict(answered === probes.probes)],
    ['p50 ms, p99 ms, max ms', [probes.p50Ms, probes.p99Ms, probes.maxMs].map(number).join(', '), '–', ''],
    [
      `resident memory an hour, over the last ${part}`,
      signed(slopePerHour),
      '< 1 MB',
      minutes < JUDGED_MINUTES ? '–' : verdict(slopePerHour < SOAK_SLOPE_BYTES),
    ],
    ['open files before, after', `${opened(before)}, ${opened(after)}`, 'as before', ''],
  ];
  const title = `Soak of ${count(minutes)} min with a fault a minute: ${count(soak.nodes)} nodes, ${count(soak.pods)} pods, an outage of ${number(outageMinutes)} min`;
  return [
    table(title, ['', 'measured', 'target', ''], rows),
    `Repeat it with --seed ${seed}. Faults: ${faults.join('; ')}.`,
    ...(answered < probes.probes ? [missedLine(probes)] : []),
    ...(minutes < JUDGED_MINUTES
      ? ['A soak this short says little about memory: from twenty minutes on it is judged.']
      : []),
    '',
  ].join('\n');
}

function missedLine({ statuses, missed }: ProbeReport): string {
  const others = Object.entries(statuses).filter(([status]) => status !== '200');
  const answers = others.map(([status, times]) => `${status} ${count(times)} times`).join(', ');
  const seconds = (ms: number): string => number(ms / 1_000);
  const when = missed ? `, from second ${seconds(missed.firstMs)} to second ${seconds(missed.lastMs)}` : '';
  return `Other answers: ${answers}${when}.`;
}

const share = (value: number): string => `${(Math.floor(value * 10_000) / 100).toFixed(2)} %`;

const signed = (bytes: number): string => `${bytes < 0 ? '-' : '+'}${megabytes(Math.abs(bytes))}`;

const opened = (descriptors: Descriptors | undefined): string =>
  descriptors ? `${count(descriptors.all)} (${count(descriptors.sockets)} sockets)` : '–';
