import type { Clock } from '../runtime/clock.ts';
import { ByteBudget } from '../runtime/limits/byte-budget.ts';
import { isOfTheQuestion } from '../runtime/limits/circuit-breaker.ts';
import { type SharedCallParts, SharedCalls } from '../runtime/limits/shared-calls.ts';
import { RecentReports } from '../runtime/recent-reports.ts';
import type { PrometheusMetrics } from './metrics.ts';
import { allNodes, CLUSTER_QUERIES, NODE_QUERIES } from './named-queries.ts';
import { nodeMatcher } from './node-matcher.ts';
import { askPrometheus, type PrometheusClient, PrometheusFault, QUERY_LIMIT_MS, type Series } from './prometheus.ts';
import type { Question } from './question.ts';
import { inRank, type RankedPage, rankNodes } from './ranking.ts';
import { RecentSeries, valuesIn } from './recent-series.ts';
import { asQueryFault, TooManyValues, toPublicText } from './refusals.ts';

export type MetricLevel = 'cluster' | 'node';

/** A metric in an answer. With an error it has no series. */
interface MetricResult {
  readonly metric_name: string;
  readonly data: { readonly resultType: 'vector' | 'matrix'; readonly result: readonly Series[] };
  readonly error?: string;
}

/** An answer as 3.4 writes it. */
export interface MetricAnswer {
  readonly results: readonly MetricResult[];
  readonly page?: number;
  readonly total_page?: number;
  readonly total_item?: number;
}

export interface MetricReaderParts extends Omit<SharedCallParts, 'clock'> {
  readonly clock: Clock;
  readonly client: PrometheusClient;
  readonly metrics: PrometheusMetrics;
}

/**
 * A page asks for some 20 metrics. Prometheus evaluates 20 queries at a time for everybody (`query.max-concurrency`); with several
 * replicas of ours the others keep most of these.
 */
const QUERIES = { maxInFlight: 4, maxWaiting: 400, maxWaitingOfOne: 100, timeoutMs: QUERY_LIMIT_MS };
const WORDS = { fail: 'queries to Prometheus fail', recover: 'Prometheus answers again' };
/** The most values that all answers in the making have: some 50 MB. The nodes of a cluster of 15,000 have 15,000 of a metric. */
const MOST_VALUES = 400_000;

/** The names that are offered. */
export const offeredMetrics: Readonly<Record<MetricLevel, readonly string[]>> = {
  cluster: [...CLUSTER_QUERIES.keys()],
  node: [...NODE_QUERIES.keys()],
};

/**
 * Answers questions about metrics from Prometheus. A few queries are in flight at a time, shared fairly by the callers. Equal queries
 * share one request, and an answer is used for some seconds; so all callers must have the same right, which the routes check.
 */
export class MetricReader {
  readonly #parts: MetricReaderParts;
  readonly #calls: SharedCalls<readonly Series[]>;
  readonly #recent: RecentSeries;
  readonly #reports: RecentReports;
  readonly #budget = new ByteBudget(MOST_VALUES);

  constructor(parts: MetricReaderParts) {
    this.#parts = parts;
    this.#calls = new SharedCalls({ ...QUERIES, words: WORDS }, parts);
    this.#recent = new RecentSeries(parts.clock);
    this.#reports = new RecentReports(parts.clock);
    parts.metrics.showLoad(() => this.#calls.load);
  }

  /**
   * The metrics of a question. What fails is told in the metric, so that the others are shown. `user` is whose share of the queries
   * counts. `release` gives back the room of the answer, and must be called once.
   */
  async answer(
    level: MetricLevel,
    question: Question,
    user: string,
  ): Promise<{ readonly answer: MetricAnswer; release(): void }> {
    const room = new Room(this.#budget);
    try {
      return { answer: await this.#answer(level, question, { user, room }), release: () => room.release() };
    } catch (error) {
      room.release();
      throw error;
    }
  }

  async #answer(level: MetricLevel, question: Question, asking: Asking): Promise<MetricAnswer> {
    const { ranking } = question;
    if (!ranking) return { results: await this.#results(level, question, asking) };
    const ranked = await this.#ranked(question, asking);
    if (!ranked) return { results: await this.#results(level, question, asking) };
    const { nodes, page, totalPages, totalItems } = ranked;
    const results = nodes.length === 0 ? [] : await this.#results(level, { ...question, nodes }, asking);
    return {
      results: results.map((one) => (one.error === undefined ? placed(one, nodes) : one)),
      page,
      total_page: totalPages,
      total_item: totalItems,
    };
  }

  /** `undefined` if the order cannot be found, which the metric itself will tell. */
  async #ranked({ nodes, ranking, time }: Question, asking: Asking): Promise<RankedPage | undefined> {
    const query = ranking && NODE_QUERIES.get(ranking.metric);
    if (!query) return undefined;
    const matcher = nodeMatcher(nodes);
    const ask = (text: string) => this.#series(text, time, asking);
    try {
      const [all, values] = await Promise.all([ask(allNodes(matcher)), ask(query(matcher))]);
      return rankNodes(all, values, ranking);
    } catch (error) {
      toPublicText(error); // throws what is no failure of Prometheus
      return undefined;
    }
  }

  #results(level: MetricLevel, { metrics, nodes, time }: Question, asking: Asking): Promise<readonly MetricResult[]> {
    const matcher = nodeMatcher(nodes);
    const resultType = 'start' in time ? 'matrix' : 'vector';
    return Promise.all(
      metrics.map(async (name): Promise<MetricResult> => {
        const query = level === 'cluster' ? CLUSTER_QUERIES.get(name) : NODE_QUERIES.get(name)?.(matcher);
        try {
          const result = await this.#series(query ?? '', time, asking);
          return { metric_name: name, data: { resultType, result } };
        } catch (error) {
          const text = toPublicText(error);
          return { metric_name: name, data: { resultType, result: [] }, error: text };
        }
      }),
    );
  }

  async #series(query: string, time: Question['time'], { user, room }: Asking): Promise<readonly Series[]> {
    const { client, metrics, logger } = this.#parts;
    const key = JSON.stringify([query, time]);
    const known = this.#recent.get(key);
    try {
      let isOwn = false;
      const series =
        known ??
        (await this.#calls.ask({ key, flow: user }, async (signal) => {
          isOwn = true;
          const found = await askPrometheus(client, query, time, signal).catch((error) => {
            throw asQueryFault(error);
          });
          this.#recent.set(key, found);
          return found;
        }));
      room.take(valuesIn(series));
      metrics.counted(isOwn ? 'answered' : 'shared');
      return series;
    } catch (error) {
      metrics.counted('failed');
      // What concerns Prometheus itself is logged by the calls.
      if (error instanceof PrometheusFault && isOfTheQuestion(error) && this.#reports.isNews(error.message))
        logger.warn({ err: error }, 'Prometheus refuses a query');
      throw error;
    }
  }
}

interface Asking {
  readonly user: string;
  readonly room: Room;
}

const placed = (one: MetricResult, nodes: readonly string[]): MetricResult => ({
  ...one,
  data: { ...one.data, result: inRank(one.data.result, nodes) },
});

/** The share of one answer in the memory for all. */
class Room {
  readonly #budget: ByteBudget;
  #taken = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  take(values: number): void {
    if (!this.#budget.take(values)) throw new TooManyValues('no room for the values');
    this.#taken += values;
  }

  release(): void {
    this.#budget.give(this.#taken);
    this.#taken = 0;
  }
}
