import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type ProbePlan, type ProbeReport, runProbes } from './probes.ts';

/** Probes for as long as the work goes on, from a thread of their own: how late their answers are read is not the work's doing. */
export async function probing(plan: ProbePlan, work: () => Promise<unknown>): Promise<ProbeReport> {
  const thread = new Worker(new URL(import.meta.url), { workerData: plan });
  await once(thread, 'online');
  try {
    await work();
    thread.postMessage('stop');
    const [report] = (await once(thread, 'message')) as [ProbeReport];
    return report;
  } finally {
    await thread.terminate();
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  const stopped = new AbortController();
  port.once('message', () => stopped.abort());
  const report = await runProbes(workerData as ProbePlan, stopped.signal);
  port.postMessage(report);
}
