import { listPlan } from './compare.ts';
import type { LoadReport } from './load/load.ts';
import type { Bench } from './measure.ts';
import { startChurn } from './paced-changes.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { CODINGS, type Coding } from './peers/peer.ts';
import { startSimulated } from './peers/simulated.ts';

/** A page of ten out of many nodes beside a list of ten, in one coding. */
export interface PageRound {
  readonly coding: Coding;
  readonly page: LoadReport;
  readonly list: LoadReport;
}

export interface PageResults {
  readonly nodes: number;
  readonly pages: readonly PageRound[];
  /** A selector that matches a third, page of ten, one request after the other; one a round. */
  readonly selector: readonly LoadReport[];
  /** The same while a hundred nodes change a second, each in another way than the last. */
  readonly selectorChanging: readonly LoadReport[];
}

const MANY_NODES = 5_000;
const PAGE = 10;
/** The simulated cluster lays its workers out over three zones. */
const THIRD = encodeURIComponent('topology.kubernetes.io/zone=zone-b');
const CHANGES_PER_SECOND = 100;

/** Two clusters and a Gatehouse on each, measured in turn. */
export async function measurePages(bench: Bench): Promise<PageResults> {
  bench.note(`a page of ${PAGE} out of ${MANY_NODES} nodes beside the list of ${PAGE}`);
  const clusters = [await startSimulated(MANY_NODES), await startSimulated(PAGE)] as const;
  const many = await startGatehouse(bench.children, { ...clusters[0], name: 'pages-many' });
  const few = await startGatehouse(bench.children, { ...clusters[1], name: 'pages-few' });
  const pages = await measureRounds(bench, many, few);
  const selector = await measureSelector(bench, many);
  const churn = startChurn(clusters[0].cluster.objects, { kind: 'nodes', perSecond: CHANGES_PER_SECOND });
  const selectorChanging = await measureSelector(bench, many);
  await churn.stop();
  for (const part of [many, few, ...clusters]) await part.stop();
  return { nodes: MANY_NODES, pages, selector, selectorChanging };
}

async function measureRounds({ generator, extent }: Bench, many: Gatehouse, few: Gatehouse): Promise<PageRound[]> {
  const rounds: PageRound[] = [];
  for (let round = 0; round < extent.rounds; round++)
    for (const coding of CODINGS) {
      const plan = listPlan(many, coding, extent.seconds);
      const page = await generator.load({ ...plan, path: `${many.listPath}?limit=${PAGE}` });
      rounds.push({ coding, page, list: await generator.load(listPlan(few, coding, extent.seconds)) });
    }
  return rounds;
}

/** One connection: the time of an answer is its own work, not its place in a queue. */
async function measureSelector({ generator, extent }: Bench, many: Gatehouse): Promise<LoadReport[]> {
  const path = `${many.listPath}?labelSelector=${THIRD}&limit=${PAGE}`;
  const reports: LoadReport[] = [];
  for (let round = 0; round < extent.rounds; round++)
    reports.push(await generator.load({ ...listPlan(many, 'identity', extent.seconds), path, connections: 1 }));
  return reports;
}
