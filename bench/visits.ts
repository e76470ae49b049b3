import { type Bench, listPlan, probePlan } from './bench.ts';
import { type Generator, startGenerator } from './load/generator.ts';
import type { ProbeReport } from './load/probes.ts';
import type { VisitPlan, VisitReport } from './load/visits.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import { DEPLOYED_HEAP, type Gatehouse, startGatehouse, withoutBearer } from './peers/gatehouse.ts';
import { HEAP_WATCH, type Memory } from './peers/memory.ts';
import { BROWSER_CLIENTS, DEVICE_CLIENT, DEVICE_PAGE, PAGE } from './peers/sign-in-page.ts';
import { medianBy } from './statistics.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

/** What anonymous visits of the sign-in page and of the page for devices leave behind, and the node list beside them. */
export interface VisitResults {
  readonly nodes: number;
  readonly rounds: readonly BesideRound[];
  readonly marks: readonly Mark[];
  /** All visits of the bench, by the status of their answers. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Writes that the cluster has seen during all visits. */
  readonly written: number;
}

/** A page of ten nodes, alone and beside visits. */
interface BesideRound {
  readonly idle: ProbeReport;
  readonly paced: ProbeReport;
  /** Beside as many visits as the server answers to eight connections. */
  readonly flooded: ProbeReport;
  readonly visits: readonly VisitReport[];
}

/** The memory after so many visits. */
interface Mark {
  readonly visits: number;
  readonly memory: Memory;
}

/** Some thirty thousand people a minute. */
const PER_SECOND = 500;
const CONNECTIONS = 8;
/** Probes of the list a second. */
const PROBES_EVERY_MS = 10;
/** The share of the visits after which the memory is measured. Until the first mark, code is compiled and caches fill. */
const MARKS = [0.2, 0.6, 1] as const;

/** Targets: the list's 99th percentile beside visits at that pace, and the growth of the memory from the first mark to the last. */
const LIST_RATIO = 1.2;
const GROWTH = { heap: 1e6, resident: 10e6 } as const;

/**
 * Every limit has its default, and all visits come from one address. Sessions are in Secrets, as in a cluster, so that there is
 * something that visits could write. The list has a caller, whose questions replicas would share by a write.
 */
const SETTINGS = {
  authentication: { oauthOptions: { clients: [...BROWSER_CLIENTS.clients, DEVICE_CLIENT] } },
  sessions: { store: 'kubernetes' },
  authorization: { shareQuestions: false },
};

/** Every visit has a state of its own, as the visits of clients have. */
const VISITED = { ...PAGE, path: PAGE.path.replace(/state=s+/, `state=${'s'.repeat(24)}*`) };

interface Parts extends Bench {
  readonly cluster: Simulation;
  readonly gatehouse: Gatehouse;
  /** The process of the visits. Another one times the list. */
  readonly visitor: Generator;
}

export async function measureVisits(bench: Bench): Promise<VisitResults> {
  const cluster = await startSimulated(bench.options.nodes[0] ?? 1);
  const nodeArguments = [...DEPLOYED_HEAP, ...HEAP_WATCH];
  const gatehouse = await startGatehouse(bench.children, {
    ...cluster,
    name: 'visits',
    settings: SETTINGS,
    nodeArguments,
  });
  const parts = { ...bench, cluster, gatehouse, visitor: startGenerator(bench.children) };
  await bench.generator.load(listPlan(gatehouse, 'identity', 1)); // the list is asked for, and its code compiled
  const before = cluster.cluster.objects.revision;
  const rounds: BesideRound[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) rounds.push(await measureBeside(parts, round));
  const { marks, visits } = await measureMemory(parts);
  const written = cluster.cluster.objects.revision - before;
  await gatehouse.stop();
  await cluster.stop();
  const statuses = summed([...rounds.flatMap((round) => round.visits), ...visits]);
  return { nodes: cluster.nodeNames.length, rounds, marks, statuses, written };
}

async function measureBeside(parts: Parts, round: number): Promise<BesideRound> {
  const { generator, gatehouse, visitor, note, options } = parts;
  note(
    `round ${round}, a page of the node list alone, beside ${PER_SECOND} visits a second, and beside all that can be`,
  );
  const measureMs = options.seconds * 1_000;
  const probes = { ...probePlan(gatehouse, 'identity', measureMs), everyMs: PROBES_EVERY_MS };
  const idle = await generator.probes(probes);
  const plan = { ...visitPlan(gatehouse), visits: options.seconds * PER_SECOND };
  const [paced, slow] = await Promise.all([
    generator.probes(probes),
    visitor.visits({ ...plan, perSecond: PER_SECOND }),
  ]);
  const ended = new AbortController();
  const flood = floodUntil(parts, ended.signal);
  const flooded = await generator.probes(probes);
  ended.abort();
  return { idle, paced, flooded, visits: [slow, ...(await flood)] };
}

