import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { Connection, requestBytes, type Target } from './connection.ts';
import { loopDelayOf, pageOf, seriesOf, type Told, toldBetween } from './metrics.ts';
import { type ProbePlan, type ProbeReport, runProbes } from './probes.ts';
import { Needle, Sight } from './sight.ts';
import { memoryOf, secondsBetween, serverShareOf, usageNow } from './usage.ts';

/** Watchers that only listen, and node changes that must reach all of them. */
export interface WatcherPlan {
  readonly cluster: Target;
  readonly gatehouse: Target;
  readonly listPath: string;
  readonly metricsUrl: string;
  readonly serverPid: number;
  readonly nodes: readonly string[];
  /** The headers of a watcher's request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly coding: 'identity' | 'gzip';
  readonly watchers: number;
  /** The number of additional watchers that request the initial state and do not read it. */
  readonly slow: number;
  readonly idleMs: number;
  readonly tries: number;
  readonly pauseMs: number;
  /** The time limit of one change, and of the start of one watcher. */
  readonly timeoutMs: number;
}

export interface WatcherReport {
  readonly residentBefore: number | undefined;
  /** The time from the first connection until all watchers had a bookmark of the version that they began with. */
  readonly openMs: number;
  readonly idle: ServerMoment;
  /**
   * The times from the cluster's answer to a change until the first and the last watcher saw it, for each change.
   */
  readonly firstMs: readonly number[];
  readonly lastMs: readonly number[];
  readonly busy: ServerMoment;
  /** The bytes to all watchers together for a change, with some bookmarks. */
  readonly bytesAChange: number;
  /** Watchers whose connection ended before the measurement did. */
  readonly lost: number;
  /** How many of the watchers that do not read were cut off while nothing changed. */
  readonly cutOff: number;
}

const LABEL = 'bench.example.test/watched';
const OPENERS = 100;
/** The bytes that are kept of a piece. A wanted text is shorter, and may begin at the end of a piece. */
const TAIL = 128;
const BOOKMARK = '"BOOKMARK"';

/**
 * All connections read into this memory. Each piece is searched before the next is read. It is searched in place, after
 * the end of the piece that the same connection read before, because copying each piece or making a string of it took
 * the reader as long as the search.
 */
const MEMORY = Buffer.allocUnsafe(TAIL + 64 * 1024);
const INPUT = MEMORY.subarray(TAIL);

interface Opening {
  readonly sight: Sight;
  readonly bookmark: Needle;
}

/** Opens a watcher, which tells `sight` when the wanted text arrives. Resolves at the first bookmark. */
function openWatcher(request: Buffer, { port }: Target, { sight, bookmark }: Opening): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const tail = Buffer.alloc(TAIL);
    let isOpen = false;
    let found: Needle | undefined;
    const onread = { buffer: INPUT, callback: (size: number) => read(size) };
    const socket = connect({ port, host: '127.0.0.1', onread }, () => socket.write(request));
    socket.on('error', reject);
    socket.on('close', () => {
      sight.lost++;
      reject(new Error(`a watcher was closed: ${tail.toString('latin1')}`));
    });
    const read = (size: number): boolean => {
      tail.copy(MEMORY);
      const text = MEMORY.subarray(0, TAIL + size);
      sight.bytes += size;
      if (!isOpen && bookmark.isIn(text, TAIL)) {
        isOpen = true;
        resolve(socket);
      }
      const { wanted } = sight;
      if (wanted && wanted !== found && wanted.isIn(text, TAIL)) {
        found = wanted;
        sight.found();
      }
      text.copy(tail, 0, size);
      return true;
    };
  });
}

/** Rejects when a watcher does not begin or a change does not reach all of them in time. */
export async function runWatchers(plan: WatcherPlan): Promise<WatcherReport> {
  const before = await memoryOf({ pid: plan.serverPid, metricsUrl: plan.metricsUrl });
  const sight = new Sight();
  const startAt = performance.now();
  const sockets = await openAll(plan, sight);
  const openMs = performance.now() - startAt;
  const slow = Array.from({ length: plan.slow }, () => openSlow(plan));
  const cutBefore = await cutOffBy(plan);
  const idle = await momentOf(plan, () => sleep(plan.idleMs));
  const cutOff = (await cutOffBy(plan)) - cutBefore;
  const firstMs: number[] = [];
  const lastMs: number[] = [];
  const bytesBefore = sight.bytes;
  const busy = await momentOf(plan, async () => {
    const cluster = await Connection.open(plan.cluster);
    for (let attempt = 0; attempt < plan.tries; attempt++) {
      const answeredAt = await change(cluster, plan, { attempt, sight });
      await untilAll(sight, plan);
      firstMs.push(sight.firstAt - answeredAt);
      lastMs.push(sight.lastAt - answeredAt);
      await sleep(plan.pauseMs);
    }
    cluster.close();
  });
  const { lost } = sight;
  const bytesAChange = (sight.bytes - bytesBefore) / plan.tries;
  for (const socket of [...sockets, ...slow]) socket.removeAllListeners('close').destroy();
  return { residentBefore: before.now, openMs, idle, firstMs, lastMs, busy, lost, cutOff, bytesAChange };
}

