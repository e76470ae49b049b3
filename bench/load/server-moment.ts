import { loopDelayOf } from '../peers/loop-delay.ts';
import { memoryOf } from '../peers/memory.ts';
import type { Target } from './connection.ts';
import type { ProbeReport } from './probes.ts';
import { probing } from './probing.ts';
import { type Told, toldBetween } from './told.ts';
import { secondsBetween, serverShareOf, usageNow } from './usage.ts';

interface MomentPlan {
  readonly gatehouse: Target;
  readonly listPath: string;
  readonly metricsUrl: string;
  readonly serverPid: number;
}

const PROBE_MS = 10;

/** The server over one stretch of time; what the platform does not say is absent. */
export interface ServerMoment {
  readonly residentBytes: number | undefined;
  /** Milliseconds by which timers were late, from the server's own metrics. */
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number };
  /** Of one core. */
  readonly serverShare?: number;
  /** Of one core: what the watchers themselves took. */
  readonly readerShare: number;
  readonly seconds: number;
  /** By its own metrics, from the look that found a change until all was handed to the kernel. */
  readonly told?: Told;
  /** A page of one node, a hundred times a second, meanwhile. */
  readonly probes: ProbeReport;
}

/** The server while this goes on. Its loop delay is that since the metrics were last read. */
export async function momentOf(plan: MomentPlan, work: () => Promise<unknown>): Promise<ServerMoment> {
  const before = await readMetrics(plan);
  const first = usageNow(plan.serverPid);
  const probes = await probing({ target: plan.gatehouse, path: `${plan.listPath}?limit=1`, everyMs: PROBE_MS }, work);
  const last = usageNow(plan.serverPid);
  const seconds = secondsBetween(first, last);
  const page = await readMetrics(plan);
  const { now } = await memoryOf({ pid: plan.serverPid, metricsUrl: plan.metricsUrl });
  return {
    residentBytes: now,
    loopDelay: { p99Ms: loopDelayOf(page), maxMs: loopDelayOf(page, 'max') },
    ...serverShareOf(first, last),
    readerShare: (last.own - first.own) / seconds,
    seconds,
    ...toldBetween(before, page),
    probes,
  };
}

const readMetrics = async ({ metricsUrl }: MomentPlan): Promise<string> => (await fetch(metricsUrl)).text();
