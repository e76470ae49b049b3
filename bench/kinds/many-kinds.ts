import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { type Bench, listPlan } from '../bench.ts';
import type { LoadReport } from '../load/load.ts';
import { pageOf, seriesOf } from '../load/metrics.ts';
import { startSimulated } from '../peers/clusters.ts';
import { DEPLOYED_YOUNG_HEAP, startGatehouse } from '../peers/gatehouse.ts';
import { TURN_WATCH, type Turns } from '../peers/turns.ts';
import { askFirst, expectTotal, kindPath } from './asking.ts';
import { namespaceName } from './pods.ts';

/** Objects of forty kinds, all in use at once. */
export interface ManyResults {
  readonly objects: number;
  /** What the budget counts, and what it is. Bytes. */
  readonly held: number;
  readonly limit: number;
  /** All first pages are asked for at once. */
  readonly allFirstMs: number;
  readonly sync: Turns;
  readonly search: readonly {
    readonly name: string;
    readonly found: number;
    readonly reports: readonly LoadReport[];
  }[];
  readonly searching: Turns;
}

const KINDS = 40;
const NAMESPACES = 50;
const GROUP = 'bench.example.test';

export async function measureMany(bench: Bench, objects: number, memory?: string): Promise<ManyResults> {
  bench.note(`${objects} objects of ${KINDS} kinds`);
  const cluster = await startSimulated(1, 0);
  fill(cluster.cluster.objects, objects);
  const settings = memory === undefined ? {} : { settings: { kinds: { memory } } };
  const nodeArguments = [...TURN_WATCH, DEPLOYED_YOUNG_HEAP];
  const gatehouse = await startGatehouse(bench.children, {
    ...cluster,
    name: 'kinds-many',
    nodeArguments,
    ...settings,
  });
  await gatehouse.takeTurns();
  const startAt = performance.now();
  await Promise.all(Array.from({ length: KINDS }, (_, at) => askKind(gatehouse.target, at, objects)));
  const allFirstMs = performance.now() - startAt;
  const sync = await gatehouse.takeTurns();
  const page = await pageOf(gatehouse);
  const search = await searches(bench, gatehouse, objects);
  const searching = await gatehouse.takeTurns();
  await gatehouse.stop();
  await cluster.stop();
  const limit = seriesOf(page, 'gatehouse_kinds_memory_limit_bytes');
  return { objects, held: heldBytes(page), limit, allFirstMs, sync, search, searching };
}

/** How many of the objects are of the kind at this place. */
const objectsOf = (at: number, objects: number): number => Math.floor((objects + KINDS - 1 - at) / KINDS);

async function askKind(target: Parameters<typeof askFirst>[0], at: number, objects: number): Promise<void> {
  expectTotal(await askFirst(target, `${kindPath(`${pluralOf(at)}.${GROUP}`)}?limit=10`), objectsOf(at, objects));
}

function heldBytes(page: string): number {
  const series = page.split('\n').filter((line) => line.startsWith('gatehouse_kinds_bytes{'));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

async function searches({ generator, options }: Bench, gatehouse: Parameters<typeof listPlan>[0], objects: number) {
  const asked = [
    { name: 'a whole name', q: nameOf(Math.floor(objects / 2)) },
    { name: 'part of every name', q: 'thing' },
    { name: 'a label', q: `app=app-7` },
    { name: 'a name that nothing has', q: 'no-such-thing-anywhere' },
  ];
  const results: { name: string; found: number; reports: LoadReport[] }[] = [];
  for (const { name, q } of asked) {
    const path = `${kindPath('search')}?q=${encodeURIComponent(q)}`;
    const { answer } = await askFirst(gatehouse.target, path);
    const { totalItems } = JSON.parse(answer.content.toString()) as { totalItems: Record<string, number> };
    const found = Object.values(totalItems).reduce((sum, total) => sum + total, 0);
    const plan = { ...listPlan(gatehouse, 'identity', options.seconds), path, connections: 1 };
    const reports: LoadReport[] = [];
    for (let round = 0; round < options.rounds; round++) reports.push(await generator.load(plan));
    results.push({ name, found, reports });
  }
  return results;
}

const letters = (at: number): string => String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26));
const pluralOf = (at: number): string => `bench${letters(at)}s`;
const kindOf = (at: number): string => `Bench${letters(at)}`;
const nameOf = (index: number): string => `thing-${String(index).padStart(6, '0')}`;

type Objects = Awaited<ReturnType<typeof startSimulated>>['cluster']['objects'];

function fill(store: Objects, objects: number): void {
  for (let at = 0; at < KINDS; at++) store.create('customresourcedefinitions', definitionOf(at));
  for (let at = 0; at < NAMESPACES; at++) store.create('namespaces', { metadata: { name: namespaceName(at) } });
  for (let index = 0; index < objects; index++) store.create(`${pluralOf(index % KINDS)}.${GROUP}`, objectOf(index));
}

function definitionOf(at: number): NewObject {
  const [plural, kind] = [pluralOf(at), kindOf(at)];
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

const objectOf = (index: number): NewObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: kindOf(index % KINDS),
  metadata: {
    name: nameOf(index),
    namespace: namespaceName(index % NAMESPACES),
    labels: { app: `app-${index % 1_000}`, tier: index % 3 === 0 ? 'front' : 'back' },
  },
  spec: { replicas: index % 5, note: 'what a controller would read '.repeat(10) },
});
