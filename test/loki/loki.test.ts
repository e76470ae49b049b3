import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { type GeneratedQuery, generatedQuery, parametersOf } from '../log-stores/generated-query.ts';
import { type ExpectedAnswer, LogOracle, type Rights } from '../log-stores/log-oracle.ts';
import { READER_PEOPLE, READERS, readersCluster, readersNamespaces } from '../log-stores/log-readers.ts';
import { type LogQueryStand, startLogQueries } from '../log-stores/store-stand.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';
import { logLines, type RealLoki, startLoki } from './real-loki.ts';

const QUERIES = Number(process.env['LOG_QUERIES'] ?? 400);
const AT_ONCE = 4;
const LIMIT_MS = 1_800_000;
const seed = Number(process.env['LOG_SEED'] ?? 1_829_213_673);
/** With its headers, a request has at most 16 KiB. */
const LONGEST_URL = 12_000;

/** An open range ends an hour after this, and begins thirty days before: most of the records are within. */
const NOW = Date.parse('2026-03-08T12:00:00Z');
const OPEN_SECONDS = 30 * 86_400;
const clock = { ...systemClock, now: () => NOW };

/** Nothing is asked about days to come. */
const records = logRecords().filter(({ time }) => time < '2036');
const oracle = new LogOracle({ records, namespaces: readersNamespaces(), now: clock.now, isLiteral: true });
/** Loki finds an i where this is asked for: it looks for what Go's `ToLower` makes of a text. */
const OF_OTHER_LENGTH = 'İ';
const query = generatedQuery({ records, callers: Object.keys(READERS) }).filter(
  (one) => lengthOf(one) < LONGEST_URL && !JSON.stringify(one.lists).includes(OF_OTHER_LENGTH),
);
const some = fc.array(query, { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' });

describe('Loki', () => {
  let loki: RealLoki;
  let stand: LogQueryStand;

  beforeAll(async () => {
    loki = await startLoki();
    await loki.load(logLines(records));
    const objects = readersCluster(OBSERVED_CONFIG.platform);
    stand = await startLogQueries({ logging: { host: loki.url }, objects, people: READER_PEOPLE, clock });
  });

  afterAll(async () => {
    await stand?.stop();
    await loki?.stop();
  });

  test(
    `answers ${QUERIES} generated queries as the records in memory say (LOG_SEED=${seed})`,
    async () => {
      const counts = new Map<string, number>();
      const tally = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
      const check = async (one: GeneratedQuery): Promise<void> => {
        const expected = expectedOf(one);
        const { status, text } = await stand.ask(one.who, parametersOf(one));
        const body = status !== 200 ? undefined : one.operation === 'export' ? text : JSON.parse(text);
        tally(one.operation ?? 'query');
        if (expected.found > 0) tally(`${one.operation ?? 'query'} with records`);
        if (expected.status !== 200) tally('refused');
        // Where the caller may see nothing, Loki is not asked, whatever it would refuse.
        if (status === 200 && expected.status === 400 && expected.found === 0 && isNothing(body)) return;
        if (status !== expected.status || !isDeepStrictEqual(body, expected.body))
          expect({ status, body, text: text.slice(0, 300) }).toEqual({ status: expected.status, body: expected.body });
      };
      const property = fc.asyncProperty(some, async (queries) => {
        await Promise.all(queries.map(check));
      });
      await fc.assert(property, { numRuns: QUERIES / AT_ONCE, seed, endOnFailure: true });
      console.log([...counts].map(([name, count]) => `${name} ${count}`).join(', '));
      for (const name of ['query', 'statistics', 'histogram', 'export'])
        expect(counts.get(`${name} with records`) ?? 0).toBeGreaterThan(QUERIES / 100);
    },
    LIMIT_MS,
  );

  test.each(['*', '" OR 1=1', '}}', '\\', '`', '|= "x"', '{{', '(?i)', '.*'])(
    'L-08 takes %s as it stands',
    async (text) => {
      const { status, text: said } = await stand.ask('admin', { log_query: text, size: '0' });
      const found = records.filter(({ log }) => log.includes(text)).length;
      expect([status, said]).toEqual([200, JSON.stringify({ query: { total: found, records: [] } })]);
    },
  );
});

/** What an oracle of words and open ranges says, asked as Loki is: about a span that is closed, with its own end. */
function expectedOf(one: GeneratedQuery): ExpectedAnswer {
  const { start, end, operation, interval = '15m' } = one;
  const soon = NOW / 1_000 + 3_599; // the last whole second of the next hour
  const last = Math.min(end ?? soon, soon);
  const first = Math.max(start ?? last - OPEN_SECONDS, 86_400);
  const isTooLong = last + 1 - (start ?? first) > 92 * 86_400;
  const rights = READERS[one.who] as Rights;
  // A closed range is judged before Loki is known.
  const isRefused = operation === 'histogram' && start !== undefined && oracle.answer(one, rights).status === 400;
  const answer = oracle.answer({ ...one, start: first, end: last }, rights);
  if (isRefused || isTooLong || (operation === 'histogram' && /[wMqy]$/.test(interval)))
    return { status: 400, found: answer.found };
  if (operation === 'histogram' && answer.status === 200) {
    const ordered = {
      ...one,
      operation: 'query',
      start: first,
      end: last,
      sort: 'asc',
      from: 0,
      size: records.length,
    } as const;
    const { body } = oracle.answer(ordered, rights);
    const histogram = histogramOf((body as FoundPage).query.records, { ...one, interval, start: first, end: last });
    return { ...answer, body: { histogram } };
  }
  return { ...answer, body: withTimesOfLoki(answer.body) };
}

interface FoundPage {
  readonly query: { readonly records: readonly { readonly time: string; readonly namespace: string }[] };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * As Loki counts: the first and the last bucket of a namespace exactly, and between them a line that is less than a millisecond
 * before a bucket in that one.
 */
function histogramOf(found: FoundPage['query']['records'], { who, interval, start, end }: Required<Asked>): object {
  const length = Number(interval.slice(0, -1)) * (UNITS[interval.slice(-1)] ?? Number.NaN);
  const bucketOf = (ms: number): number => Math.floor(ms / length) * length;
  const counts = new Map<number, number>();
  const add = (time: number): void => void counts.set(time, (counts.get(time) ?? 0) + 1);
  for (const { time, namespace } of found) {
    const since = READERS[who] === 'everything' ? 0 : (readersNamespaces()[namespace] ?? 0);
    const [at, above] = [Date.parse(time), Date.parse(time) + (/\.\d{3}0*Z$/.test(time) ? 0 : 1)];
    const [first, last] = [bucketOf(Math.max(start * 1_000, since)), bucketOf(end * 1_000 + 999)];
    if (first === last || at < first + length) add(first);
    else if (at >= last) add(last);
    if (first !== last && above >= first + length && above < last) add(bucketOf(above));
  }
  const times = [...counts.keys()].sort((a, b) => a - b);
  const histograms: object[] = [];
  for (let time = times[0] ?? 1; time <= (times.at(-1) ?? 0); time += length)
    histograms.push({ time, count: counts.get(time) ?? 0 });
  return { total: found.length, histograms };
}

type Asked = Pick<GeneratedQuery, 'who' | 'interval' | 'start' | 'end'>;

/** Digits that say nothing are left out, but for those of milliseconds. */
function withTimesOfLoki(body: unknown): unknown {
  if (typeof body !== 'object') return body;
  return JSON.parse(JSON.stringify(body).replaceAll(/("time":"[^"]*\.\d{3}\d*?)0*Z"/g, '$1Z"'));
}

const isNothing = (body: unknown): boolean =>
  body === '' ||
  JSON.stringify(body).includes('"total":0') ||
  isDeepStrictEqual(body, { statistics: { containers: 0, logs: 0 } });

const lengthOf = (one: GeneratedQuery): number => new URLSearchParams(parametersOf(one)).toString().length;
