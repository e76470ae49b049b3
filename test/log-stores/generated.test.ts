import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wordsOf } from '../../dev/log-store/words.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';
import { type GeneratedQuery, generatedQuery, LIST_NAMES, parametersOf } from './generated-query.ts';
import { generatedText } from './generated-text.ts';
import { type ExpectedAnswer, LogOracle, type Rights } from './log-oracle.ts';
import { READER_PEOPLE, READERS, readersCluster, readersNamespaces } from './log-readers.ts';
import { type StoreStand, startStoreStand } from './store-stand.ts';

const QUERIES = Number(process.env['LOG_QUERIES'] ?? 2_000);
/** The store searches while the test compares. */
const AT_ONCE = 4;
const TEXTS = 1_000;
/** Many times what it takes on two quiet cores. */
const LIMIT_MS = 900_000;
/**
 * The same in each run: what is compared is our reading of somebody else's rules, of which no end is to be seen. A run with another
 * seed is for whoever changes that reading.
 */
const seed = Number(process.env['LOG_SEED'] ?? 1_829_213_673);
/** With its headers, a request has at most 16 KiB. */
const LONGEST_URL = 12_000;

const records = logRecords();
const oracle = new LogOracle({ records, namespaces: readersNamespaces(), now: Date.now });
const query = generatedQuery({ records, callers: Object.keys(READERS) }).filter((one) => lengthOf(one) < LONGEST_URL);

const some = fc.array(query, { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' });

describe.each(['opensearch-2', 'elasticsearch-7'] as const)('%s', (name) => {
  let stand: StoreStand;

  beforeAll(async () => {
    const objects = readersCluster(OBSERVED_CONFIG.platform);
    stand = await startStoreStand({ name, records, objects, people: READER_PEOPLE });
    // One segment, so that the first endings of a word are those of the whole index.
    await stand.store.ask('POST', '/ks-logstash-log-*/_forcemerge?max_num_segments=1');
  });

  afterAll(() => stand?.stop());

  test(
    `answers ${QUERIES} generated queries as the records in memory say (LOG_SEED=${seed})`,
    async () => {
      const tally = new Tally();
      const check = async (one: GeneratedQuery): Promise<void> => {
        const rights = READERS[one.who] as Rights;
        const expected = oracle.answer(one, rights);
        const { status, text } = await stand.ask(one.who, parametersOf(one));
        if (name === 'opensearch-2' && sharesEndings(one, rights, expected)) {
          // How many endings are looked at depends on all clauses: what is found then is no part of the promise.
          expect(status).toBe(200);
          return tally.addShared();
        }
        const body = status !== 200 ? undefined : one.operation === 'export' ? text : JSON.parse(text);
        // Vitest takes ten times as long to find two thousand records equal.
        if (status !== expected.status || !isDeepStrictEqual(body, expected.body))
          expect({ status, body }).toEqual({ status: expected.status, body: expected.body });
        tally.add(one, expected.status === 200 ? expected.found : undefined);
      };
      const property = fc.asyncProperty(some, async (queries) => {
        await Promise.all(queries.map(check));
      });
      await fc.assert(property, { numRuns: QUERIES / AT_ONCE, seed });
      console.log(`${name}: ${tally.text()}`);
      expect(tally.isRich()).toBe(true);
    },
    LIMIT_MS,
  );

  test(`cuts ${TEXTS} generated texts into the words that the simulated store has (LOG_SEED=${seed})`, async () => {
    const property = fc.asyncProperty(generatedText, async (text) => {
      const { tokens } = (await stand.store.ask('POST', '/_analyze', {
        analyzer: 'standard',
        text,
      })) as unknown as Analysis;
      expect(wordsOf(text)).toEqual(tokens.map(({ token }) => token));
    });
    await fc.assert(property, { numRuns: TEXTS, seed });
  });
});

/** OpenSearch 2 leaves this many clauses for endings, whatever else a generated query asks for. */
const SHARED_ENDINGS = 400;

/** Whether what is found depends on how many endings the phrases leave one another. */
function sharesEndings({ lists, ...one }: GeneratedQuery, rights: Rights, { status, found }: ExpectedAnswer): boolean {
  const count = PHRASE_LISTS.reduce((sum, list) => sum + (lists[list]?.join(',').split(',').length ?? 0), 0);
  if (status !== 200 || count === 0) return false;
  const fewest = oracle.answer({ ...one, lists }, rights, Math.floor(SHARED_ENDINGS / count));
  return fewest.found !== found;
}

const PHRASE_LISTS = ['workload_query', 'pod_query', 'container_query', 'log_query'] as const;

interface Analysis {
  readonly tokens: readonly { readonly token: string }[];
}

const lengthOf = (one: GeneratedQuery): number => new URLSearchParams(parametersOf(one)).toString().length;

/** What was asked, so that a run shows that it asked for much. */
class Tally {
  readonly #counts = new Map<string, number>();
  #largest: GeneratedQuery | undefined;

  /** `found` is undefined where the query is refused. */
  add(one: GeneratedQuery, found: number | undefined): void {
    const operation = one.operation ?? 'query';
    const names = ['all', operation, `by ${one.who}`, ...Object.keys(parametersOf(one))];
    if (found === undefined) names.push('refused');
    else if (found > 0) names.push('with records', `${operation} with records`, `by ${one.who} with records`);
    for (const [list] of Object.entries(one.lists)) if (found) names.push(`${list} with records`);
    if (oracle.cutPhrases(one) > 0) names.push('with too many endings');
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    if (!this.#largest || lengthOf(one) > lengthOf(this.#largest)) this.#largest = one;
  }

  /** A query of which only the status was compared. */
  addShared(): void {
    this.#counts.set('not compared', (this.#counts.get('not compared') ?? 0) + 1);
  }

  text(): string {
    const counts = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`);
    const largest = this.#largest ? JSON.stringify(parametersOf(this.#largest)) : '';
    return `${counts.join(', ')}; the largest query has ${largest.length} characters: ${largest.slice(0, 500)}`;
  }

  /** Each operation, caller and list is there, and finds something, in one of a hundred queries or more. */
  isRich(): boolean {
    const least = QUERIES / 100;
    const operations = ['query', 'statistics', 'histogram', 'export'].map((name) => `${name} with records`);
    const callers = Object.keys(READERS).map((who) => (who === 'olga' ? `by ${who}` : `by ${who} with records`));
    const lists = LIST_NAMES.map((name) => `${name} with records`);
    const names = [
      ...operations,
      ...callers,
      ...lists,
      'refused',
      'with too many endings',
      'start_time',
      'end_time',
      'interval',
      'sort',
      'from',
      'size',
    ];
    return names.every((name) => (this.#counts.get(name) ?? 0) >= least);
  }
}
