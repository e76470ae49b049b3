import { type CallerPlan, type CallerReport, runCallers } from './callers.ts';
import { type LoadPlan, type LoadReport, runLoad } from './load.ts';
import { type ProbePlan, type ProbeReport, runProbes } from './probes.ts';
import { type RefreshPlan, type RefreshReport, runRefreshes } from './refreshes.ts';
import { runSamples, type SamplePlan, type SampleReport } from './samples.ts';
import { runSignIns, type SignInPlan, type SignInReport } from './sign-ins.ts';
import { runVisible, type VisiblePlan, type VisibleReport } from './visible.ts';
import { runWatchers, type WatcherPlan, type WatcherReport } from './watchers.ts';

/**
 * The process that measures. It is one of its own, so that neither the simulated cluster nor the bookkeeping of the
 * bench shares its thread, and its processor time is the generator's alone.
 */
export type Job =
  | { readonly kind: 'load'; readonly plan: LoadPlan }
  | { readonly kind: 'visible'; readonly plan: VisiblePlan }
  | { readonly kind: 'sign-ins'; readonly plan: SignInPlan }
  | { readonly kind: 'refreshes'; readonly plan: RefreshPlan }
  | { readonly kind: 'samples'; readonly plan: SamplePlan }
  | { readonly kind: 'probes'; readonly plan: ProbePlan }
  | { readonly kind: 'watchers'; readonly plan: WatcherPlan }
  | { readonly kind: 'callers'; readonly plan: CallerPlan };

export type Report =
  | LoadReport
  | VisibleReport
  | SignInReport
  | RefreshReport
  | SampleReport
  | ProbeReport
  | WatcherReport
  | CallerReport;

export type Outcome = { readonly report: Report } | { readonly failure: string };

function perform(job: Job): Promise<Report> {
  switch (job.kind) {
    case 'load':
      return runLoad(job.plan);
    case 'visible':
      return runVisible(job.plan);
    case 'sign-ins':
      return runSignIns(job.plan);
    case 'refreshes':
      return runRefreshes(job.plan);
    case 'samples':
      return runSamples(job.plan);
    case 'probes':
      return runProbes(job.plan);
    case 'watchers':
      return runWatchers(job.plan);
    case 'callers':
      return runCallers(job.plan);
  }
}

process.on('message', (job: Job) => {
  void perform(job).then(
    (report) => process.send?.({ report } satisfies Outcome),
    (error: Error) => process.send?.({ failure: error.message } satisfies Outcome),
  );
});
process.on('disconnect', () => process.exit(0));
