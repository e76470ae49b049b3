import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Children } from '../children.ts';
import type { CallerPlan, CallerReport } from './callers.ts';
import type { LoadPlan, LoadReport } from './load.ts';
import type { ProbePlan, ProbeReport } from './probes.ts';
import type { Job, Outcome, Report } from './process.ts';
import type { RefreshPlan, RefreshReport } from './refreshes.ts';
import type { SamplePlan, SampleReport } from './samples.ts';
import type { SignInPlan, SignInReport } from './sign-ins.ts';
import type { VisiblePlan, VisibleReport } from './visible.ts';
import type { WatcherPlan, WatcherReport } from './watchers.ts';

/** The measuring process, seen from the bench. One job at a time. */
export interface Generator {
  load(plan: LoadPlan): Promise<LoadReport>;
  visible(plan: VisiblePlan): Promise<VisibleReport>;
  signIns(plan: SignInPlan): Promise<SignInReport>;
  refreshes(plan: RefreshPlan): Promise<RefreshReport>;
  samples(plan: SamplePlan): Promise<SampleReport>;
  probes(plan: ProbePlan): Promise<ProbeReport>;
  watchers(plan: WatcherPlan): Promise<WatcherReport>;
  callers(plan: CallerPlan): Promise<CallerReport>;
}

export function startGenerator(children: Children): Generator {
  const child = children.fork(join(import.meta.dirname, 'process.ts'));
  return {
    load: (plan) => perform(child, { kind: 'load', plan }) as Promise<LoadReport>,
    visible: (plan) => perform(child, { kind: 'visible', plan }) as Promise<VisibleReport>,
    signIns: (plan) => perform(child, { kind: 'sign-ins', plan }) as Promise<SignInReport>,
    refreshes: (plan) => perform(child, { kind: 'refreshes', plan }) as Promise<RefreshReport>,
    samples: (plan) => perform(child, { kind: 'samples', plan }) as Promise<SampleReport>,
    probes: (plan) => perform(child, { kind: 'probes', plan }) as Promise<ProbeReport>,
    watchers: (plan) => perform(child, { kind: 'watchers', plan }) as Promise<WatcherReport>,
    callers: (plan) => perform(child, { kind: 'callers', plan }) as Promise<CallerReport>,
  };
}

async function perform(child: ChildProcess, job: Job): Promise<Report> {
  const ended = new AbortController();
  const exit = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('the load process ended');
  });
  exit.catch(() => undefined); // the abort below, once the answer is there
  child.send(job);
  try {
    const [outcome] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exit])) as [Outcome];
    if ('failure' in outcome) throw new Error(outcome.failure);
    return outcome.report;
  } finally {
    ended.abort();
  }
}
