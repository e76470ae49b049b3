import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { existingNamespaces } from '../log-stores/documents/document-stand.ts';
import { EVENT_WORDS } from '../log-stores/documents/document-words.ts';
import { eventDocuments } from '../log-stores/documents/event-documents.ts';
import { type DocumentQuestion, generatedQuestion, parametersOf } from '../log-stores/documents/generated-question.ts';
import { uidOf, valuesAt } from '../log-stores/documents/stored-document.ts';
import type { Rights } from '../log-stores/log-oracle.ts';
import { READER_PEOPLE, READERS, readersCluster, WORKSPACES } from '../log-stores/log-readers.ts';
import { type LogQueryStand, startLogQueries } from '../log-stores/store-stand.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';
import { type LokiLine, type RealLoki, startLoki } from './real-loki.ts';

const QUERIES = Number(process.env['LOG_QUERIES'] ?? 400);
const AT_ONCE = 4;
const seed = Number(process.env['LOG_SEED'] ?? 1_829_213_673);
const LONGEST_URL = 12_000;
const { platform } = OBSERVED_CONFIG;
const TENANT = `tenant.${platform}.io`;
const clock = { ...systemClock, now: () => Date.parse('2026-03-10T12:00:00Z') };
const RULES = {
  asks: { apiGroups: [TENANT], resources: ['events'], verbs: ['list'] },
  reads: { apiGroups: [''], resources: ['events'], verbs: ['list'] },
};

/** An event and its time: the latest that it has. */
interface TimedEvent {
  readonly source: object;
  readonly at: number;
}

const first = (source: object, places: string): string =>
  `${places.split(' ').flatMap((place) => valuesAt(source, place))[0] ?? ''}`;
const timed = (source: object): TimedEvent => ({
  source,
  at: Date.parse(first(source, 'lastTimestamp series.lastObservedTime eventTime')),
});
const EVENTS = eventDocuments()
  .map(({ source }) => timed(source))
  .filter(({ at }) => at < Date.parse('2036-01-01'));
/** So many objects that Loki does not count them in one query, on a day of their own. */
const CROWD = Array.from({ length: 1_200 }, (_, at) =>
  timed({
    involvedObject: { kind: 'Pod', namespace: 'crowd', name: `pod-${at}`, uid: uidOf(`crowd ${at}`) },
    ...{
      reason: 'Pulled',
      type: 'Normal',
      message: 'pulled',
      lastTimestamp: new Date(Date.parse('2026-03-01T00:00:00Z') + at * 1_000).toISOString(),
    },
  }),
);

const lineOf = ({ source, at }: TimedEvent): LokiLine => {
  const namespace = first(source, EVENT_WORDS.namespace);
  const labels = { kind: first(source, 'involvedObject.kind regarding.kind'), type: first(source, 'type') };
  return {
    labels: namespace === '' ? labels : { ...labels, namespace },
    time: new Date(at).toISOString(),
    line: JSON.stringify(source),
  };
};

const START = Date.parse('2026-03-04T00:00:00Z') / 1_000;
const END = Date.parse('2026-03-10T00:00:00Z') / 1_000;

const elementsOf = (list: readonly string[] = []): string[] =>
  list
    .join(',')
    .split(',')
    .filter((one) => one !== '');

