import { writeFile } from 'node:fs/promises';
import { availableMemory } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiRequest } from '../dev/cluster/request.ts';
import { hashPassword } from '../src/users/password-hash.ts';
import type { Bench } from './bench.ts';
import { startChurn } from './churn.ts';
import { drawCharts } from './curve.ts';
import { COSTS, costsOf, costTable, type GrowthRound } from './growth-costs.ts';
import { pageOf, seriesOf } from './load/metrics.ts';
import type { Pair, StayPlan, StayReport } from './load/people.ts';
import { memoryOf, processorSecondsOf } from './load/usage.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import {
  BENCH_HASH_COST,
  DEPLOYED_HEAP,
  fourDigits,
  type Gatehouse,
  signInAsk,
  startGatehouse,
  tokenAsk,
  withoutBearer,
} from './peers/gatehouse.ts';
import { createUserObject } from './peers/user-objects.ts';
import { count, megabytes, number, verdict } from './table.ts';

/** The same people with 1 to 16 replicas, and half of them with two. */
interface GrowthResults {
  readonly nodes: number;
  readonly pods: number;
  readonly rounds: readonly GrowthRound[];
  readonly fewer: GrowthRound;
}

const REPLICAS = [1, 2, 4, 8, 16];
/** The number of replicas that is measured with fewer people as well. */
const COMPARED = 2;
const PEOPLE = 48;
const NODES = 500;
const PODS_PER_NODE = 10;
/** Changes a second, as in a cluster of 3,000 nodes: every kubelet reports its status every five minutes. */
const NODE_CHANGES = 10;

/** Free memory that a replica needs, its share of the cluster and of the people included. */
const BYTES_EACH = 250e6;

/**
 * All features that cost the API server something. Decisions are renewed after 18 s instead of 90 s, because with `maxStaleness: 10m` a
 * round would take minutes; so the reviews in the background are five times as many as with the default.
 */
const SETTINGS = {
  users: { firstAdministrator: {} },
  accounts: { enabled: true },
  gateway: { enabled: true },
  sessions: { store: 'kubernetes' },
  authorization: { maxStaleness: '2m', shareQuestions: true },
};

/** It takes up to 20 s until a replica shares its questions. */
const SETTLE_MS = 24_000;
const MEASURE_MS = 14_000;
/** So that nobody leaves while the last figures are read. */
const SPARE_MS = 2_000;
const EVERY_MS = { list: 2_000, call: 4_000, refresh: 8_000 } as const;

export async function measureGrowth(bench: Bench): Promise<GrowthResults> {
  const rounds: GrowthRound[] = [];
  const fewer = await measureNoted(bench, COMPARED, PEOPLE / 2);
  for (const replicas of REPLICAS) {
    const free = availableMemory();
    if (free < replicas * BYTES_EACH) {
      bench.note(`${replicas} replicas are left out: ${megabytes(free)} of memory are free`);
      continue;
    }
    rounds.push(await measureNoted(bench, replicas, PEOPLE));
  }
  const results = { nodes: NODES, pods: NODES * PODS_PER_NODE, rounds, fewer };
  const { svg } = bench.options;
  if (svg !== undefined) await writeFile(svg, drawGrowth(rounds));
  return results;
}

/** Measures one number of replicas, and notes the figures: a later round may fail. */
async function measureNoted(bench: Bench, replicas: number, people: number): Promise<GrowthRound> {
  bench.note(`${replicas} replicas, ${people} people`);
  const round = await measureReplicas(bench, replicas, people);
  bench.note(COSTS.map(({ name, of, show = number }) => `${name}: ${show(of(round))}`).join('; '));
  return round;
}

async function measureReplicas(bench: Bench, replicas: number, people: number): Promise<GrowthRound> {
  const cluster = await startSimulated(NODES, PODS_PER_NODE);
  const password = 'Bench-Passw0rd';
  await populate(cluster, people, password);
  const running: Gatehouse[] = [];
  for (let nth = 1; nth <= replicas; nth++)
    running.push(
      await startGatehouse(bench.children, {
        ...cluster,
        name: `growth-${replicas}-${people}-${nth}`,
        settings: SETTINGS,
        nodeArguments: DEPLOYED_HEAP,
      }),
    );
  const syncBytes = cluster.cluster.bytesSent();
  const churn = startChurn(cluster.cluster.objects, { kind: 'nodes', perSecond: NODE_CHANGES });
  takeRequests(cluster.cluster);
  const signIns = Array.from({ length: people }, (_, at) => signInAsk(nameOf(at), password));
  const { pairs } = await bench.generator.arrivals({ replicas: running.map(withoutBearer), signIns });
  const [report, measured] = await Promise.all([
    bench.generator.stay(planFor(running, pairs)),
    measureStay(cluster, running),
  ]);
  await churn.stop();
  await Promise.all(running.map((gatehouse) => gatehouse.stop()));
  await cluster.stop();
  return {
    replicas,
    people,
    startToReadyMs: running.map(({ startToReadyMs }) => startToReadyMs),
    syncBytes,
    ...measured,
    answers: answersIn(report, (status) => status === '200'),
    failures: answersIn(report, (status) => status !== '200') + report.lostWatches,
  };
}

const nameOf = (at: number): string => `person-${fourDigits(at)}`;

