import { once } from 'node:events';
import type { Children } from '../children.ts';
import { runBrowsers } from './browsers.ts';
import { runCallers, runSamples } from './callers.ts';
import { runLoad } from './load.ts';
import { runOpenPages } from './open-pages.ts';
import { runPaced } from './paced.ts';
import { runArrivals, runStay } from './people.ts';
import { runProbes } from './probes.ts';
import { runRefreshes, runSignIns } from './sign-ins.ts';
import { runVisible } from './visible.ts';
import { runVisits } from './visits.ts';
import { runWatchers } from './watchers.ts';

/**
 * The jobs of the measuring process. Each takes a plan and returns a report, both plain data. The process is separate, so that the
 * simulated cluster and the bench itself do not use its thread, and its processor time is that of the generator alone.
 */
const JOBS = {
  load: runLoad,
  paced: runPaced,
  visible: runVisible,
  signIns: runSignIns,
  browsers: runBrowsers,
  refreshes: runRefreshes,
  samples: runSamples,
  probes: runProbes,
  openPages: runOpenPages,
  visits: runVisits,
  watchers: runWatchers,
  callers: runCallers,
  arrivals: runArrivals,
  stay: runStay,
};
type Jobs = typeof JOBS;
type Plan<Kind extends keyof Jobs> = Parameters<Jobs[Kind]>[0];

/** The measuring process, seen from the bench. One job at a time. */
export type Generator = { readonly [Kind in keyof Jobs]: (plan: Plan<Kind>) => ReturnType<Jobs[Kind]> };

/** A share of one core. If the generator uses more, the figures may show its limit and not that of the server. */
export const GENERATOR_SHARE = 0.85;

type Outcome = { readonly report: unknown } | { readonly failure: string };

export function startGenerator(children: Children): Generator {
  const child = children.fork(import.meta.filename);
  const perform = async (kind: string, plan: unknown): Promise<unknown> => {
    const ended = new AbortController();
    const exit = once(child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('the load process ended');
    });
    exit.catch(() => undefined); // rejects at the abort below, when the answer has come
    child.send({ kind, plan });
    try {
      const [outcome] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exit])) as [Outcome];
      if ('failure' in outcome) throw new Error(outcome.failure);
      return outcome.report;
    } finally {
      ended.abort();
    }
  };
  const kinds = Object.keys(JOBS).map((kind) => [kind, (plan: unknown) => perform(kind, plan)]);
  return Object.fromEntries(kinds) as Generator;
}

/** Runs in the measuring process: does one job after the other, until the bench ends. */
function takeJobs(): void {
  process.on('message', ({ kind, plan }: { readonly kind: keyof Jobs; readonly plan: never }) => {
    const job: (plan: never) => Promise<unknown> = JOBS[kind];
    job(plan).then(
      (report) => process.send?.({ report } satisfies Outcome),
      (error: Error) => process.send?.({ failure: error.message } satisfies Outcome),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

if (import.meta.main) takeJobs();
