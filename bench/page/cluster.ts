import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { type KubeObject, keyOf } from '../../dev/cluster/kube-object.ts';
import type { ObjectStore } from '../../dev/cluster/object-store.ts';
import { populate } from '../../dev/cluster/population/population.ts';
import { type Children, end } from '../children.ts';
import { NODE_BYTES } from '../peers/clusters.ts';
import type { PageSizes } from './sizes.ts';

/** A simulated cluster in a process of its own, in which nodes and pods change all the time. */
export interface ChangingCluster {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

export async function startChangingCluster(
  children: Children,
  { nodes, pods, changes }: PageSizes,
): Promise<ChangingCluster> {
  const sizes = [nodes, Math.max(1, Math.round(pods / nodes)), changes];
  const child = children.fork(import.meta.filename, sizes.map(String));
  const [kubeconfig] = (await once(child, 'message')) as [string];
  return { kubeconfig, stop: () => end(child) };
}

const KINDS = ['nodes', 'pods'] as const;
type Kind = (typeof KINDS)[number];

/** Another than that of the population, so that what is made later has uids of its own. */
const SEED = 2;

const TICK_MS = 20;
/** One change of so many is of an object at the beginning of the page's tables, which have the newest first. */
const SEEN_SHARE = 5;
const SEEN = 40;

/** The key of the object that the n-th change of a kind is for: each in turn, and again and again one of the newest. */
function turnsOf(objects: readonly KubeObject[]): (nth: number) => string {
  const createdAt = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? '';
  const keys = objects.map(({ metadata }) => keyOf(metadata));
  const newest = objects
    .toSorted((a, b) => createdAt(b).localeCompare(createdAt(a)))
    .slice(0, SEEN)
    .map(({ metadata }) => keyOf(metadata));
  return (nth) => {
    const from = nth % SEEN_SHARE === 0 ? newest : keys;
    return from[Math.floor(nth / (from === newest ? SEEN_SHARE : 1)) % from.length] ?? '';
  };
}

/** A report of the object, as kubelets send them: another version with other content. */
function report(objects: ObjectStore, kind: Kind, key: string, nth: number): void {
  objects.patch(kind, key, { metadata: { annotations: { 'bench.example.test/report': String(nth) } } });
}

/** Changes so many objects of each kind a second until the process ends. Catches up if a busy machine delays it. */
async function keepChanging(objects: ObjectStore, perSecond: number): Promise<void> {
  const turns = KINDS.map((kind) => ({ kind, keyAt: turnsOf(objects.list(kind)) }));
  const startAt = performance.now();
  for (let made = 0; ; ) {
    const due = Math.floor(((performance.now() - startAt) / 1_000) * perSecond);
    for (; made < due; made++) for (const { kind, keyAt } of turns) report(objects, kind, keyAt(made), made);
    await sleep(TICK_MS);
  }
}

/** Runs in the process of the cluster. */
async function run([nodes = 0, podsPerNode = 0, changes = 0]: readonly number[]): Promise<void> {
  const cluster = await startSimulatedCluster({ authorize: () => true, seed: SEED });
  populate(cluster.objects, { nodes, podsPerNode, nodeBytes: NODE_BYTES, detailed: true });
  process.on('disconnect', () => process.exit(0));
  process.send?.(cluster.kubeconfig());
  await keepChanging(cluster.objects, changes);
}

if (import.meta.main) await run(process.argv.slice(2).map(Number));
