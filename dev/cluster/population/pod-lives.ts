import type { Clock } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { type KubeObject, keyOf } from '../kube-object.ts';
import type { ObjectStore } from '../object-store.ts';
import { timestamp } from '../timestamp.ts';
import { containerStatuses, crashed, type PodPhase } from './container-statuses.ts';
import { aboutPod, seeEvent } from './events.ts';
import { POD_CONDITIONS, suffixOf } from './pods.ts';
import { isReady, replicaStatus } from './workload-objects.ts';

interface PodLifeOptions {
  /** The time between two changes. */
  readonly everyMs: number;
  readonly clock: Clock;
  /** Decides which pod changes, and how: the same numbers make the same changes. */
  readonly random: Random;
}

/** Pods that are changing at the same time. So the number of pods stays within a few of what it was. */
const MOST_LIVES = 6;

/** The serials of pods that are made here count down from this, below those of `keepChanging` and far above those of `populate`. */
const FIRST_SERIAL = 10_000_000;

/** What happens to a pod, a change at each step. */
type Life = Generator<void, void, undefined>;

interface World {
  readonly objects: ObjectStore;
  readonly clock: Clock;
  serial: number;
}

/**
 * Lets pods of applications crash and start again, be replaced, and run a job to its end, a change each `everyMs`, until the signal
 * aborts. The status of their deployment and replica set follows.
 */
export async function keepPodsLiving(
  objects: ObjectStore,
  options: PodLifeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { everyMs, clock, random } = options;
  const world: World = { objects, clock, serial: FIRST_SERIAL };
  const lives = new Map<string, Life>();
  for (;;) {
    await clock.sleep(everyMs, signal);
    if (signal.aborted) return;
    const begins = lives.size === 0 || (lives.size < MOST_LIVES && random.fraction() < 1 / 3);
    if (begins) beginLife(world, lives, random);
    const uid = pick([...lives.keys()], random);
    if (uid !== undefined && lives.get(uid)?.next().done) lives.delete(uid);
  }
}

const pick = <Item>(items: readonly Item[], random: Random): Item | undefined =>
  items[Math.floor(random.fraction() * items.length)];

function beginLife(world: World, lives: Map<string, Life>, random: Random): void {
  const idle = world.objects
    .list('pods')
    .filter(({ metadata }) => !lives.has(metadata.uid) && isOfApplication(metadata));
  const pod = pick(
    idle.filter((one) => isReady(one) || isDone(one)),
    random,
  );
  if (!pod) return;
  const key = keyOf(pod.metadata);
  const life = isDone(pod)
    ? rerun(world, key, random)
    : random.fraction() < 0.5
      ? crash(world, key)
      : replace(world, key);
  lives.set(pod.metadata.uid, life);
}

const ownerOf = ({
  ownerReferences,
}: KubeObject['metadata']): { readonly kind: string; readonly name: string } | undefined =>
  (ownerReferences as readonly { kind: string; name: string }[] | undefined)?.[0];

const isOfApplication = (metadata: KubeObject['metadata']): boolean =>
  ['ReplicaSet', 'Job'].includes(ownerOf(metadata)?.kind ?? '') && metadata['deletionTimestamp'] === undefined;

const isDone = ({ status }: KubeObject): boolean => status?.['phase'] === 'Succeeded' || status?.['phase'] === 'Failed';

/** A container ends with an error, and is started again. */
function* crash(world: World, key: string): Life {
  const before = restartsOf(world.objects.get('pods', key));
  change(world, key, crashed, before);
  const pod = world.objects.get('pods', key);
  if (pod) {
    const message = `Back-off restarting failed container in pod ${pod.metadata.name}`;
    say(world, pod, 'Warning', 'BackOff', message);
  }
  yield;
  change(world, key, 'Running', before + 1);
}

/** A new pod takes the place of an old one. */
function* replace(world: World, key: string): Life {
  const next = createNext(world, key);
  if (next === undefined) return;
  yield;
  change(world, next, 'Running');
  yield;
  const pod = world.objects.get('pods', key);
  if (!pod) return;
  const deletionTimestamp = timestamp(world.clock.now() + 30_000);
  const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 };
  world.objects.update('pods', { ...pod, metadata });
  say(world, pod, 'Normal', 'Killing', 'Stopping the containers');
  yield;
  removePod(world, key);
}

