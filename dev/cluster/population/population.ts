import type { Clock } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { isRecord, type KubeObject, keyOf, type NewObject } from '../kube-object.ts';
import type { ObjectStore } from '../object-store.ts';
import { seededRandom } from '../seeded-random.ts';
import { timestamp } from '../timestamp.ts';
import { nodeMaker, planNodes } from './nodes.ts';
import { planPods, podMaker, suffixOf } from './pods.ts';

export interface PopulationOptions {
  readonly nodes: number;
  /** There are nodes × podsPerNode pods. A few of them are on no node. */
  readonly podsPerNode: number;
  /** The same seed makes the same objects. Default 1. */
  readonly seed?: number;
  /** Pads the image lists until a node has about this many bytes of JSON. Default: six images. */
  readonly nodeBytes?: number;
  /** The prefix of the alias annotation of some nodes. Default `gatehouse`. */
  readonly platform?: string;
  /** Wall clock in milliseconds that the ages are counted from. Default 2026-03-09T10:00:00Z. */
  readonly now?: number;
  /** Gives pods the status of their containers, and a claim to stateful ones. A large population does without, for memory. */
  readonly detailed?: boolean;
}

/** Fills a store with a believable cluster. 5,000 nodes with 150,000 pods take seconds. */
export function populate(objects: ObjectStore, options: PopulationOptions): void {
  const now = options.now ?? Date.parse('2026-03-09T10:00:00Z');
  const random = seededRandom(options.seed ?? 1);
  const style = { now, platform: options.platform ?? 'gatehouse', nodeBytes: options.nodeBytes ?? 0 };
  const plans = planNodes(options.nodes);
  const makeNode = nodeMaker(style, random);
  for (const plan of plans) objects.create('nodes', makeNode(plan));
  const makePod = podMaker({ now, detailed: options.detailed ?? false }, random);
  for (const plan of plans)
    for (const pod of planPods(plan, options.podsPerNode)) createWithNamespace(objects, makePod(pod), now);
}

/** The age of namespaces, which are older than all pods. */
const NAMESPACE_AGE_MS = 30 * 86_400_000;

function createWithNamespace(objects: ObjectStore, pod: NewObject, now: number): void {
  const { namespace } = pod.metadata;
  if (namespace !== undefined && !objects.get('namespaces', namespace)) {
    const labels = { 'kubernetes.io/metadata.name': namespace };
    const creationTimestamp = timestamp(now - NAMESPACE_AGE_MS);
    objects.create('namespaces', {
      metadata: { name: namespace, labels, creationTimestamp },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
  objects.create('pods', pod);
}

export interface ChangeOptions {
  readonly everyMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Lets a populated cluster live until the signal aborts: each `everyMs` one node reports its conditions and one
 * application pod is replaced by another of its kind. Every tenth time a node gets or loses its maintenance label.
 */
export async function keepChanging(objects: ObjectStore, options: ChangeOptions, signal: AbortSignal): Promise<void> {
  const { everyMs, clock, random } = options;
  for (let round = 1; ; round++) {
    await clock.sleep(everyMs, signal);
    if (signal.aborted) return;
    const node = pick(objects.list('nodes').filter(isReady), random);
    if (node) objects.update('nodes', round % 10 === 0 ? relabelled(node) : reported(node, clock.now()));
    const pod = pick(objects.list('pods').filter(isReplaceable), random);
    if (pod) replace(objects, pod, { round, now: clock.now() });
  }
}

const pick = <Item>(items: readonly Item[], random: Random): Item | undefined =>
  items[Math.floor(random.fraction() * items.length)];

const conditionsOf = (node: KubeObject): readonly Record<string, unknown>[] =>
  (node.status?.['conditions'] ?? []) as readonly Record<string, unknown>[];

const isReady = (node: KubeObject): boolean =>
  conditionsOf(node).some(({ type, status }) => type === 'Ready' && status === 'True');

const isReplaceable = ({ metadata, status }: KubeObject): boolean =>
  status?.['phase'] === 'Running' && metadata.namespace === 'shop';

function reported(node: KubeObject, now: number): NewObject {
  const conditions = conditionsOf(node).map((condition) => ({ ...condition, lastHeartbeatTime: timestamp(now) }));
  return { ...node, status: { ...node.status, conditions } };
}

/** The serials of replaced pods count down from here, far above those of `populate`. */
const LAST_SERIAL = 14_348_906;

function relabelled(node: KubeObject): NewObject {
  const { 'example.test/maintenance': marked, ...labels } = node.metadata.labels ?? {};
  const next = marked === undefined ? { ...labels, 'example.test/maintenance': 'planned' } : labels;
  return { ...node, metadata: { ...node.metadata, labels: next } };
}

function replace(objects: ObjectStore, pod: KubeObject, { round, now }: { round: number; now: number }): void {
  const { uid: _uid, creationTimestamp: _created, resourceVersion: _version, ...metadata } = pod.metadata;
  // The names of pods of one workload differ in their last five letters.
  const name = metadata.name.replace(/[^-]+$/, suffixOf(LAST_SERIAL - round));
  const status = isRecord(pod.status) ? { ...pod.status, startTime: timestamp(now) } : {};
  objects.remove('pods', keyOf(metadata));
  objects.create('pods', { ...pod, metadata: { ...metadata, name }, status });
}