/** Few enough that the flood ends soon after the measurement. */
const FLOOD_VISITS = 2_000;

async function floodUntil({ visitor, gatehouse }: Parts, signal: AbortSignal): Promise<VisitReport[]> {
  const visits: VisitReport[] = [];
  while (!signal.aborted) visits.push(await visitor.visits({ ...visitPlan(gatehouse), visits: FLOOD_VISITS }));
  return visits;
}

const visitPlan = (gatehouse: Gatehouse): Omit<VisitPlan, 'visits'> => ({
  target: withoutBearer(gatehouse),
  pages: [VISITED, DEVICE_PAGE],
  connections: CONNECTIONS,
});

async function measureMemory({ gatehouse, visitor, note, options }: Parts) {
  const marks: Mark[] = [];
  const visits: VisitReport[] = [];
  let done = 0;
  for (const share of MARKS) {
    const until = Math.round(share * options.visits);
    note(`memory after ${until} visits`);
    visits.push(await visitor.visits({ ...visitPlan(gatehouse), visits: until - done }));
    done = until;
    marks.push({ visits: done, memory: await gatehouse.takeMemory() });
  }
  return { marks, visits };
}

function summed(visits: readonly VisitReport[]): Record<string, number> {
  const statuses: Record<string, number> = {};
  for (const [status, times] of visits.flatMap((report) => Object.entries(report.statuses)))
    statuses[status] = (statuses[status] ?? 0) + times;
  return statuses;
}

/** What visits leave behind as text: tables with their targets. */
export const printVisits = (results: VisitResults): string =>
  [
    'Anonymous visits of the sign-in page and of the page for devices in turn, from one address, with the default limits. Sessions are in Secrets; nobody signs in.',
    '',
    answersLine(results),
    '',
    listTable(results),
    memoryTable(results),
  ].join('\n');

function answersLine({ statuses, written }: VisitResults): string {
  const texts = Object.entries(statuses).map(([status, times]) => `${status} ${count(times)} times`);
  const isAnswered = Object.keys(statuses).every((status) => status === '200');
  return `The visits were answered ${texts.join(', ')}: ${verdict(isAnswered)}. Writes to the cluster: ${count(written)}, target 0: ${verdict(written === 0)}.`;
}

/** Medians over the rounds come before their ratio: a round has few probes above its 99th percentile, and one ratio of these says little. */
function listTable({ nodes, rounds }: VisitResults): string {
  const p99 = (of: 'idle' | 'paced' | 'flooded'): number => medianBy(rounds, (round) => round[of].p99Ms);
  const row = (name: string, of: 'idle' | 'paced' | 'flooded'): string[] => [
    name,
    number(medianBy(rounds, (round) => round[of].p50Ms)),
    number(p99(of)),
    number(p99(of) / p99('idle')),
  ];
  const ratio = p99('paced') / p99('idle');
  const flood = rounds.flatMap(({ visits }) => visits.slice(1));
  const rate = medianBy(flood, ({ statuses, seconds }) => (statuses['200'] ?? 0) / seconds);
  return [
    table(
      `Page of ten of ${count(nodes)} nodes, a hundred a second, beside visits`,
      ['', 'p50 ms', 'p99 ms', 'p99 × alone'],
      [
        row('alone', 'idle'),
        row(`${count(PER_SECOND)} visits a second`, 'paced'),
        row(`visits without a pause, ${number(rate)} a second`, 'flooded'),
      ],
    ),
    `p99 beside ${PER_SECOND} visits a second, × alone, target ≤ ${LIST_RATIO}: ${verdict(ratio <= LIST_RATIO)}.`,
    '',
  ].join('\n');
}

function memoryTable({ marks }: VisitResults): string {
  const rows = marks.map(({ visits, memory }) => [
    count(visits),
    megabytes(memory.heapUsed),
    megabytes(memory.arrayBuffers),
    megabytes(memory.rss),
  ]);
  const growth = (of: keyof Memory): number => (marks.at(-1)?.memory[of] ?? 0) - (marks[0]?.memory[of] ?? 0);
  const judged = (name: string, of: keyof Memory, most: number): string =>
    `${name} ${megabytes(growth(of))}, target ≤ ${megabytes(most)}: ${verdict(growth(of) <= most)}`;
  return [
    table('Memory after so many visits, all garbage collected', ['visits', 'heap', 'buffers', 'resident'], rows),
    `Growth from the first to the last: ${judged('heap', 'heapUsed', GROWTH.heap)}; ${judged('resident', 'rss', GROWTH.resident)}.`,
    '',
  ].join('\n');
}
