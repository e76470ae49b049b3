import type { SimulatedCluster } from '../dev/cluster/cluster.ts';
import type { NewObject } from '../dev/cluster/kube-object.ts';
import { type Bench, listPlan } from './bench.ts';
import type { LoadReport } from './load/load.ts';
import { NODE_BYTES, startSimulated } from './peers/clusters.ts';
import { startGatehouse } from './peers/gatehouse.ts';
import { CODINGS, type Coding, fetchSettledGzip, type Peer } from './peers/peer.ts';
import { median, ratios } from './statistics.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

/** A list of many namespaces beside a list of nodes that has as many bytes, in one coding. */
interface NamespaceRound {
  readonly coding: Coding;
  readonly namespaces: LoadReport;
  readonly nodes: LoadReport;
}

export interface NamespaceResults {
  readonly namespaces: number;
  readonly nodes: number;
  readonly rounds: readonly NamespaceRound[];
}

const NAMESPACES = 5_000;

/** The least ratio of bytes per second, namespaces to nodes. Gzip bodies differ too much in size, so their ratio has no target. */
const LEAST_RATIO = 0.9;

/** What the API server and Gatehouse add to a namespace and to a node: uid, version, links, usage. */
const ADDED_TO_NAMESPACE = 160;
const ADDED_TO_NODE = 550;

/** Measures both kinds alternately, on one Gatehouse. */
export async function measureNamespaces(bench: Bench): Promise<NamespaceResults> {
  const objects = Array.from({ length: NAMESPACES }, (_, at) => makeNamespace(at));
  const bytes = objects.reduce((sum, object) => sum + JSON.stringify(object).length, 0);
  const nodes = Math.round((bytes + NAMESPACES * ADDED_TO_NAMESPACE) / (NODE_BYTES + ADDED_TO_NODE));
  bench.note(`a list of ${NAMESPACES} namespaces beside one of ${nodes} nodes`);
  const simulation = await startSimulated(nodes);
  createAll(simulation.cluster, objects);
  const gatehouse = await startGatehouse(bench.children, { ...simulation, name: 'kinds' });
  const namespaces = { ...gatehouse, listPath: gatehouse.listPath.replace(/nodes$/, 'namespaces') };
  for (const peer of [namespaces, gatehouse]) await fetchSettledGzip(peer);
  const rounds = await measureRounds(bench, namespaces, gatehouse);
  for (const part of [gatehouse, simulation]) await part.stop();
  return { namespaces: NAMESPACES, nodes, rounds };
}

/** A namespace as in a platform with workspaces: some labels, some annotations, 1 kB in all. */
function makeNamespace(at: number): NewObject {
  const name = `team-${String(at).padStart(5, '0')}`;
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/metadata.name': name,
        'example.test/workspace': `workspace-${at % 100}`,
        'pod-security.kubernetes.io/enforce': at % 3 === 0 ? 'restricted' : 'baseline',
      },
      annotations: {
        'gatehouse.io/alias-name': `team ${at}`,
        'example.test/creator': `user-${at % 700}`,
        'example.test/description': `what team ${at} runs for workspace ${at % 100} `.repeat(10),
      },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

function createAll({ objects }: SimulatedCluster, namespaces: readonly NewObject[]): void {
  for (const namespace of namespaces) objects.create('namespaces', namespace);
}

async function measureRounds({ generator, options }: Bench, namespaces: Peer, nodes: Peer): Promise<NamespaceRound[]> {
  const rounds: NamespaceRound[] = [];
  for (let round = 0; round < options.rounds; round++)
    for (const coding of CODINGS) {
      const ofNamespaces = await generator.load(listPlan(namespaces, coding, options.seconds));
      const ofNodes = await generator.load(listPlan(nodes, coding, options.seconds));
      rounds.push({ coding, namespaces: ofNamespaces, nodes: ofNodes });
    }
  return rounds;
}

/** The two lists as text: a table with its target. */
export function printNamespaces({ namespaces, nodes, rounds }: NamespaceResults): string {
  const rows = CODINGS.map((coding) => {
    const own = rounds.filter((round) => round.coding === coding);
    const rates = (of: 'namespaces' | 'nodes'): number[] => own.map((round) => round[of].requestsPerSecond);
    const bytes = (of: 'namespaces' | 'nodes'): string => megabytes(own[0]?.[of].bytesPerAnswer);
    const sent = (of: 'namespaces' | 'nodes'): number[] =>
      own.map((round) => round[of].requestsPerSecond * round[of].bytesPerAnswer);
    const ratio = median(ratios(sent('namespaces'), sent('nodes')));
    const judged = coding === 'identity' ? [`≥ ${LEAST_RATIO}`, verdict(ratio >= LEAST_RATIO)] : ['–', ''];
    const figures = [median(rates('namespaces')), median(rates('nodes')), ratio].map(number);
    return [coding, bytes('namespaces'), bytes('nodes'), ...figures, ...judged];
  });
  const head = [
    '',
    'namespaces',
    'nodes',
    'namespaces, requests/s',
    'nodes, requests/s',
    'bytes/s: ratio',
    'target',
    '',
  ];
  return table(
    `A list of ${count(namespaces)} namespaces beside one of ${count(nodes)} nodes, 8 connections`,
    head,
    rows,
  );
}
