import { readFileSync } from 'node:fs';

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
