import { type RealStore, startStore } from '../../test/log-stores/real-store.ts';
import type { Bench } from '../bench.ts';
import { type Ask, Connection, requestBytes, type Target } from '../load/connection.ts';
import { residentGrowth } from '../load/resident-watch.ts';
import { startSimulated } from '../peers/clusters.ts';
import { DEPLOYED_HEAP, type Gatehouse, startGatehouse } from '../peers/gatehouse.ts';
import { HEAP_WATCH } from '../peers/memory.ts';
import { median, quantile } from '../statistics.ts';
import { count, megabytes, number, table, verdict } from '../table.ts';
import { SEARCHED_KINDS, type SearchedKind } from './searched-kinds.ts';
import { askOfStore } from './store-ask.ts';

/** Searches of logs, events and audit records, compared with the store's own answers; and what many of them leave in memory. */
export interface SearchesResults {
  readonly kinds: readonly KindResults[];
}

interface KindResults {
  readonly name: string;
  readonly documents: number;
  /** How many of them the search finds. */
  readonly found: number;
  readonly rounds: readonly SearchRound[];
  readonly memory: SearchMemory;
}

/** The milliseconds of each search of a round. */
interface SearchRound {
  readonly store: readonly number[];
  readonly ours: readonly number[];
}

/** What grew during many searches, in bytes. */
interface SearchMemory {
  /** Resident memory: its highest value less the one before. */
  readonly grown: number;
  /** Heap and buffers after a collection of all garbage: after the searches less before. */
  readonly kept: number;
}

const NODES = 100;
const SEARCHES = 400;
/** The searches during which memory is watched; half as many come before. */
const MANY = 2_000;
/** From 2026-03-06 to the first second of 2026-03-09. */
const DAYS = { start: 1_772_755_200, end: 1_773_014_400 };

const ADDED_P50_MS = 3;
const MOST_GROWN_BYTES = 16e6;
const MOST_KEPT_BYTES = 1e6;

/** A search at the store and at Gatehouse. */
interface SearchPair {
  readonly store: AskedTarget;
  readonly ours: AskedTarget;
}

interface AskedTarget {
  readonly target: Target;
  readonly ask: Ask;
}

export async function measureSearches(bench: Bench): Promise<SearchesResults> {
  const simulation = await startSimulated(NODES);
  const store = await startStore('opensearch-2');
  const host = { host: store.url };
  const gatehouse = await startGatehouse(bench.children, {
    ...simulation,
    name: 'searches',
    settings: Object.fromEntries(SEARCHED_KINDS.map(({ section }) => [section, host])),
    nodeArguments: [...DEPLOYED_HEAP, ...HEAP_WATCH],
  });
  const kinds: KindResults[] = [];
  for (const searched of SEARCHED_KINDS) kinds.push(await measureKind(bench, { searched, store, gatehouse }));
  for (const part of [gatehouse, store, simulation]) await part.stop();
  return { kinds };
}

interface KindParts {
  readonly searched: SearchedKind;
  readonly store: RealStore;
  readonly gatehouse: Gatehouse;
}

async function measureKind(bench: Bench, { searched, store, gatehouse }: KindParts): Promise<KindResults> {
  const { name } = searched.kind;
  const documents = searched.documents();
  bench.note(`${name}: loading ${count(documents.length)} documents`);
  await store.add(documents);
  const pair: SearchPair = {
    store: {
      target: { port: Number(new URL(store.url).port), headers: {} },
      ask: await askOfStore(searched, DAYS),
    },
    ours: { target: gatehouse.target, ask: askOfGatehouse(searched) },
  };
  const found = await foundByBoth(name, pair);
  // The store, too, compiles what it runs often: until then its answers become faster from one round to the next.
  for (const side of [pair.store, pair.ours]) await samples(bench, side, SEARCHES);
  const rounds: SearchRound[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    bench.note(`${name}, round ${round}`);
    rounds.push({
      store: await samples(bench, pair.store, SEARCHES),
      ours: await samples(bench, pair.ours, SEARCHES),
    });
  }
  bench.note(`${name}: memory during ${count(MANY)} searches`);
  return { name, documents: documents.length, found, rounds, memory: await measureMemory(bench, gatehouse, pair.ours) };
}