/** What is found, from the documents in memory. A phrase is a part of the text in any case, as in logs of Loki. */
function foundBy({ who, lists, start = START, end = END }: DocumentQuestion): TimedEvent[] {
  const rights = READERS[who] as Rights;
  const { scope, conditions, namespace } = EVENT_WORDS;
  const [names, parts] = [elementsOf(lists[scope.namespaces]), elementsOf(lists[scope.namespaceParts])];
  const [owners, ownerParts] = [elementsOf(lists[scope.workspaces]), elementsOf(lists[scope.workspaceParts])];
  const isOpen = [names, parts, owners, ownerParts].every(({ length }) => length === 0);
  const since = (name: string): number => {
    const one = existingNamespaces()[name];
    const { createdAt = Number.POSITIVE_INFINITY, workspace = '' } = one ?? {};
    const isIn = (text: string, all: string[], some: string[]) =>
      (all.length === 0 || all.includes(text)) &&
      (some.length === 0 || some.some((part) => text.includes(part.toLowerCase())));
    if (!one || !isIn(name, names, parts) || !isIn(workspace, owners, ownerParts)) return Number.POSITIVE_INFINITY;
    if (rights === 'everything') return 0;
    return rights.includes(name) ? createdAt : Number.POSITIVE_INFINITY;
  };
  const isReadable = ({ source, at }: TimedEvent): boolean => {
    if (rights === 'everything' && isOpen) return true;
    return at >= since(first(source, namespace));
  };
  const matches = ({ source }: TimedEvent): boolean =>
    Object.entries(conditions).every(([name, [comparison, places]]) => {
      const elements = elementsOf(lists[name]);
      const texts = places
        .split(' ')
        .flatMap((place) => valuesAt(source, place))
        .map(String);
      if (elements.length === 0) return true;
      if (comparison === 'exact') return texts.some((text) => elements.includes(text));
      if (comparison === 'part') return texts.some((text) => elements.some((part) => text.includes(part)));
      return texts.some((text) => elements.some((phrase) => text.toLowerCase().includes(phrase.toLowerCase())));
    });
  return EVENTS.filter(
    (one) => one.at >= start * 1_000 && one.at < (end + 1) * 1_000 && isReadable(one) && matches(one),
  );
}

const isRefused = ({ lists }: DocumentQuestion): boolean => {
  const parts = elementsOf(lists['reason_search']);
  return parts.length > 8 || parts.some((part) => [...part].length < 2);
};

