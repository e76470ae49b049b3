import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from '../dev/cluster/behaviour.ts';
import type { SimulatedCluster } from '../dev/cluster/cluster.ts';
import { seededRandom } from '../dev/cluster/seeded-random.ts';
import type { Random } from '../src/runtime/random.ts';
import { type Bench, type BenchOptions, probePlan } from './bench.ts';
import { startChurn } from './churn.ts';
import type { ProbeReport } from './load/probes.ts';
import { type Descriptors, memoryOf, openDescriptors } from './load/usage.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import { DEPLOYED_HEAP, type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { type Sample, slope } from './statistics.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

type SoakOptions = Pick<BenchOptions, 'minutes' | 'seed'>;

export interface SoakResults extends SoakOptions {
  readonly nodes: number;
  readonly pods: number;
  readonly faults: readonly string[];
  /** The length of the outage of the API server. */
  readonly outageMinutes: number;
  readonly probes: ProbeReport;
  /**
   * Resident memory at the start and at the end of the part in which the slope is measured, and the length of that part.
   */
  readonly memory: { readonly first: number; readonly last: number; readonly minutes: number };
  /** The growth of resident memory, in bytes an hour. */
  readonly slopePerHour: number;
  readonly before: Descriptors | undefined;
  readonly after: Descriptors | undefined;
}

const NODES = 1_000;
const MINUTE_MS = 60_000;
const SAMPLE_MS = 1_000;
/** The outage in a soak of twenty minutes or more. A shorter soak has an outage of a tenth of its time. */
const OUTAGE_MINUTES = 10;
/** The slope is measured after these minutes, if the soak is at least twice as long. */
const WARM_UP_MINUTES = 10;
/**
 * After this time everything that a fault left open is closed: idle connections to the cluster, and watches by their time limit.
 */
const SETTLE_MS = 30_000;
/**
 * The tokens are valid for longer than the soak. The age limit covers an outage of ten minutes, 75 s before it, and 30 s and 15 s
 * after it.
 */
const SETTINGS = {
  authentication: { oauthOptions: { accessTokenMaxAge: '24h' } },
  authorization: { maxStaleness: '12m' },
};

const outageMinutes = (minutes: number): number => (minutes >= 20 ? OUTAGE_MINUTES : minutes / 10);

/** Changes nodes and pods, causes a fault each minute, and requests the list all the time. */
export async function measureSoak(bench: Bench): Promise<SoakResults> {
  const { minutes, seed } = bench.options;
  bench.note(`soak of ${minutes} min, seed ${seed}`);
  const cluster = await startSimulated(NODES);
  const { objects } = cluster.cluster;
  const pods = objects.list('pods').length;
  const options = { ...cluster, name: 'soak', settings: SETTINGS, nodeArguments: DEPLOYED_HEAP };
  const gatehouse = await startGatehouse(bench.children, options);
  const probing = bench.generator.probes(probePlan(gatehouse, 'gzip', minutes * MINUTE_MS));
  await sleep(SAMPLE_MS); // the probe has opened its connections by then
  const before = openDescriptors(gatehouse.pid);
  const churns = [
    startChurn(objects, { kind: 'nodes', perSecond: 10 }),
    startChurn(objects, { kind: 'pods', perSecond: 50 }),
  ];
  const ended = new AbortController();
  const samples = sampleMemory(gatehouse, ended.signal);
  const faults = await strikeEachMinute(bench, cluster, { minutes, seed });
  const probes = await probing;
  ended.abort();
  for (const churn of churns) await churn.stop();
  await sleep(SETTLE_MS);
  const after = openDescriptors(gatehouse.pid);
  await gatehouse.stop();
  await cluster.stop();
  const memory = growth(await samples, minutes);
  return {
    minutes,
    seed,
    nodes: NODES,
    pods,
    outageMinutes: outageMinutes(minutes),
    faults,
    probes,
    ...memory,
    before,
    after,
  };
}

/**
 * Causes a fault at the start of each minute except the last, in which the mirror has to become current again. The outage is in the
 * middle.
 */
async function strikeEachMinute({ note }: Bench, { cluster }: Simulation, soak: SoakOptions): Promise<string[]> {
  const random = seededRandom(soak.seed);
  const struck: string[] = [];
  const startAt = performance.now();
  const outage = { at: Math.floor((soak.minutes - 1) / 2), lastsMs: outageMinutes(soak.minutes) * MINUTE_MS };
  for (let minute = 0; minute < Math.max(1, soak.minutes - 1); ) {
    const { fault, lastsMs } = drawFault(random);
    const isOutage = minute === outage.at;
    const line = isOutage ? `outage, ${outage.lastsMs / 1_000} s` : `${fault.name}, ${lastsMs / 1_000} s`;
    note(`minute ${minute}: ${line}`);
    struck.push(line);
    if (isOutage) await cluster.restart(outage.lastsMs);
    else await fault.strike(cluster, lastsMs);
    minute = Math.max(minute + 1, Math.ceil((performance.now() - startAt) / MINUTE_MS));
    await sleep(Math.max(0, startAt + minute * MINUTE_MS - performance.now()));
  }
  return struck;
}

/** A fault of the cluster, which is over when the promise resolves. */
interface SoakFault {
  readonly name: string;
  /** Causes the fault. `lastsMs` is its length, if it has one. */
  strike(cluster: SimulatedCluster, lastsMs: number): Promise<void>;
}

/** Applies the behaviour to all requests for a while. Ends open watches, so that it applies to them, too. */
const everything = (name: string, behaviour: Behaviour): SoakFault => ({
  name,
  strike: async (cluster, lastsMs) => {
    const end = cluster.faults.until({}, behaviour);
    await cluster.restart();
    await sleep(lastsMs);
    end();
  },
});

