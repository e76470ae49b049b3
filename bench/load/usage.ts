import { processorSecondsOf } from './processor-time.ts';

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

/** Of one core; above 1 where the server uses several. Nothing where it is not known. */
export function serverShareOf(first: Usage, last: Usage): { readonly serverShare?: number } {
  if (first.server === undefined || last.server === undefined) return {};
  return { serverShare: (last.server - first.server) / secondsBetween(first, last) };
}