/** A job runs again; the pod of its earlier run is removed. */
function* rerun(world: World, key: string, random: Random): Life {
  const next = createNext(world, key);
  if (next === undefined) return;
  yield;
  change(world, next, 'Running');
  yield;
  change(world, next, random.fraction() < 0.2 ? 'Failed' : 'Succeeded');
  yield;
  removePod(world, key);
}

/** Creates another pod of the same owner on the same node. Returns its key; undefined if the pod is gone, because a client deleted it. */
function createNext(world: World, key: string): string | undefined {
  const { objects, clock } = world;
  const pod = objects.get('pods', key);
  if (!pod) return undefined;
  const { uid: _uid, creationTimestamp: _created, resourceVersion: _version, ...metadata } = pod.metadata;
  // The names of pods of one workload differ in their last five letters.
  const name = metadata.name.replace(/[^-]+$/, suffixOf(world.serial--));
  const startTime = timestamp(clock.now());
  const next = {
    ...pod,
    metadata: { ...metadata, name },
    status: { ...pod.status, startTime, ...statusIn(pod, 'Pending', { at: startTime }) },
  };
  const made = settled(objects, objects.create('pods', next));
  const place = `${metadata.namespace}/${name} to ${String((pod.spec as { nodeName?: unknown }).nodeName)}`;
  say(world, made, 'Normal', 'Scheduled', `Successfully assigned ${place}`);
  return keyOf(made.metadata);
}

function say(
  { objects, clock }: World,
  pod: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  const component = reason === 'Scheduled' ? 'default-scheduler' : 'kubelet';
  seeEvent(objects, aboutPod(pod), { type, reason, message, component }, clock.now());
}

/** What the kubelet writes for a pod whose containers are in this state. */
function statusIn(
  pod: Pick<KubeObject, 'spec' | 'status'>,
  state: Parameters<typeof containerStatuses>[1],
  { at, restartCount = 0 }: { readonly at: string; readonly restartCount?: number },
): object {
  const phase: PodPhase = typeof state === 'string' ? state : 'Running';
  const statuses = containerStatuses(pod['spec'] as { containers: readonly object[] }, state, at);
  // A container that was started again keeps the state in which it ended.
  const before = (pod.status?.['containerStatuses'] ?? []) as readonly { readonly lastState?: object }[];
  const containers =
    restartCount === 0
      ? statuses
      : statuses.map((one, place) => ({ lastState: before[place]?.lastState ?? {}, ...one, restartCount }));
  return {
    phase,
    conditions: typeof state === 'string' ? POD_CONDITIONS[state] : POD_CONDITIONS.Pending,
    containerStatuses: containers,
  };
}

function change(
  { objects, clock }: World,
  key: string,
  state: Parameters<typeof containerStatuses>[1],
  restartCount = 0,
): void {
  const pod = objects.get('pods', key);
  if (!pod) return;
  const at = timestamp(clock.now());
  settled(
    objects,
    objects.update('pods', { ...pod, status: { ...pod.status, ...statusIn(pod, state, { at, restartCount }) } }),
  );
}

function restartsOf(pod: KubeObject | undefined): number {
  const [first] = (pod?.status?.['containerStatuses'] ?? []) as readonly { restartCount: number }[];
  return first?.restartCount ?? 0;
}

function removePod({ objects }: World, key: string): void {
  if (objects.get('pods', key)) settled(objects, objects.remove('pods', key));
}

/** Writes the status of the replica set and of the deployment of this pod, as their controllers would. Returns the pod. */
function settled(objects: ObjectStore, pod: KubeObject): KubeObject {
  const { namespace } = pod.metadata;
  const owner = ownerOf(pod.metadata);
  const set = owner?.kind === 'ReplicaSet' ? objects.get('replicasets', `${namespace}/${owner.name}`) : undefined;
  const deployment = set && objects.get('deployments', `${namespace}/${ownerOf(set.metadata)?.name}`);
  if (!set || !deployment) return pod;
  const pods = objects
    .list('pods')
    .filter(({ metadata }) => ownerOf(metadata)?.name === owner?.name && metadata.namespace === namespace);
  const [all, ready] = [pods.length, pods.filter(isReady).length];
  objects.update('replicasets', { ...set, status: { ...replicaStatus('ReplicaSet', all, ready) } });
  objects.update('deployments', { ...deployment, status: { ...replicaStatus('Deployment', all, ready) } });
  return pod;
}