function askOfGatehouse({ path, parameters }: SearchedKind): Ask {
  const time = { start_time: `${DAYS.start}`, end_time: `${DAYS.end}` };
  return { path: `${path}?${new URLSearchParams({ ...time, ...parameters })}` };
}

const samples = async ({ generator }: Bench, { target, ask }: AskedTarget, times: number): Promise<readonly number[]> =>
  (await generator.samples({ target, asks: Array.from({ length: times }, () => ask), status: 200 })).latenciesMs;

/** The total that both find. Throws if they differ or find nothing: then they would not do the same work. */
async function foundByBoth(name: string, { store, ours }: SearchPair): Promise<number> {
  const [stored, found] = [await bodyOf(store), await bodyOf(ours)];
  const [there, here] = [stored.hits?.total.value, found.query?.total];
  if (there === undefined || there === 0 || there !== here)
    throw new Error(`of the ${name} the store finds ${there}, and Gatehouse ${here}`);
  return there;
}

/** What the answers of both say of totals. */
interface Totals {
  readonly hits?: { readonly total: { readonly value: number } };
  readonly query?: { readonly total: number };
}

async function bodyOf({ target, ask }: AskedTarget): Promise<Totals> {
  const connection = await Connection.open(target);
  try {
    const { content } = await connection.fetch(requestBytes(target, ask));
    return JSON.parse(content.toString()) as Totals;
  } finally {
    connection.close();
  }
}

/** The first of the searches give the young heap its size. */
async function measureMemory(bench: Bench, gatehouse: Gatehouse, ours: AskedTarget): Promise<SearchMemory> {
  await samples(bench, ours, MANY / 2);
  const before = await gatehouse.takeMemory();
  const { grown } = await residentGrowth(gatehouse, () => samples(bench, ours, MANY));
  const after = await gatehouse.takeMemory();
  const heldIn = ({ heapUsed, arrayBuffers }: typeof before): number => heapUsed + arrayBuffers;
  return { grown, kept: heldIn(after) - heldIn(before) };
}

/** The results as text: a table with targets. */
export function printSearches({ kinds }: SearchesResults): string {
  const judged = (isGood: boolean, ...cells: readonly string[]): string[] => [...cells, verdict(isGood)];
  const rows = kinds.flatMap(({ name, documents, found, rounds, memory }) => {
    const p50s = (of: keyof SearchRound): number => median(rounds.map((round) => quantile(round[of], 0.5)));
    const added = median(rounds.map(({ ours, store }) => quantile(ours, 0.5) - quantile(store, 0.5)));
    const { grown, kept } = memory;
    return [
      [`${name}: ${count(found)} of ${count(documents)}, at the store, p50, ms`, number(p50s('store')), '', ''],
      [`${name}: the same through Gatehouse, p50, ms`, number(p50s('ours')), '', ''],
      [`${name}: added, ms`, ...judged(added <= ADDED_P50_MS, number(added), `≤ ${ADDED_P50_MS}`)],
      [
        `${name}: resident memory grown by ${count(MANY)} searches`,
        ...judged(grown <= MOST_GROWN_BYTES, megabytes(grown), `≤ ${megabytes(MOST_GROWN_BYTES)}`),
      ],
      [
        `${name}: heap and buffers kept of them`,
        ...judged(kept <= MOST_KEPT_BYTES, megabytes(kept), `≤ ${megabytes(MOST_KEPT_BYTES)}`),
      ],
    ];
  });
  return table('Searches in front of OpenSearch 2', ['', 'measured', 'target', ''], rows);
}
