import { createHash } from 'node:crypto';
import type { Clock } from '../src/runtime/clock.ts';
import type { Random } from '../src/runtime/random.ts';
import type { SimulatedCluster } from './cluster/cluster.ts';
import { type KubeObject, keyOf } from './cluster/kube-object.ts';
import type { SimulatedLogStore } from './log-store/log-store.ts';
import type { LogDocument } from './log-store/stored-record.ts';

/** The number of records at the start, for a cluster of any size: about 5 MB of memory. */
const PAST_RECORDS = 6_000;
const PAST_MS = 6 * 3_600_000;
/** Above this number the oldest records are dropped, because a demo may run for days. */
export const MOST_RECORDS = 20_000;
/** A quarter of an hour in which the shop could not accept payments. */
const TROUBLE = { beganMsAgo: 50 * 60_000, endedMsAgo: 35 * 60_000 };
const NEW_AT_ONCE = 4;

/** The log lines of containers, by container name; `{n}` is a number. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  storefront: [
    'GET / 200 {n} ms',
    'GET /items/{n} 200 {n} ms',
    'GET /items/{n} 404 {n} ms',
    '\u001b[33mWARN\u001b[0m item {n} has no picture',
  ],
  catalog: ['GET /items/{n} 200 {n} ms', 'GET /items?page={n} 200 {n} ms', 'slow query: {n} ms for "items by price"'],
  cart: ['item {n} added to cart {n}', 'item {n} taken out of cart {n}', 'cart {n} given up'],
  checkout: ['order {n} placed', 'order {n} waits for its payment', 'order {n} is paid'],
  payments: ['payment {n} accepted in {n} ms', 'payment {n} declined: card expired'],
  search: ['found {n} items in {n} ms', 'index has {n} items'],
  coredns: ['[INFO] "A IN cart.shop.svc.cluster.local. udp 52" NOERROR {n} µs', '[INFO] plugin/reload: no change'],
  prometheus: ['level=info component=tsdb msg="head truncated" series={n}', 'level=info msg="{n} targets are up"'],
  'kube-apiserver': ['"Watch cache is fresh" objects={n}', '"Trace" verb=LIST resource=pods total={n}ms'],
};
const ANYBODY: readonly string[] = ['{n} objects are up to date', 'health check passed in {n} ms'];
const IN_TROUBLE: Readonly<Record<string, readonly string[]>> = {
  checkout: ['ERROR order {n} failed: no answer from payments'],
  payments: ['ERROR connection to the bank lost, attempt {n}'],
};

interface Container {
  readonly pod: KubeObject;
  readonly name: string;
}

interface Chance {
  readonly now: number;
  readonly random: Random;
}

/** The records of the last hours, as a collector would have stored them. */
export function pastRecords(pods: readonly KubeObject[], { now, random }: Chance): LogDocument[] {
  const all = pods.flatMap(containersOf);
  const records: LogDocument[] = [];
  for (let count = 0; count < PAST_RECORDS; count++) {
    const container = pick(all, random);
    const at = now - Math.floor(random.fraction() * PAST_MS);
    if (!container || at < Date.parse(container.pod.metadata.creationTimestamp ?? '')) continue;
    const isTrouble = at >= now - TROUBLE.beganMsAgo && at < now - TROUBLE.endedMsAgo;
    const lines = (isTrouble && IN_TROUBLE[container.name]) || (LINES[container.name] ?? ANYBODY);
    records.push(toRecord(container, { lines, at, random }));
  }
  return records;
}

/**
 * Lets the running pods write on until the signal aborts, a few lines each `everyMs`: into the logs of the pods, and into the log store if there
 * is one.
 */
export async function keepWriting(
  { objects, podLogs }: Pick<SimulatedCluster, 'objects' | 'podLogs'>,
  store: Pick<SimulatedLogStore, 'add'> | undefined,
  { everyMs, clock, random }: { readonly everyMs: number; readonly clock: Clock; readonly random: Random },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(everyMs, signal);
    if (signal.aborted) return;
    const running = objects.list('pods').filter(({ status }) => status?.['phase'] === 'Running');
    // Somebody who follows a log sees it go on; of the others a few write.
    const followed = new Set(podLogs.followed);
    const read = running.filter(({ metadata }) => followed.has(keyOf(metadata)));
    const pods = [...read, ...Array.from({ length: NEW_AT_ONCE }, () => pick(running, random))];
    const containers = pods.flatMap((pod) => (pod ? (pick(containersOf(pod), random) ?? []) : []));
    const at = clock.now();
    const records = containers.map((one) => toRecord(one, { lines: LINES[one.name] ?? ANYBODY, at, random }));
    for (const [index, { pod, name }] of containers.entries())
      podLogs.write(keyOf(pod.metadata), name, (records[index]?.log ?? '').trimEnd());
    store?.add(records);
  }
}

/** The containers of a pod; none if it is not scheduled. */
function containersOf(pod: KubeObject): Container[] {
  const { containers = [], nodeName } = (pod['spec'] ?? {}) as { containers?: { name: string }[]; nodeName?: string };
  return nodeName === undefined ? [] : containers.map(({ name }) => ({ pod, name }));
}

function toRecord(
  { pod, name }: Container,
  { lines, at, random }: { readonly lines: readonly string[]; readonly at: number; readonly random: Random },
): LogDocument {
  const { namespace = '', name: podName, uid } = pod.metadata;
  const line = (pick(lines, random) ?? '').replaceAll('{n}', () => String(1 + numberBelow(900, random)));
  // Nanoseconds, as runtimes write them.
  const nanos = String(numberBelow(1_000_000, random)).padStart(6, '0');
  return {
    log: `${line}\n`,
    time: new Date(at).toISOString().replace('Z', `${nanos}Z`),
    kubernetes: {
      namespace_name: namespace,
      pod_name: podName,
      container_name: name,
      docker_id: createHash('sha256').update(`${uid}/${name}`).digest('hex'),
    },
  };
}

const numberBelow = (limit: number, random: Random): number => Math.floor(random.fraction() * limit);

const pick = <Item>(items: readonly Item[], random: Random): Item | undefined =>
  items[numberBelow(items.length, random)];
