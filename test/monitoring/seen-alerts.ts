import { clock } from './clock.ts';
import type { Fault } from './faults.ts';
import { type FiredAlerts, firedAlerts } from './fired-alerts.ts';
import { INTERVAL_MS, type Job, Recording } from './recording.ts';

/** A job that is scraped while it is used, or while its fault lasts. */
export interface Watched extends Job {
  run(signal: AbortSignal): Promise<unknown>;
}

export interface Seen {
  readonly recordings: readonly Recording[];
  /** By job. */
  readonly alerts: ReadonlyMap<string, FiredAlerts>;
  /** What did not work: a load or a fault that could not be brought about. */
  readonly failures: readonly string[];
}

/** So many scrapes come before a fault, so that each counter was seen before its first event. */
const SCRAPES_BEFORE = 3;

export async function startFault({ name, start }: Fault): Promise<Watched> {
  const { port, scheme, break: run } = await start();
  return { name, ports: [port], ...(scheme ? { scheme } : {}), run };
}

/** Lets these run for so long by the clock, and tells which of the shipped alerts fire. */
export async function watchAlerts(watched: readonly Watched[], forMs: number): Promise<Seen> {
  const end = new AbortController();
  const quiet = new AbortController();
  const recordings = watched.map((job) => new Recording(job));
  const scraped = Promise.all(recordings.map((recording) => recording.run(quiet.signal)));
  await clock.sleep(SCRAPES_BEFORE * INTERVAL_MS);
  const time = clock.sleep(forMs).then(() => end.abort());
  const runs = await Promise.allSettled(watched.map(({ run }) => run(end.signal)));
  await time; // a fault that was brought about at once lasts as long as the others
  const failures = runs.flatMap((run, index) =>
    run.status === 'rejected' ? [`${watched[index]?.name}: ${(run.reason as Error).stack}`] : [],
  );
  quiet.abort();
  await scraped;
  const alerts = new Map<string, FiredAlerts>();
  for (const recording of recordings) alerts.set(recording.job.name, await firedAlerts(recording));
  return { recordings, alerts, failures };
}
