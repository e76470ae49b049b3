import type { ApiRequest } from '../dev/cluster/request.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

/** How much the API server is asked for. */
export interface ClusterCosts {
  /** Access reviews, for callers and in the background. */
  readonly reviews: number;
  /** Writes of session records. */
  readonly sessionWrites: number;
  /** Writes of the Secret by which replicas share their recent questions, those that met a conflict included. */
  readonly questionWrites: number;
  /** Writes of login records and of users' last logins. */
  readonly loginWrites: number;
  readonly leaseWrites: number;
  readonly leaseReads: number;
  /** Calls of people that the gateway passed on. */
  readonly calls: number;
}

const isWrite = ({ verb }: ApiRequest): boolean => ['create', 'update', 'patch'].includes(verb);

/** The name of the object that a write is about. That of a new object is only in the body. */
const nameIn = ({ target, body }: ApiRequest): string =>
  target?.name || ((JSON.parse(body.toString() || '{}') as { metadata?: { name?: string } }).metadata?.name ?? '');

/** Which requests of the API server are of which cost. */
const BELONGS: Readonly<Record<keyof ClusterCosts, (request: ApiRequest, kind: string) => boolean>> = {
  reviews: (_, kind) => kind === 'subjectaccessreviews',
  sessionWrites: (request, kind) =>
    kind === 'secrets' && isWrite(request) && nameIn(request).startsWith('gatehouse-sessions-'),
  questionWrites: (request, kind) =>
    kind === 'secrets' && isWrite(request) && nameIn(request) === 'gatehouse-recent-questions',
  loginWrites: (request, kind) => (kind === 'loginrecords' || kind === 'users') && isWrite(request),
  leaseWrites: (request, kind) => kind === 'leases' && isWrite(request),
  leaseReads: (request, kind) => kind === 'leases' && request.verb === 'get',
  calls: ({ impersonation }) => impersonation !== undefined,
};

/** Counts the requests of a time by what they are for. */
export function costsOf(requests: readonly ApiRequest[]): ClusterCosts {
  const countOf = (belongs: (typeof BELONGS)[keyof ClusterCosts]): number =>
    requests.filter((request) => belongs(request, request.target?.kind.plural ?? '')).length;
  const counts = Object.entries(BELONGS).map(([cost, belongs]) => [cost, countOf(belongs)]);
  return Object.fromEntries(counts) as unknown as ClusterCosts;
}

/** What an installation of so many replicas cost. */
export interface GrowthRound {
  readonly replicas: number;
  readonly people: number;
  /** For each replica, in the order of their starts. */
  readonly startToReadyMs: readonly number[];
  /** Bytes that the API server sent until all were ready. */
  readonly syncBytes: number;
  readonly openWatches: number;
  readonly openConnections: number;
  /** The resident bytes of each replica, at the end. */
  readonly memory: readonly number[];
  /** From the first sign-in until all replicas knew their questions. */
  readonly arrival: ClusterCosts;
  readonly steady: ClusterCosts & {
    readonly seconds: number;
    readonly backgroundReviews: number;
    /** Bytes that the API server sent. */
    readonly bytes: number;
    /** Processor time of all replicas together. */
    readonly processorSeconds: number;
  };
  /** Answers 200 to people, from the first arrival to the end. */
  readonly answers: number;
  /** Other answers, and watches that ended early. */
  readonly failures: number;
}

/** What a cost grows with. */
export type Nature = 'flat' | 'linear in replicas' | 'linear in people' | 'linear in both';

