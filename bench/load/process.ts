import { type LoadPlan, type LoadReport, runLoad } from './load.ts';
import { runVisible, type VisiblePlan, type VisibleReport } from './visible.ts';

/**
 * The process that measures. It is one of its own, so that neither the simulated cluster nor the bookkeeping of the
 * bench shares its thread, and its processor time is the generator's alone.
 */
export type Job =
  | { readonly kind: 'load'; readonly plan: LoadPlan }
  | { readonly kind: 'visible'; readonly plan: VisiblePlan };

export type Outcome = { readonly report: LoadReport | VisibleReport } | { readonly failure: string };

const perform = (job: Job): Promise<LoadReport | VisibleReport> =>
  job.kind === 'load' ? runLoad(job.plan) : runVisible(job.plan);

process.on('message', (job: Job) => {
  void perform(job).then(
    (report) => process.send?.({ report } satisfies Outcome),
    (error: Error) => process.send?.({ failure: error.message } satisfies Outcome),
  );
});
process.on('disconnect', () => process.exit(0));
