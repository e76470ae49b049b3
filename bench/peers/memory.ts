import { readFile } from 'node:fs/promises';

/** Resident memory in bytes, from the text of `/proc/<pid>/status`, proc(5). */
export function residentBytes(status: string): { now: number; peak: number } | undefined {
  const of = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  const sizes = { now: of('VmRSS'), peak: of('VmHWM') };
  return Number.isNaN(sizes.now + sizes.peak) ? undefined : sizes;
}

/** `process_resident_memory_bytes` of a Prometheus page, whatever prefix it has there. */
export function residentMetric(page: string): number | undefined {
  const value = /^(?:\w+_)?process_resident_memory_bytes(?:\{[^}]*\})? (\S+)$/m.exec(page)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** Of a process, in bytes; undefined where the platform does not say. */
export interface Resident {
  readonly now: number | undefined;
  readonly peak: number | undefined;
}

/** From the kernel where it says, else from the process's own metrics; the peak is the kernel's alone. */
export async function memoryOf(server: { pid: number; metricsUrl: string }): Promise<Resident> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '');
  const known = residentBytes(status);
  if (known) return known;
  const page = await fetch(server.metricsUrl).then((answer) => answer.text());
  return { now: residentMetric(page), peak: undefined };
}