/** The watchers go on from the version of a list, because the cost of waiting is measured, not that of beginning. */
async function openAll(plan: WatcherPlan, sight: Sight): Promise<readonly Socket[]> {
  const origin = `http://127.0.0.1:${plan.gatehouse.port}${plan.listPath}`;
  const list = await fetch(`${origin}?limit=0`, { headers: plan.gatehouse.headers });
  const version = list.headers.get('etag')?.slice(1, -1);
  const path = `${plan.listPath}?watch=1&resourceVersion=${version}`;
  const request = requestBytes(plan.gatehouse, { path, headers: plan.headers });
  const opening = { sight, bookmark: new Needle(BOOKMARK, plan.coding) };
  const sockets: Socket[] = [];
  let left = plan.watchers;
  const opener = async (): Promise<void> => {
    while (left-- > 0) sockets.push(await openWatcher(request, plan.gatehouse, opening));
  };
  await Promise.all(Array.from({ length: OPENERS }, opener));
  return sockets;
}

/** Opens a watcher that does not read. Only what fits into its buffer and the kernel's is received. */
function openSlow({ gatehouse, listPath }: WatcherPlan): Socket {
  const request = requestBytes(gatehouse, { path: `${listPath}?watch=1` });
  const socket = connect({ port: gatehouse.port, host: '127.0.0.1' }, () => socket.write(request));
  return socket.on('error', () => undefined);
}

const cutOffBy = async (plan: WatcherPlan): Promise<number> =>
  seriesOf(await pageOf(plan), 'gatehouse_watches_ended_total{end="slow"}');

/** Makes a change. Resolves to the time of the cluster's answer. Sets the wanted text before that, so that it is not missed. */
async function change(
  cluster: Connection,
  plan: WatcherPlan,
  { attempt, sight }: { attempt: number; sight: Sight },
): Promise<number> {
  const name = plan.nodes[attempt % plan.nodes.length] ?? '';
  // A new value each time, because the same nodes are changed for each form of the stream.
  const value = `v${attempt}-of-${plan.tries}-at-${Date.now()}`;
  sight.next(new Needle(`"${LABEL}":"${value}"`, plan.coding));
  const answer = await cluster.exchange(
    requestBytes(plan.cluster, {
      method: 'PATCH',
      path: `/api/v1/nodes/${name}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ metadata: { labels: { [LABEL]: value } } }),
    }),
  );
  if (answer.status !== 200) throw new Error(`the label patch of ${name} answered ${answer.status}`);
  return performance.now();
}

async function untilAll(sight: Sight, { watchers, timeoutMs }: WatcherPlan): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (sight.seen < watchers) {
    if (performance.now() > giveUpAt)
      throw new Error(`a change reached ${sight.seen} of ${watchers} in ${timeoutMs} ms`);
    await sleep(1);
  }
}

const PROBE_MS = 10;

/** The server during a part of the measurement. Values that the platform does not report are absent. */
export interface ServerMoment {
  readonly residentBytes: number | undefined;
  /** Milliseconds by which timers were late, from the server's own metrics. */
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number };
  /** The server's processor time, as a share of one core. */
  readonly serverShare?: number;
  /** The processor time of the watchers themselves, as a share of one core. */
  readonly readerShare: number;
  readonly seconds: number;
  /** From the server's metrics: the time from finding a change until all watches were sent it. */
  readonly told?: Told;
  /** Requests for a page of one node meanwhile, a hundred a second. */
  readonly probes: ProbeReport;
}

/** Measures the server while `work` runs. The loop delay is that since the metrics were last read. */
async function momentOf(plan: WatcherPlan, work: () => Promise<unknown>): Promise<ServerMoment> {
  const before = await pageOf(plan);
  const first = usageNow(plan.serverPid);
  const probes = await probing({ target: plan.gatehouse, path: `${plan.listPath}?limit=1`, everyMs: PROBE_MS }, work);
  const last = usageNow(plan.serverPid);
  const seconds = secondsBetween(first, last);
  const page = await pageOf(plan);
  const { now } = await memoryOf({ pid: plan.serverPid, metricsUrl: plan.metricsUrl });
  return {
    residentBytes: now,
    loopDelay: { p99Ms: loopDelayOf(page), maxMs: loopDelayOf(page, 'max') },
    ...serverShareOf(first, last),
    readerShare: (last.own - first.own) / seconds,
    seconds,
    ...toldBetween(before, page),
    probes,
  };
}

/**
 * Sends probes for as long as the work goes on, from a thread of their own, so that the work does not delay the reading
 * of their answers.
 */
async function probing(plan: ProbePlan, work: () => Promise<unknown>): Promise<ProbeReport> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { probing: plan } });
  await once(thread, 'online');
  try {
    await work();
    thread.postMessage('stop');
    const [report] = (await once(thread, 'message')) as [ProbeReport];
    return report;
  } finally {
    await thread.terminate();
  }
}

/** Runs in the thread of `probing`. */
async function probeUntilStopped(port: MessagePort, plan: ProbePlan): Promise<void> {
  const stopped = new AbortController();
  port.once('message', () => stopped.abort());
  port.postMessage(await runProbes(plan, stopped.signal));
}

const { probing: probed } = (workerData ?? {}) as { readonly probing?: ProbePlan };
if (probed && parentPort) await probeUntilStopped(parentPort, probed);