describe('events in Loki', () => {
  let loki: RealLoki;
  let stand: LogQueryStand;

  beforeAll(async () => {
    loki = await startLoki();
    // Loki takes the lines of a stream in the order of time only.
    const labels = { kind: 'Pod', type: 'Normal', namespace: 'shop' };
    const lines = [...[...EVENTS, ...CROWD].map(lineOf), { labels, time: '2026-03-02T00:00:00.000Z', line: 'no JSON' }];
    await loki.load(lines.toSorted((a, b) => (a.time < b.time ? -1 : 1)));
    const objects = readersCluster(platform, RULES);
    stand = await startLogQueries({ settings: { events: { host: loki.url } }, objects, people: READER_PEOPLE, clock });
  });

  afterAll(async () => {
    await stand?.stop();
    await loki?.stop();
  });

  const ask = async (who: string, parameters: Readonly<Record<string, string>>) => {
    const { status, text } = await stand.get(
      who,
      `/kapis/${TENANT}/v1alpha2/events?${new URLSearchParams(parameters)}`,
    );
    return { status, body: JSON.parse(text) };
  };

  test(`E-06 are found by ${QUERIES} generated queries as the documents in memory say (LOG_SEED=${seed})`, async () => {
    const documents = EVENTS.map(({ source }) => ({ index: '', source }));
    const world = {
      documents,
      words: EVENT_WORDS,
      callers: Object.keys(READERS),
      workspaces: Object.values(WORKSPACES),
    };
    const question = generatedQuestion(world)
      .map((one) => ({ ...one, start: one.start ?? START, end: one.end ?? END }))
      .filter(
        (one) =>
          new URLSearchParams(parametersOf(one)).toString().length < LONGEST_URL &&
          one.start >= 86_400 &&
          one.end >= one.start &&
          one.end - one.start < 90 * 86_400 &&
          one.end < 2_000_000_000,
      )
      .filter((one) => one.operation !== 'histogram' || !/[wMqy]$/.test(one.interval ?? '15m'))
      .filter((one) => !/[İKſ]/u.test(JSON.stringify(one.lists)));
    const counts = new Map<string, number>();
    const tally = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
    const check = async (one: DocumentQuestion): Promise<void> => {
      const { status, body } = await ask(one.who, parametersOf(one));
      const operation = one.operation ?? 'query';
      if (isRefused(one)) return expect(status).toBe(400);
      const found = foundBy(one);
      // A bucket for each of too many spans is refused.
      if (status === 400 && operation === 'histogram') return tally('refused');
      expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
      tally(found.length > 0 ? `${operation} with documents` : operation);
      const seen = operation === 'histogram' ? sumOf(body) : operation === 'statistics' ? body.statistics : body.query;
      const wanted = expectedOf(found, { ...one, operation });
      if (!isDeepStrictEqual(seen, wanted)) expect({ one, seen }).toEqual({ one, seen: wanted });
    };
    const some = fc.array(question, { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' });
    await fc.assert(
      fc.asyncProperty(some, async (questions) => void (await Promise.all(questions.map(check)))),
      { numRuns: QUERIES / AT_ONCE, seed, endOnFailure: true },
    );
    console.log([...counts].map(([name, count]) => `${name} ${count}`).join(', '));
    for (const name of ['query', 'statistics', 'histogram'])
      expect(counts.get(`${name} with documents`) ?? 0).toBeGreaterThan(QUERIES / 100);
  }, 900_000);

  test('E-06 more objects than Loki counts in one query are counted', async () => {
    const day = {
      start_time: `${Date.parse('2026-03-01T00:00:00Z') / 1_000}`,
      end_time: `${Date.parse('2026-03-01T23:59:59Z') / 1_000}`,
    };
    const { body } = await ask('admin', { operation: 'statistics', ...day });
    expect(body).toEqual({ statistics: { resources: CROWD.length, events: CROWD.length } });
  });

  test('E-06 a line that is no JSON is a message, and is found by no text', async () => {
    const day = {
      start_time: `${Date.parse('2026-03-02T00:00:00Z') / 1_000}`,
      end_time: `${Date.parse('2026-03-02T23:59:59Z') / 1_000}`,
    };
    expect((await ask('admin', day)).body.query).toEqual({ total: 1, records: [{ message: 'no JSON' }] });
    expect((await ask('admin', { ...day, message_search: 'JSON' })).body.query).toEqual({ total: 0, records: [] });
    expect((await ask('admin', { ...day, operation: 'statistics' })).body.statistics).toEqual({
      resources: 0,
      events: 1,
    });
  });

  test.each(['*', '" or 1=1', '}}', '\\', '`', '{{.x}}', '(?i)', '.*', '\n', '订单'])(
    'E-06 takes %j as it stands',
    async (text) => {
      const range = { start_time: `${START}`, end_time: `${END}` };
      const { status, body } = await ask('admin', { ...range, message_search: text, size: '0' });
      const found = EVENTS.filter(
        ({ source, at }) =>
          at < (END + 1) * 1_000 && first(source, 'message note').includes(text.trim()) && text.trim() !== '',
      ).length;
      expect([status, body.query.total]).toEqual([200, text.trim() === '' ? body.query.total : found]);
    },
  );
});

const sumOf = ({ histogram }: { histogram: { total: number; buckets: { count: number }[] } }) => ({
  total: histogram.total,
  counted: histogram.buckets.reduce((sum, { count }) => sum + count, 0),
});

function expectedOf(
  found: readonly TimedEvent[],
  { operation, sort = 'desc', from = 0, size = 10 }: DocumentQuestion,
): object {
  if (operation === 'histogram') return { total: found.length, counted: found.length };
  if (operation === 'statistics') {
    const ids = (place: string) => new Set(found.flatMap(({ source }) => valuesAt(source, place))).size;
    return { resources: ids('involvedObject.uid') + ids('regarding.uid'), events: found.length };
  }
  const ordered = found.toSorted((a, b) => (sort === 'asc' ? a.at - b.at : b.at - a.at));
  return { total: found.length, records: ordered.slice(from, from + size).map(({ source }) => source) };
}