interface Cost {
  readonly name: string;
  /** What docs/growth.md says of it; absent where it says nothing so simple. */
  readonly nature?: Nature;
  of(round: GrowthRound): number;
  /** Default: `number`. */
  readonly show?: (value: number) => string;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const perSecond =
  (of: (steady: GrowthRound['steady']) => number): Cost['of'] =>
  ({ steady }) =>
    of(steady) / steady.seconds;

export const COSTS: readonly Cost[] = [
  { name: 'answers to people, in all', nature: 'linear in people', of: ({ answers }) => answers, show: count },
  { name: 'calls passed on a second', nature: 'linear in people', of: perSecond(({ calls }) => calls) },
  { name: 'open watches', nature: 'linear in replicas', of: ({ openWatches }) => openWatches, show: count },
  { name: 'open connections', of: ({ openConnections }) => openConnections, show: count },
  {
    name: 'bytes until all are ready',
    nature: 'linear in replicas',
    of: ({ syncBytes }) => syncBytes,
    show: megabytes,
  },
  {
    name: 'bytes a second, with 10 node changes',
    nature: 'linear in replicas',
    of: perSecond(({ bytes }) => bytes),
    show: (bytes) => `${number(bytes / 1e3)} kB`,
  },
  {
    name: 'reviews a second for callers',
    nature: 'linear in people',
    of: perSecond(({ reviews, backgroundReviews }) => reviews - backgroundReviews),
  },
  {
    name: 'reviews a second in the background',
    nature: 'linear in both',
    of: perSecond(({ backgroundReviews }) => backgroundReviews),
  },
  { name: 'session writes a second', nature: 'linear in people', of: perSecond(({ sessionWrites }) => sessionWrites) },
  { name: 'login writes by all sign-ins', nature: 'linear in people', of: ({ arrival }) => arrival.loginWrites },
  {
    name: 'writes of recent questions, in all',
    of: ({ arrival, steady }) => arrival.questionWrites + steady.questionWrites,
    show: count,
  },
  { name: 'lease writes a second', nature: 'flat', of: perSecond(({ leaseWrites }) => leaseWrites) },
  { name: 'lease reads a second', nature: 'linear in replicas', of: perSecond(({ leaseReads }) => leaseReads) },
  { name: 'memory of one replica', nature: 'flat', of: ({ memory }) => mean(memory), show: megabytes },
  { name: 'memory of all', nature: 'linear in replicas', of: ({ memory }) => sum(memory), show: megabytes },
  { name: 'start to ready, mean ms', of: ({ startToReadyMs }) => mean(startToReadyMs) },
  {
    name: 'processor time of all, ms a second',
    of: perSecond(({ processorSeconds }) => processorSeconds * 1_000),
  },
];

/** The share of proportional growth from which a cost counts as linear, and the growth up to which it counts as flat. */
const LINEAR_SHARE = 0.6;
const FLAT_UP_TO = 1.5;

/** Whether a cost grows with something that has grown by `factor`; undefined for growth in between, and for a cost that has fallen. */
function grows(growth: number, factor: number): boolean | undefined {
  if (growth >= Math.max(LINEAR_SHARE * factor, FLAT_UP_TO)) return true;
  return growth <= FLAT_UP_TO && growth >= 1 / FLAT_UP_TO ? false : undefined;
}

/** Two rounds that differ in one thing. */
interface Compared {
  readonly less: GrowthRound;
  readonly more: GrowthRound;
}

const growthOf = ({ of }: Cost, { less, more }: Compared): number => of(more) / of(less);

/** The nature of a cost, by its growth with replicas and with people; undefined where one of them is neither flat nor linear. */
export function natureOf(cost: Cost, replicas: Compared, people: Compared): Nature | undefined {
  const withReplicas = grows(growthOf(cost, replicas), replicas.more.replicas / replicas.less.replicas);
  const withPeople = grows(growthOf(cost, people), people.more.people / people.less.people);
  if (withReplicas === undefined || withPeople === undefined) return undefined;
  if (withReplicas) return withPeople ? 'linear in both' : 'linear in replicas';
  return withPeople ? 'linear in people' : 'flat';
}

/** `rounds`: the same people with ever more replicas. `fewer`: fewer people with as many replicas as one of them has. */
export function costTable(rounds: readonly GrowthRound[], fewer: GrowthRound): string {
  const same = rounds.find(({ replicas }) => replicas === fewer.replicas);
  const most = rounds.at(-1);
  if (!same || !most || most === same)
    throw new Error('growth needs two numbers of replicas, one of them with fewer people');
  // From two replicas on: one alone has nobody to share its questions with.
  const replicas = { less: same, more: most };
  const people = { less: fewer, more: same };
  const rows = COSTS.map((cost) => {
    const show = cost.show ?? number;
    const nature = natureOf(cost, replicas, people);
    return [
      cost.name,
      ...[...rounds, fewer].map((round) => show(cost.of(round))),
      number(growthOf(cost, replicas)),
      number(growthOf(cost, people)),
      cost.nature ?? '–',
      cost.nature ? verdict(nature === cost.nature) : '',
    ];
  });
  const head = [
    'replicas',
    ...rounds.map((round) => count(round.replicas)),
    `${fewer.replicas}, ${fewer.people} people`,
    `× by ${most.replicas / same.replicas} × replicas`,
    `× by ${number(same.people / fewer.people)} × people`,
    'said to be',
    '',
  ];
  return table(`What ${same.people} people cost the API server and the machine, by number of replicas`, head, rows);
}
