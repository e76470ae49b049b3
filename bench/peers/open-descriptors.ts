import { readdirSync, readlinkSync } from 'node:fs';

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
