import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { createChildren } from './children.ts';
import { measureChurn } from './churn.ts';
import { measureCurve } from './curve.ts';
import { measureIdle } from './idle.ts';
import { startGenerator } from './load/generator.ts';
import { type Bench, measureCeiling, measureOn, measureStartUps } from './measure.ts';
import type { Note } from './note.ts';
import type { BenchOptions } from './options.ts';
import { measurePages } from './pages.ts';
import { startReal, withNodes } from './peers/kubernetes.ts';
import { findNginx } from './peers/nginx.ts';
import { makeNodes } from './peers/nodes.ts';
import { startSimulated } from './peers/simulated.ts';
import type { ListResults, Measured, Results, SignInResults } from './results.ts';
import { measureReviews, type ReviewResults } from './reviews.ts';
import { measureSignIn } from './sign-in.ts';
import { measureSize } from './size.ts';
import { measureSoak } from './soak.ts';
import { measureStorm } from './storm.ts';
import { isWanted, type Subject } from './subjects.ts';
import { measureTurns } from './turns.ts';
import { measureWatch, type WatchResults } from './watch.ts';

const ROOT = join(import.meta.dirname, '..');

/** Measures everything that was asked for. `withoutReal` says why no real kube-apiserver is to be started. */
export async function runBench(options: BenchOptions, withoutReal: string | undefined, note: Note): Promise<Results> {
  const machine = machineNow();
  const children = createChildren(join(ROOT, ...(options.built ? ['dist', 'main.js'] : ['src', 'main.ts'])));
  const nginx = findNginx(process.env);
  const bench: Bench = { children, generator: startGenerator(children), note, extent: options, nginx };
  const wanted = (subject: Subject): boolean => isWanted(subject, options.only);
  return {
    machine,
    ...(wanted('lists') && { lists: await runLists(bench, options, withoutReal) }),
    ...(wanted('pages') && { pages: await measurePages(bench) }),
    ...(wanted('size') && { size: await measureSize(bench) }),
    ...(wanted('idle') && { idle: await measureIdle(bench) }),
    ...(wanted('churn') && { churn: await measureChurn(bench) }),
    ...(wanted('storm') && { storm: await measureStorm(bench) }),
    ...(wanted('curve') && { curve: await measureCurve(bench) }),
    ...(wanted('soak') && { soak: await measureSoak(bench, options) }),
    ...(wanted('sign-in') && { signIn: await runSignIn(bench, options) }),
    ...(wanted('reviews') && { reviews: await runReviews(bench, withoutReal) }),
    ...(wanted('turns') && { turns: await measureTurns(bench, options.nodes) }),
    ...(wanted('watch') && { watch: await runWatch(bench, options) }),
  };
}

async function runLists(bench: Bench, { nodes }: BenchOptions, withoutReal: string | undefined): Promise<ListResults> {
  const ceiling = await measureCeiling(bench);
  const startUps = await measureStartUps(bench, nodes, startSimulated);
  const simulated = await onSimulated(bench, nodes);
  const real = withoutReal === undefined ? await onReal(bench, nodes) : [];
  return { ceiling, startUps, measured: [...simulated, ...real], withoutReal };
}

/** On the smallest cluster that was asked for: its list is the one that a busy machine slows down most. */
async function runSignIn(bench: Bench, { nodes, samples }: BenchOptions): Promise<SignInResults> {
  const cluster = await startSimulated(nodes[0] ?? 1);
  const results = await measureSignIn(bench, cluster, samples);
  await cluster.stop();
  return results;
}

/** The flood on the simulated cluster, whose reviews cost no processor time; the freeze on the real one, where it is. */
const runReviews = (bench: Bench, withoutReal: string | undefined): Promise<ReviewResults> =>
  measureReviews(bench, withoutReal === undefined);

/** On the largest cluster: who reads nothing of its first state does not have it in the kernel's memory. */
async function runWatch(bench: Bench, { nodes, watchers }: BenchOptions): Promise<WatchResults> {
  const cluster = await startSimulated(nodes.at(-1) ?? 1);
  const results = await measureWatch(bench, cluster, watchers);
  await cluster.stop();
  return results;
}

const machineNow = (): Results['machine'] => ({
  processors: availableParallelism(),
  node: process.version,
  loadAverage: loadavg()[0] ?? 0,
});

async function onSimulated(bench: Bench, sizes: readonly number[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const nodes of sizes) {
    const cluster = await startSimulated(nodes);
    measured.push(await measureOn(bench, cluster, []));
    await cluster.stop();
  }
  return measured;
}

/** One control plane for all sizes: it is filled up from one to the next. */
async function onReal(bench: Bench, sizes: readonly number[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  bench.note('starting the real kube-apiserver');
  const control = await startReal();
  const nodes = makeNodes(Math.max(...sizes));
  let existing = 0;
  for (const count of sizes) {
    bench.note(`creating ${count - existing} nodes`);
    const cluster = await withNodes(control, nodes.slice(0, count), existing);
    measured.push(await measureOn(bench, cluster, [cluster.peer]));
    existing = count;
  }
  await control.stop();
  return measured;
}
