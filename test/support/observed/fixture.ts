import { setTimeout as pause } from 'node:timers/promises';
import { readObserved } from './case.ts';

/** An object of the recorded cluster. */
export interface FixtureObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly creationTimestamp?: string };
  readonly status?: { readonly phase?: string };
  readonly [member: string]: unknown;
}

export type FixtureState = 'full' | 'no-pods' | 'only-finished';

interface Group {
  readonly nodes: readonly string[];
  /** Whether these nodes must have the same creationTimestamp. */
  readonly sameSecond: boolean;
}

export const podsOf = (objects: readonly FixtureObject[], state: FixtureState): FixtureObject[] => {
  const pods = objects.filter((object) => object.kind === 'Pod');
  if (state === 'no-pods') return [];
  return state === 'full' ? pods : pods.filter((pod) => pod.status?.phase === 'Succeeded');
};

export const kindOf = (objects: readonly FixtureObject[], kind: string): FixtureObject[] =>
  objects.filter((object) => object.kind === kind);

/** The objects as they are sent to an API server, without what it adds. */
const writtenFixture = (): FixtureObject[] => JSON.parse(readObserved('fixture.json')) as FixtureObject[];

/** The nodes and pods as a real API server has stored them, with its defaults, rounding and creation times. */
export const storedFixture = (): FixtureObject[] => JSON.parse(readObserved('fixture.stored.json')) as FixtureObject[];

type StoredMetadata = FixtureObject['metadata'] & Readonly<Record<string, unknown>>;

type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

const MOST_ATTEMPTS = 10;

/**
 * Creates the nodes in groups, more than a second apart, so that the groups have different creation times. If the nodes of a group must
 * have the same creation time, the group is created again until they do.
 */
export async function createNodes(kubectl: Kubectl): Promise<void> {
  const objects = writtenFixture();
  await create(kubectl, kindOf(objects, 'RuntimeClass'));
  const { groups } = JSON.parse(readObserved('fixture.groups.json')) as { groups: Group[] };
  for (const group of groups) await createGroup(kubectl, group, kindOf(objects, 'Node'));
}

async function createGroup(
  kubectl: Kubectl,
  { nodes, sameSecond }: Group,
  all: readonly FixtureObject[],
): Promise<void> {
  const wanted = nodes.map((name) => all.find((node) => node.metadata.name === name) as FixtureObject);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    // More than a second after the group before, and just after a full second.
    await pause(2100 - (Date.now() % 1000));
    await create(kubectl, wanted);
    const stored = JSON.parse(await kubectl(['get', 'nodes', '-o', 'json'])) as { items: FixtureObject[] };
    const own = stored.items.filter((node) => nodes.includes(node.metadata.name));
    if (!sameSecond || new Set(own.map((node) => node.metadata.creationTimestamp)).size === 1) return;
    await kubectl(['delete', 'node', ...nodes]);
  }
  throw new Error(`the nodes ${nodes.join()} do not share one second`);
}

/** Creates the pods of a state that do not exist yet, and sets their status, since there is no kubelet to set it. */
export async function createPods(kubectl: Kubectl, state: FixtureState): Promise<void> {
  const there = new Set((await kubectl(['get', 'pods', '-A', '-o', 'name'])).split('\n'));
  const pods = podsOf(writtenFixture(), state).filter(({ metadata }) => !there.has(`pod/${metadata.name}`));
  const namespaces = new Set(pods.map((pod) => pod.metadata.namespace ?? 'default'));
  const known = await kubectl(['get', 'namespaces', '-o', 'name']);
  for (const name of namespaces)
    if (!known.split('\n').includes(`namespace/${name}`)) await kubectl(['create', 'namespace', name]);
  await create(kubectl, pods);
  for (const { metadata, status } of pods) {
    if (JSON.stringify(status ?? {}) === '{"phase":"Pending"}' || status === undefined) continue;
    const patch = JSON.stringify({ status });
    const target = ['patch', 'pod', metadata.name, '-n', metadata.namespace ?? 'default'];
    await kubectl([...target, '--subresource=status', '--type=merge', '-p', patch]);
  }
}

async function create(kubectl: Kubectl, items: readonly FixtureObject[]): Promise<void> {
  if (items.length > 0) await kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

/**
 * Reads nodes and pods from the server, without the members that differ in each run, in the form of `fixture.stored.json`.
 */
export async function readStored(kubectl: Kubectl): Promise<FixtureObject[]> {
  const lists = await Promise.all(['nodes', 'pods'].map((kind) => kubectl(['get', kind, '-A', '-o', 'json'])));
  const items = lists.flatMap((list) => (JSON.parse(list) as { items: FixtureObject[] }).items);
  return items.map((item) => {
    const { managedFields: _, resourceVersion: __, generation: ___, ...metadata } = item.metadata as StoredMetadata;
    return { ...item, metadata };
  });
}
