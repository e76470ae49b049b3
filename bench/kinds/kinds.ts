import { once } from 'node:events';
import { join } from 'node:path';
import type { HoldingWay } from '../../src/kinds/kind-value.ts';
import type { Bench } from '../bench.ts';
import { type ManyResults, measureMany } from './many-kinds.ts';
import type { KindMemory } from './memory.ts';
import { measurePermitted, type PermittedResults } from './permitted-pages.ts';
import { measurePods, type PodResults } from './pod-pages.ts';
import { sizesFrom } from './sizes.ts';

/** What the lists of every kind promise. */
export interface KindsResults {
  readonly memory: readonly KindMemory[];
  readonly pods: PodResults;
  readonly permitted: PermittedResults;
  /** With the default `kinds.memory`, and with as many objects as the search promises. */
  readonly many: readonly [inUse: ManyResults, searched: ManyResults];
}

/** Measures one after the other, so that each has the machine for itself. */
export async function measureKinds(bench: Bench): Promise<KindsResults> {
  const sizes = sizesFrom(process.env);
  return {
    memory: [await memoryOf(bench, sizes.pods, 'whole'), await memoryOf(bench, sizes.pods, 'fields')],
    pods: await measurePods(bench, sizes),
    permitted: await measurePermitted(bench, sizes),
    many: [await measureMany(bench, sizes.objects), await measureMany(bench, sizes.searched, '768Mi')],
  };
}

/** In a process that has nothing else. */
async function memoryOf({ children, note }: Bench, pods: number, way: HoldingWay): Promise<KindMemory> {
  note(`memory of ${pods} pods, ${way}`);
  const child = children.fork(join(import.meta.dirname, 'memory.ts'), [String(pods), way], ['--expose-gc']);
  const [measured] = (await once(child, 'message')) as [KindMemory];
  child.disconnect();
  return measured;
}
