import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pageOf, residentMetric } from './metrics.ts';

/**
 * What the kernel reports about a process under measurement: processor time, memory, open files. Figures that it does
 * not report are absent.
 */

/** The kernel counts in USER_HZ, which is 100 on every platform that Linux runs Node on. */
const TICKS_PER_SECOND = 100;

/** User and system time from the text of `/proc/<pid>/stat`: fields 14 and 15, proc(5). */
export function processorSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name in parentheses may hold blanks
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND; // fields[0] is field 3
}

/** Seconds of processor time that the process has used; undefined where there is no /proc or no such process. */
export function processorSecondsOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    return processorSeconds(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** A moment, and the processor time until then. */
export interface Usage {
  readonly at: number;
  /** Seconds of this process. */
  readonly own: number;
  /** Seconds of the server, where they are known. */
  readonly server: number | undefined;
}

export function usageNow(serverPid: number | undefined): Usage {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), own: (user + system) / 1e6, server: processorSecondsOf(serverPid) };
}

export const secondsBetween = (first: Usage, last: Usage): number => (last.at - first.at) / 1000;

/** In shares of one core; above 1 where the server uses several. Absent if it is not known. */
export function serverShareOf(first: Usage, last: Usage): { readonly serverShare?: number } {
  if (first.server === undefined || last.server === undefined) return {};
  return { serverShare: (last.server - first.server) / secondsBetween(first, last) };
}

/** Resident memory in bytes, from the text of `/proc/<pid>/status`, proc(5). */
export function residentBytes(status: string): { now: number; peak: number } | undefined {
  const of = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  const sizes = { now: of('VmRSS'), peak: of('VmHWM') };
  return Number.isNaN(sizes.now + sizes.peak) ? undefined : sizes;
}

/** Of a process, in bytes; undefined where the platform does not say. */
export interface Resident {
  readonly now: number | undefined;
  readonly peak: number | undefined;
}

/** From the kernel if it reports it, else from the process's own metrics. Only the kernel reports the peak. */
export async function memoryOf(server: { pid: number; metricsUrl: string }): Promise<Resident> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '');
  return residentBytes(status) ?? { now: residentMetric(await pageOf(server)), peak: undefined };
}

/** What a process has open. */
export interface Descriptors {
  readonly all: number;
  readonly sockets: number;
}

/** From /proc, proc(5); undefined where there is none. */
export function openDescriptors(pid: number): Descriptors | undefined {
  const folder = `/proc/${pid}/fd`;
  try {
    const names = readdirSync(folder);
    return { all: names.length, sockets: names.filter((name) => isSocket(`${folder}/${name}`)).length };
  } catch {
    return undefined;
  }
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    return false; // closed since the folder was read
  }
}
