import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import { hurriedRules } from './hurried.ts';
import { type Job, type Prometheus, startPrometheus } from './prometheus.ts';

/** For the rules to be evaluated once more in the end. */
const EVALUATED_MS = 2_500;

export interface Seen {
  /** The alerts that fired at any time, by job. */
  readonly fired: ReadonlyMap<string, readonly string[]>;
  /** Texts of alerts that fired. */
  readonly texts: readonly string[];
  /** What did not work: a load or a fault that could not be brought about. */
  readonly failures: readonly string[];
}

/** A service that a real Prometheus watches while it is used, or while its fault lasts. */
export interface Watched extends Job {
  run(signal: AbortSignal): Promise<unknown>;
}

export async function startFault({ name, start }: Fault): Promise<Watched> {
  const { port, scheme, break: run } = await start();
  return { name, ports: [port], ...(scheme ? { scheme } : {}), run };
}

/** Watches these for so long, by the shipped rules in hurried time. */
export async function watchAlerts(
  watched: readonly Watched[],
  forMs: number,
): Promise<{ readonly prometheus: Prometheus; readonly seen: Seen }> {
  const prometheus = await startPrometheus(watched, hurriedRules(watched.map(({ name }) => name)));
  await scraped(prometheus, watched);
  const time = AbortSignal.timeout(forMs);
  const runs = await Promise.allSettled([...watched.map(({ run }) => run(time)), sleep(forMs)]);
  const failures = runs.flatMap((run, index) =>
    run.status === 'rejected' ? [`${watched[index]?.name}: ${(run.reason as Error).stack}`] : [],
  );
  await sleep(EVALUATED_MS);
  return { prometheus, seen: { ...(await fired(prometheus)), failures } };
}

/** Until every service was scraped several times, so that each counter was seen before its first event. */
async function scraped(prometheus: Prometheus, jobs: readonly Job[]): Promise<void> {
  const targets = jobs.flatMap(({ ports }) => ports).length;
  while ((await prometheus.query('sum_over_time(up[1m]) >= 3')).length < targets) await sleep(200);
}

async function fired(prometheus: Prometheus): Promise<Pick<Seen, 'fired' | 'texts'>> {
  const byJob = new Map<string, string[]>();
  for (const { metric } of await prometheus.query('max_over_time(ALERTS{alertstate="firing"}[10m])')) {
    const { tested = '', alertname = '' } = metric;
    const alerts = byJob.get(tested) ?? [];
    if (!alerts.includes(alertname)) byJob.set(tested, [...alerts, alertname]);
  }
  return { fired: byJob, texts: await prometheus.alertTexts() };
}
