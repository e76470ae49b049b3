import { isRecord, type KubeObject } from '../kube-object.ts';
import type { ObjectStore } from '../object-store.ts';
import { timestamp } from '../timestamp.ts';

/** What an event says, and who says it. */
interface Said {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly component: string;
}

/** The object that an event is about. */
interface About {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: KubeObject;
}

/** An API server keeps an event for an hour after it was last seen. */
const KEPT_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A large population gets no more at its start. */
const MOST_AT_FIRST = 200;

export const aboutPod = (object: KubeObject): About => ({ apiVersion: 'v1', kind: 'Pod', object });
const aboutNode = (object: KubeObject): About => ({ apiVersion: 'v1', kind: 'Node', object });

/** Sees an event `count` times more, for the last time at `at` (milliseconds since 1970). Removes those that a server would have forgotten. */
export function seeEvent(objects: ObjectStore, about: About, said: Said, at: number, count = 1): void {
  forgetOld(objects, at);
  const { metadata } = about.object;
  // Events of what is in no namespace are in this one.
  const namespace = metadata.namespace ?? 'default';
  const name = `${metadata.name}.${hashOf(`${about.kind} ${said.reason} ${said.message}`)}`;
  const before = objects.get('events', `${namespace}/${name}`);
  if (before) {
    const seen = { count: Number(before['count']) + count, lastTimestamp: timestamp(at) };
    objects.update('events', { ...before, ...seen });
    return;
  }
  const { component, ...rest } = said;
  objects.create('events', {
    metadata: { name, namespace, creationTimestamp: timestamp(at) },
    involvedObject: {
      ...{ kind: about.kind, apiVersion: about.apiVersion, name: metadata.name, uid: metadata.uid },
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      resourceVersion: metadata.resourceVersion,
    },
    ...rest,
    source: { component },
    ...{ firstTimestamp: timestamp(at), lastTimestamp: timestamp(at), count, eventTime: null },
    ...{ reportingComponent: component, reportingInstance: '' },
  });
}

/** When old events were last looked for, in each store. */
const lookedAt = new WeakMap<ObjectStore, number>();

function forgetOld(objects: ObjectStore, now: number): void {
  if (now < (lookedAt.get(objects) ?? 0) + MINUTE_MS) return;
  lookedAt.set(objects, now);
  const oldest = timestamp(now - KEPT_MS);
  for (const { metadata, lastTimestamp } of objects.list('events'))
    if (typeof lastTimestamp === 'string' && lastTimestamp < oldest)
      objects.remove('events', `${metadata.namespace}/${metadata.name}`);
}

/** FNV-1a: a repeated event gets the name of the one before. */
function hashOf(text: string): string {
  const hash = [...text].reduce(
    (state, one) => Math.imul(state ^ (one.codePointAt(0) ?? 0), 0x01000193) >>> 0,
    0x811c9dc5,
  );
  return hash.toString(16).padStart(8, '0');
}

const KUBELET = { component: 'kubelet' } as const;

/** What the parts of a cluster have said lately about the nodes and pods of a population that need attention. */
export function populateEvents(objects: ObjectStore, { now }: { readonly now: number }): void {
  const said = [...objects.list('nodes').flatMap(saidOfNode), ...objects.list('pods').flatMap(saidOfPod)];
  for (const { about, agoMs, count, ...one } of said.slice(0, MOST_AT_FIRST))
    seeEvent(objects, about, one, now - agoMs, count);
}

interface SaidBefore extends Said {
  readonly about: About;
  readonly agoMs: number;
  readonly count: number;
}

function saidOfNode(node: KubeObject): readonly SaidBefore[] {
  const { name } = node.metadata;
  const about = aboutNode(node);
  const found: SaidBefore[] = [];
  if (conditionOf(node, 'Ready') === 'Unknown')
    found.push({
      ...{ about, type: 'Normal', reason: 'NodeNotReady', component: 'node-controller' },
      ...{ message: `Node ${name} status is now: NodeNotReady`, agoMs: 59 * MINUTE_MS, count: 1 },
    });
  if (node.spec?.['unschedulable'] === true)
    found.push({
      ...{ about, ...KUBELET, type: 'Normal', reason: 'NodeNotSchedulable' },
      ...{ message: `Node ${name} status is now: NodeNotSchedulable`, agoMs: 42 * MINUTE_MS, count: 1 },
    });
  if (name.endsWith('-b-1'))
    found.push({
      ...{ about, ...KUBELET, type: 'Warning', reason: 'ImageGCFailed', agoMs: 12 * MINUTE_MS, count: 3 },
      message:
        'Failed to garbage collect required amount of images. Attempted to free 4294967296 bytes, but only found 0',
    });
  return found;
}

/** Pods that wait, and jobs that failed. */
function saidOfPod(pod: KubeObject, place: number): readonly SaidBefore[] {
  const about = aboutPod(pod);
  const agoMs = (2 + (place % 40)) * MINUTE_MS;
  switch (pod.status?.['phase']) {
    case 'Pending':
      return [
        {
          ...{ about, type: 'Warning', reason: 'FailedScheduling', component: 'default-scheduler', agoMs, count: 9 },
          message: messageOf(pod, 'PodScheduled'),
        },
      ];
    case 'Failed':
      return [
        {
          ...{ about, ...KUBELET, type: 'Normal', reason: 'Started', agoMs, count: 1 },
          message: 'Container started',
        },
        {
          ...{ about, ...KUBELET, type: 'Warning', reason: 'Failed', agoMs, count: 1 },
          message: 'Error: the report could not be written: disk quota exceeded',
        },
      ];
    default:
      return [];
  }
}

const conditionsOf = ({ status }: KubeObject): readonly Record<string, unknown>[] => {
  const conditions = status?.['conditions'];
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
};

const conditionOf = (object: KubeObject, type: string): unknown =>
  conditionsOf(object).find((one) => one['type'] === type)?.['status'];

const messageOf = (object: KubeObject, type: string): string =>
  String(conditionsOf(object).find((one) => one['type'] === type)?.['message'] ?? '');
