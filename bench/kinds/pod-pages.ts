import { type Bench, listPlan } from '../bench.ts';
import type { LoadReport } from '../load/load.ts';
import { startBare } from '../peers/bare.ts';
import { startGatehouse } from '../peers/gatehouse.ts';
import { fetchList, fetchSettledGzip, type Peer } from '../peers/peer.ts';
import { quantile } from '../statistics.ts';
import { askFirst, expectSome, expectTotal, withKind } from './asking.ts';
import { podCluster } from './pod-clusters.ts';
import { namespaceName, podOf } from './pods.ts';
import type { KindSizes } from './sizes.ts';

/** Pages and whole lists of pods at each server, in one round. */
interface PodRound {
  readonly name: string;
  /** A page on one connection, so that its time is that of its own work. */
  readonly alone: LoadReport;
  /** The same page on eight connections. */
  readonly page: LoadReport;
  /** The same request at kube-apiserver without order and filters that it does not have. */
  readonly peer: LoadReport | undefined;
}

interface ListRound {
  readonly gatehouse: LoadReport;
  readonly bare: LoadReport;
  readonly peer: LoadReport | undefined;
}

export interface PodResults {
  readonly pods: number;
  readonly cluster: string;
  readonly version: string | undefined;
  readonly pages: readonly PodRound[];
  readonly lists: readonly ListRound[];
  /** From a change of a pod in the cluster to the first list that shows it. */
  readonly visibleP50Ms: number;
  readonly visibleP99Ms: number;
}

const NAMESPACES = 100;
const TRIES = 300;
const EVERY_MS = 10;
const TIMEOUT_MS = 10_000;
const SELECTOR = `labelSelector=${encodeURIComponent('tier=front')}`;

/** Ours with a filter and an order, kube-apiserver's plain page. */
const PAGES = [
  { name: 'filter and order', ours: 'limit=10&sortBy=name&ascending=true&nodeName=worker-7', theirs: 'limit=10' },
  {
    name: '… and label selector',
    ours: `limit=10&sortBy=name&nodeName=worker-7&${SELECTOR}`,
    theirs: `limit=10&${SELECTOR}`,
  },
] as const;

/** One cluster for all: what the servers answer is of the same objects. */
export async function measurePods(bench: Bench, { pods }: KindSizes): Promise<PodResults> {
  const cluster = await podCluster(bench, { pods, namespaces: NAMESPACES });
  const started = await startGatehouse(bench.children, { ...cluster, name: 'kinds-pods' });
  const gatehouse = withKind(started, 'pods');
  expectTotal(await askFirst(gatehouse.target, `${gatehouse.listPath}?limit=1`), pods);
  for (const { ours } of PAGES) await expectSome(gatehouse.target, `${gatehouse.listPath}?${ours}`, pods);
  const content = {
    gzip: (await fetchSettledGzip(gatehouse)).content,
    identity: (await fetchList(gatehouse, 'identity')).content,
  };
  const bare = await startBare(bench.children, content);
  bench.note(`pages and lists of ${pods} pods`);
  const results: PodResults = {
    pods,
    cluster: cluster.name,
    version: cluster.version,
    pages: await measurePages(bench, gatehouse, cluster.peer),
    lists: await measureLists(bench, { gatehouse, bare, peer: cluster.peer }),
    ...(await measureVisible(bench, { cluster: cluster.target, gatehouse: gatehouse.target }, pods)),
  };
  for (const part of [bare, started, cluster]) await part.stop();
  return results;
}

async function measurePages({ generator, options }: Bench, gatehouse: Peer, peer?: Peer): Promise<PodRound[]> {
  const rounds: PodRound[] = [];
  for (let round = 0; round < options.rounds; round++)
    for (const { name, ours, theirs } of PAGES) {
      const plan = { ...listPlan(gatehouse, 'identity', options.seconds), path: `${gatehouse.listPath}?${ours}` };
      const alone = await generator.load({ ...plan, connections: 1 });
      const page = await generator.load(plan);
      const path = `${peer?.listPath}?${theirs}`;
      const beside = peer && (await generator.load({ ...listPlan(peer, 'identity', options.seconds), path }));
      rounds.push({ name, alone, page, peer: beside });
    }
  return rounds;
}

async function measureLists(
  { generator, options }: Bench,
  { gatehouse, bare, peer }: { gatehouse: Peer; bare: Peer; peer: Peer | undefined },
): Promise<ListRound[]> {
  const rounds: ListRound[] = [];
  const load = (server: Peer): Promise<LoadReport> => generator.load(listPlan(server, 'identity', options.seconds));
  for (let round = 0; round < options.rounds; round++)
    rounds.push({ gatehouse: await load(gatehouse), bare: await load(bare), peer: peer && (await load(peer)) });
  return rounds;
}

/** Pods of the first namespace change a hundred times a second. */
async function measureVisible(
  { generator }: Bench,
  targets: Pick<Parameters<Bench['generator']['visible']>[0], 'cluster' | 'gatehouse'>,
  pods: number,
): Promise<Pick<PodResults, 'visibleP50Ms' | 'visibleP99Ms'>> {
  const namespace = namespaceName(0);
  const own = Array.from({ length: pods }, (_, index) => podOf({ index, namespaces: NAMESPACES }).metadata).filter(
    (metadata) => metadata.namespace === namespace,
  );
  const { latenciesMs } = await generator.visible({
    ...targets,
    listPath: `/kapis/resources.gatehouse.io/v1alpha3/namespaces/${namespace}/pods`,
    objectsPath: `/api/v1/namespaces/${namespace}/pods`,
    nodes: own.map(({ name }) => name),
    tries: TRIES,
    everyMs: EVERY_MS,
    timeoutMs: TIMEOUT_MS,
  });
  return { visibleP50Ms: quantile(latenciesMs, 0.5), visibleP99Ms: quantile(latenciesMs, 0.99) };
}
