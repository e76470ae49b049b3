import { startTable } from './print-lists.ts';
import type { SizeResults } from './size.ts';
import { count, megabytes, number, table, verdict } from './table.ts';
import { MEMORY_BYTES } from './targets.ts';

/** Memory and start of a large cluster as text: tables with their targets. */
export function printSize({ nodes, pods, memory, startToReadyMs, startUps }: SizeResults): string {
  const { afterSync, peak } = MEMORY_BYTES;
  const row = (name: string, bytes: number | undefined, most: number): string[] => [
    name,
    megabytes(bytes),
    `≤ ${megabytes(most)}`,
    bytes === undefined ? '–' : verdict(bytes <= most),
  ];
  const rows = [
    row('after sync', memory.afterSync, afterSync),
    row('peak during sync', memory.syncPeak, peak),
    row('after load', memory.afterLoad, peak),
    row('peak', memory.peak, peak),
  ];
  const title = `Resident memory with ${count(nodes)} nodes of 12 kB and ${count(pods)} pods on the simulated API server`;
  return [
    table(title, ['', 'measured', 'target', ''], rows),
    `Ready after ${number(startToReadyMs)} ms.`,
    '',
    startTable(startUps),
  ].join('\n');
}
