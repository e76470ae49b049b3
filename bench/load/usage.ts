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
  /** The seconds that this process has used. */
  readonly own: number;
  /** The seconds that the server has used; undefined if they are not known. */
  readonly server: number | undefined;
}

export function usageNow(serverPid: number | undefined): Usage {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), own: (user + system) / 1e6, server: processorSecondsOf(serverPid) };
}

export const secondsBetween = (first: Usage, last: Usage): number => (last.at - first.at) / 1000;

/** The server's processor time between two moments, as a share of one core; above 1 if it uses several. Absent if it is not known. */
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

/** The resident memory of a process in bytes; undefined if the platform does not report it. */
export interface Resident {
  readonly now: number | undefined;
  readonly peak: number | undefined;
}

/** Reads the memory from the kernel if it reports it, else from the metrics of the process. Only the kernel reports the peak. */
export async function memoryOf(server: { pid: number; metricsUrl: string }): Promise<Resident> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '');
  return residentBytes(status) ?? { now: residentMetric(await pageOf(server)), peak: undefined };
}

/** The open descriptors of a process. */
export interface Descriptors {
  readonly all: number;
  readonly sockets: number;
}

/** Counts them in /proc, proc(5); undefined on a platform without it. */
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
