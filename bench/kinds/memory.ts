import { setImmediate } from 'node:timers/promises';
import { createKindValue, type HoldingWay } from '../../src/kinds/kind-value.ts';
import { wordsOf } from '../../src/kinds/words/words-of.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import type { Entry } from '../../src/resources/entries/entry.ts';
import { ResourceStore } from '../../src/resources/entries/store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { atOnce, TimeSlices } from '../../src/runtime/time-slices.ts';
import { podOf } from './pods.ts';

/** What one kind takes in a process that has nothing else, in bytes. */
export interface KindMemory {
  readonly pods: number;
  readonly way: HoldingWay;
  /** The mean length of a pod as the API server sends it. */
  readonly sentBytes: number;
  readonly heap: number;
  readonly buffers: number;
  /** What the budget counts for the texts (`heldBytes`); the rest is the cost of entries. */
  readonly texts: number;
}

const PODS = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  singularName: 'pod',
  shortNames: ['po'],
  namespaced: true,
  verbs: ['list', 'watch'],
};

/** Pods are parsed page by page, as the reflector reads them. */
const PAGE = 500;

/** Fills a store as the first list of a kind does. Run it with `--expose-gc`. */
async function measureMemory(pods: number, way: HoldingWay): Promise<KindMemory> {
  const words = wordsOf(PODS, { selectorOf: () => undefined } as never);
  const kind = createKindValue(PODS as never, { platform: 'gatehouse', words, way, isSecret: false });
  const store = new ResourceStore(kind, new TimeSlices(systemClock));
  const before = await collected();
  const sent = fill(store, pods);
  const after = await collected();
  return {
    pods,
    way,
    sentBytes: sent / pods,
    heap: after.heapUsed - before.heapUsed,
    buffers: after.arrayBuffers - before.arrayBuffers,
    texts: store.heldBytes(),
  };
}

/** Returns the bytes of all texts. */
function fill(store: ResourceStore, pods: number): number {
  let sent = 0;
  const entries: Entry[] = [];
  for (let from = 0; from < pods; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, pods - from) }, (_, at) =>
      podText({ index: from + at, namespaces: Math.max(1, pods / 200) }),
    );
    sent += page.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    for (const pod of JSON.parse(`[${page.join(',')}]`) as KubernetesObject[]) entries.push(store.toEntry(pod));
  }
  atOnce(store.prepare(entries, { sameHistory: false, resourceVersion: String(2 * pods) }))();
  return sent;
}

function podText(place: Parameters<typeof podOf>[0]): string {
  const { metadata, ...pod } = podOf(place);
  return JSON.stringify({ metadata: { ...metadata, resourceVersion: String(100_000 + place.index) }, ...pod });
}

/** After two collections: the second takes what finalizers of the first let go. */
async function collected(): Promise<NodeJS.MemoryUsage> {
  for (let times = 0; times < 2; times++) {
    globalThis.gc?.();
    await setImmediate();
  }
  return process.memoryUsage();
}

if (import.meta.main) {
  const [pods = '20000', way = 'whole'] = process.argv.slice(2);
  const measured = await measureMemory(Number(pods), way as HoldingWay);
  if (process.send) process.send(measured);
  else process.stdout.write(`${JSON.stringify(measured)}\n`);
}