/** Creates the people, and the right of everybody to read namespaces. */
async function populate({ cluster: { objects } }: Simulation, people: number, password: string): Promise<void> {
  const hash = await hashPassword(password, BENCH_HASH_COST);
  for (let at = 0; at < people; at++)
    createUserObject(objects, { name: nameOf(at), email: `${nameOf(at)}@example.com`, groups: [], hash });
  const apiGroup = 'rbac.authorization.k8s.io';
  objects.create('clusterroles', {
    metadata: { name: 'bench-reader' },
    rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }],
  });
  objects.create('clusterrolebindings', {
    metadata: { name: 'bench-readers' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'bench-reader' },
    subjects: [{ apiGroup, kind: 'Group', name: 'system:authenticated' }],
  });
}

function planFor(running: readonly Gatehouse[], pairs: readonly Pair[]): StayPlan {
  const listPath = running[0]?.listPath ?? '';
  return {
    replicas: running.map(withoutBearer),
    pairs,
    refresh: tokenAsk({ grant_type: 'refresh_token' }),
    watchPath: `${listPath}?watch=true`,
    listPath: `${listPath}?limit=10`,
    callPath: '/api/v1/namespaces/default',
    everyMs: EVERY_MS,
    stayMs: SETTLE_MS + MEASURE_MS + SPARE_MS,
  };
}

/** Waits until every replica knows what it will be asked, and then measures. */
async function measureStay({ cluster }: Simulation, running: readonly Gatehouse[]) {
  await sleep(SETTLE_MS);
  const arrival = costsOf(takeRequests(cluster));
  const before = await momentOf(cluster, running);
  await sleep(MEASURE_MS);
  const costs = costsOf(takeRequests(cluster));
  const after = await momentOf(cluster, running);
  const memory = await Promise.all(running.map(async (gatehouse) => (await memoryOf(gatehouse)).now ?? Number.NaN));
  const { evidence } = cluster;
  return {
    openWatches: evidence.openWatches(),
    openConnections: evidence.openConnections,
    memory,
    arrival,
    steady: {
      ...costs,
      seconds: (after.at - before.at) / 1_000,
      backgroundReviews: after.backgroundReviews - before.backgroundReviews,
      bytes: after.bytes - before.bytes,
      processorSeconds: after.processorSeconds - before.processorSeconds,
    },
  };
}

/** The cluster keeps 10,000 requests. When there are more, it drops the older half. */
const SURELY_ALL_BELOW = 5_000;

/** The requests since the last call. */
function takeRequests({ evidence }: Simulation['cluster']): readonly ApiRequest[] {
  const { requests } = evidence;
  if (requests.length >= SURELY_ALL_BELOW) throw new Error('the cluster may have dropped some of the requests');
  evidence.reset();
  return requests;
}

/** Time and bytes are of the moment of the call: on a busy machine the pages of all replicas take a while. */
async function momentOf(cluster: Simulation['cluster'], running: readonly Gatehouse[]) {
  const now = { at: performance.now(), bytes: cluster.bytesSent() };
  const processorSeconds = running.reduce((sum, { pid }) => sum + (processorSecondsOf(pid) ?? Number.NaN), 0);
  const pages = await Promise.all(running.map(pageOf));
  const background = (page: string): number =>
    ['allowed', 'denied', 'failed'].reduce(
      (sum, outcome) => sum + seriesOf(page, `gatehouse_authorization_background_reviews_total{outcome="${outcome}"}`),
      0,
    );
  return { ...now, processorSeconds, backgroundReviews: pages.reduce((sum, page) => sum + background(page), 0) };
}

const answersIn = ({ statuses }: StayReport, counts: (status: string) => boolean): number =>
  Object.entries(statuses).reduce((sum, [status, times]) => sum + (counts(status) ? times : 0), 0);

/** Growth as text: what every cost grows with. */
export function printGrowth({ nodes, pods, rounds, fewer }: GrowthResults): string {
  const failures = [...rounds, fewer].reduce((sum, round) => sum + round.failures, 0);
  const all = [...rounds, fewer].reduce((sum, round) => sum + round.answers, 0);
  return [
    `${count(nodes)} nodes and ${count(pods)} pods on the simulated API server. Everybody has a watch, and every connection of a person is to the next replica.`,
    `Each person lists every ${EVERY_MS.list / 1_000} s, calls the cluster every ${EVERY_MS.call / 1_000} s and refreshes every ${EVERY_MS.refresh / 1_000} s.`,
    `${count(all)} answers were 200; others, and watches that ended early: ${count(failures)}, target 0: ${verdict(failures === 0)}.`,
    '',
    costTable(rounds, fewer),
  ].join('\n');
}

/** The costs that the page explains, as a picture. */
function drawGrowth(rounds: readonly GrowthRound[]): string {
  const chart = (title: string, names: readonly string[]) => ({
    title,
    lines: COSTS.filter(({ name }) => names.includes(name)).map(({ name, of }) => ({
      name: name.replace(/ a second.*$/, (rest) => rest.replace(' a second', '')),
      points: rounds.map((round) => ({ x: round.replicas, y: of(round) })),
    })),
  });
  return drawCharts(
    [
      chart('Open watches at the API server', ['open watches']),
      chart('Access reviews a second', ['reviews a second for callers', 'reviews a second in the background']),
      chart('Writes a second', ['session writes a second', 'lease writes a second']),
    ],
    'replicas',
  );
}