/** Applies the fault to the next two watches, after some events. */
const stream = (name: string, fault: object): SoakFault => ({
  name,
  strike: async (cluster) => {
    cluster.faults.times(2, { verb: 'watch' }, { stream: { afterEvents: 5, ...fault } });
    await cluster.restart();
  },
});

/** The number of changes that a restored etcd has lost. */
const LOST_CHANGES = 50;

export const SOAK_FAULTS: readonly SoakFault[] = [
  { name: 'every connection reset', strike: (cluster) => cluster.restart() },
  { name: 'API server away', strike: (cluster, lastsMs) => cluster.restart(lastsMs) },
  everything('silence', { connection: 'silence' }),
  everything('429 with Retry-After', { status: 429, retryAfterSeconds: 2 }),
  everything('503', { status: 503 }),
  everything('403', { status: 403 }),
  stream('garbage in a watch', { inject: ['{"type":"MODIFIED","obj\n'], ending: 'close' }),
  stream('watch cut', { ending: 'cut' }),
  stream('watch silent', { ending: 'silence' }),
  {
    name: 'history compacted',
    strike: async (cluster) => {
      cluster.compact();
      await cluster.restart();
    },
  },
  {
    name: 'etcd restored',
    strike: async ({ objects, restore }) => {
      const back = objects.revision - LOST_CHANGES;
      if (back >= objects.compactedRevision) restore(String(back));
    },
  },
];

const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Chooses a fault and its length at random. */
export function drawFault(random: Random): { readonly fault: SoakFault; readonly lastsMs: number } {
  const fault = SOAK_FAULTS[Math.floor(random.fraction() * SOAK_FAULTS.length)];
  if (!fault) throw new RangeError('a fraction was not below 1');
  return { fault, lastsMs: Math.round(SHORTEST_MS + random.fraction() * (LONGEST_MS - SHORTEST_MS)) };
}

async function sampleMemory(gatehouse: Gatehouse, signal: AbortSignal): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startAt = performance.now();
  while (!signal.aborted) {
    const { now } = await memoryOf(gatehouse);
    if (now !== undefined) samples.push({ at: performance.now() - startAt, value: now });
    await sleep(SAMPLE_MS);
  }
  return samples;
}

/** The growth of memory after the first ten minutes, or in the second half of a short soak. */
function growth(samples: readonly Sample[], minutes: number): Pick<SoakResults, 'memory' | 'slopePerHour'> {
  const from = Math.min(WARM_UP_MINUTES, minutes / 2) * MINUTE_MS;
  const judged = samples.filter(({ at }) => at >= from);
  const [first, last] = [judged[0], judged.at(-1)];
  const length = ((last?.at ?? 0) - (first?.at ?? 0)) / MINUTE_MS;
  return {
    memory: { first: first?.value ?? Number.NaN, last: last?.value ?? Number.NaN, minutes: length },
    slopePerHour: slope(judged) * 60 * MINUTE_MS,
  };
}

/** The slope is judged only in a soak of this length, because the heap has then reached its size. */
const JUDGED_MINUTES = 20;
/** Target for the growth of resident memory in an hour. */
const SLOPE_BYTES = 1e6;

/** A soak as text: a table with its targets, then what happened. */
export function printSoak(soak: SoakResults): string {
  const { probes, memory, slopePerHour, before, after, faults, minutes, seed, outageMinutes } = soak;
  const answered = probes.statuses['200'] ?? 0;
  const part = `${number(memory.minutes)} min, ${megabytes(memory.first)} to ${megabytes(memory.last)}`;
  const rows = [
    ['probes, ten a second', count(probes.probes), '–', ''],
    ['answered 200', share(answered / probes.probes), '100 %', verdict(answered === probes.probes)],
    ['p50 ms, p99 ms, max ms', [probes.p50Ms, probes.p99Ms, probes.maxMs].map(number).join(', '), '–', ''],
    [
      `resident memory an hour, over the last ${part}`,
      signed(slopePerHour),
      '< 1 MB',
      minutes < JUDGED_MINUTES ? '–' : verdict(slopePerHour < SLOPE_BYTES),
    ],
    ['open files before, after', `${opened(before)}, ${opened(after)}`, 'as before', ''],
  ];
  const title = `Soak of ${count(minutes)} min with a fault a minute: ${count(soak.nodes)} nodes, ${count(soak.pods)} pods, an outage of ${number(outageMinutes)} min`;
  return [
    table(title, ['', 'measured', 'target', ''], rows),
    `Repeat it with --seed ${seed}. Faults: ${faults.join('; ')}.`,
    ...(answered < probes.probes ? [missedLine(probes)] : []),
    ...(minutes < JUDGED_MINUTES
      ? ['A soak this short says little about memory: from twenty minutes on it is judged.']
      : []),
    '',
  ].join('\n');
}

function missedLine({ statuses, missed }: ProbeReport): string {
  const others = Object.entries(statuses).filter(([status]) => status !== '200');
  const answers = others.map(([status, times]) => `${status} ${count(times)} times`).join(', ');
  const seconds = (ms: number): string => number(ms / 1_000);
  const when = missed ? `, from second ${seconds(missed.firstMs)} to second ${seconds(missed.lastMs)}` : '';
  return `Other answers: ${answers}${when}.`;
}

const share = (value: number): string => `${(Math.floor(value * 10_000) / 100).toFixed(2)} %`;

const signed = (bytes: number): string => `${bytes < 0 ? '-' : '+'}${megabytes(Math.abs(bytes))}`;

const opened = (descriptors: Descriptors | undefined): string =>
  descriptors ? `${count(descriptors.all)} (${count(descriptors.sockets)} sockets)` : '–';
