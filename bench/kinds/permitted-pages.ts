import { type Bench, listPlan } from '../bench.ts';
import type { LoadReport } from '../load/load.ts';
import { BENCH_USERS, startGatehouse } from '../peers/gatehouse.ts';
import { HEAP_WATCH } from '../peers/memory.ts';
import { askFirst, expectSome, expectTotal, withKind } from './asking.ts';
import { simulatedPods } from './pod-clusters.ts';
import { namespaceName, podOf } from './pods.ts';
import type { KindSizes } from './sizes.ts';

/** Pages over the namespaces that a caller may see. */
export interface PermittedResults {
  readonly pods: number;
  readonly namespaces: number;
  readonly seen: number;
  /** The `Scope` header of the first page. */
  readonly scope: string;
  /** With one review for each namespace, while the kind is in memory. */
  readonly firstMs: number;
  readonly warm: readonly LoadReport[];
  readonly filtered: readonly LoadReport[];
  /** What the pods and the scope took: after the pages, less before the first request. Bytes of heap and buffers. */
  readonly memory: number;
}

const FILTERED = 'limit=10&page=2&sortBy=name&phase=Running';
const SETTINGS = { kinds: { memory: '768Mi' } };

/** The simulated cluster's reviews let the caller list pods in the first `seen` namespaces alone. */
export async function measurePermitted(bench: Bench, sizes: KindSizes): Promise<PermittedResults> {
  const { many, namespaces, seen } = sizes;
  bench.note(`permitted pages of ${many} pods in ${namespaces} namespaces`);
  const names = new Set(Array.from({ length: seen }, (_, at) => namespaceName(at)));
  const cluster = await simulatedPods(
    { pods: many, namespaces, light: true },
    ({ user, resourceAttributes: asked }) => {
      const isPods = user === BENCH_USERS[0] && asked?.resource === 'pods' && asked.group !== 'resources.gatehouse.io';
      return !isPods || names.has(asked.namespace ?? '');
    },
  );
  const options = { ...cluster, name: 'kinds-permitted', settings: SETTINGS, nodeArguments: HEAP_WATCH };
  const started = await startGatehouse(bench.children, options);
  const gatehouse = withKind(started, 'pods');
  const before = await started.takeMemory();
  const { listPath, target } = gatehouse;
  // A namespace of its own brings the kind into memory, and asks for one review.
  await askFirst(target, `${listPath.replace('/pods', `/namespaces/${namespaceName(0)}/pods`)}?limit=1`);
  const first = await askFirst(target, `${listPath}?limit=10`);
  expectTotal(first, seenPods(sizes));
  const after = await started.takeMemory();
  await expectSome(target, `${listPath}?${FILTERED}`, seenPods(sizes));
  const results = {
    ...{ pods: many, namespaces, seen },
    scope: /^[\w-]*Scope: (.*)$/im.exec(first.answer.head)?.[1]?.trim() ?? 'none',
    firstMs: first.tookMs,
    warm: await pages(bench, gatehouse, 'limit=10&page=2'),
    filtered: await pages(bench, gatehouse, FILTERED),
    memory: after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers,
  };
  await started.stop();
  await cluster.stop();
  return results;
}

const seenPods = ({ many, namespaces, seen }: KindSizes): number => {
  const last = namespaceName(seen);
  let count = 0;
  for (let index = 0; index < many; index++)
    if ((podOf({ index, namespaces }).metadata.namespace ?? '') < last) count++;
  return count;
};

async function pages({ generator, options }: Bench, gatehouse: Parameters<typeof listPlan>[0], query: string) {
  const reports: LoadReport[] = [];
  const plan = { ...listPlan(gatehouse, 'identity', options.seconds), path: `${gatehouse.listPath}?${query}` };
  for (let round = 0; round < options.rounds; round++) reports.push(await generator.load({ ...plan, connections: 1 }));
  return reports;
}
