import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../dev/cluster/seeded-random.ts';
import type { ProbeReport } from './load/probes.ts';
import { type Bench, probePlan } from './measure.ts';
import { startChurn } from './paced-changes.ts';
import { DEPLOYED_HEAP, type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { memoryOf } from './peers/memory.ts';
import { type Descriptors, openDescriptors } from './peers/open-descriptors.ts';
import { type Simulation, startSimulated } from './peers/simulated.ts';
import { drawFault } from './soak-faults.ts';
import { type Sample, slope } from './statistics.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
}

export interface SoakResults extends SoakOptions {
  readonly nodes: number;
  readonly pods: number;
  readonly faults: readonly string[];
  /** Without the API server, in one piece. */
  readonly outageMinutes: number;
  readonly probes: ProbeReport;
  /** Resident memory at the start and the end of the part that the slope is taken of, which is so many minutes long. */
  readonly memory: { readonly first: number; readonly last: number; readonly minutes: number };
  /** Of resident memory, bytes an hour. */
  readonly slopePerHour: number;
  readonly before: Descriptors | undefined;
  readonly after: Descriptors | undefined;
}

const NODES = 1_000;
const MINUTE_MS = 60_000;
const SAMPLE_MS = 1_000;
/** Of a soak of twenty minutes and more; a shorter one has an outage of a tenth of its time. */
const OUTAGE_MINUTES = 10;
/** The slope is taken after these, of a soak that is at least twice as long. */
const WARM_UP_MINUTES = 10;
/** What a fault left open is closed by then: idle connections to the cluster and the watch's time limits. */
const SETTLE_MS = 30_000;
/** Tokens of the soak outlive it, and an outage of ten minutes is bridged whole: 75 s before it, 30 s and 15 s after it. */
const SETTINGS = {
  authentication: { oauthOptions: { accessTokenMaxAge: '24h' } },
  authorization: { maxStaleness: '12m' },
};

const outageMinutes = (minutes: number): number => (minutes >= 20 ? OUTAGE_MINUTES : minutes / 10);

/** Nodes and pods change, something fails each minute, and the list is asked for all the time. */
export async function measureSoak(bench: Bench, { minutes, seed }: SoakOptions): Promise<SoakResults> {
  bench.note(`soak of ${minutes} min, seed ${seed}`);
  const cluster = await startSimulated(NODES);
  const { objects } = cluster.cluster;
  const pods = objects.list('pods').length;
  const options = { ...cluster, name: 'soak', settings: SETTINGS, nodeArguments: DEPLOYED_HEAP };
  const gatehouse = await startGatehouse(bench.children, options);
  const probing = bench.generator.probes(probePlan(gatehouse, 'gzip', minutes * MINUTE_MS));
  await sleep(SAMPLE_MS); // the connections of the probe are there
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

/** A fault at the start of each minute but the last, in which the mirror is to be current again; the outage half-way. */
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

/** After the first ten minutes, or over the last half of a short soak. */
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
