import fc from 'fast-check';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';

export const LIST_NAMES = [
  'namespaces',
  'namespace_query',
  'workloads',
  'workload_query',
  'pods',
  'pod_query',
  'containers',
  'container_query',
  'log_query',
] as const;

export type ListName = (typeof LIST_NAMES)[number];

/** A log query as whoever asks means it. */
export interface GeneratedQuery {
  readonly who: string;
  readonly operation?: 'query' | 'statistics' | 'histogram' | 'export';
  readonly lists: Readonly<Partial<Record<ListName, readonly string[]>>>;
  /** Seconds since 1970. */
  readonly start?: number;
  readonly end?: number;
  readonly interval?: string;
  readonly sort?: 'asc' | 'desc';
  readonly from?: number;
  readonly size?: number;
}

/** As it is sent. */
export function parametersOf({ who: _, lists, start, end, ...more }: GeneratedQuery): Record<string, string> {
  const joined = Object.entries(lists).map(([name, elements]) => [name, elements.join(',')]);
  const others = Object.entries({ ...more, start_time: start, end_time: end }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries([...joined, ...others.map(([name, value]) => [name, String(value)])]);
}

/** Nothing of them is syntax, and most are no word of a record. */
const HOSTILE = [
  '*', '?', '"', '" OR 1=1', '"}}]}', '}}', '{"match_all":{}}', '\n', 'marker\nboundary', '\t', ' ', '\\', '\\*', '.*', 'ca.t', '.+', '[a-z]+', '(cart|db)-0',
  'cart|db', '^cart', 'db$', '~(cart)', '@', '#', '&', '<1-9>', 'db-<0-9>', 'cart~1', 'cart AND db', 'NOT cart', 'AND', 'OR', 'cart^2', '_exists_:log', '/.*/', '%', '%2A',
  '+cart -db', "'", '--', '0', '-1', 'null', 'true', '\u0000', '\u001b[31m', '\u001b[33mWARN', '33mwarn', '\ufeff', '\u200b', '\u00ad', 'größe', 'GRÖSSE', 'Gro\u0308ße', 'gros',
  '订单', '单已', '已', '订 单', 'Ａ', 'İ', 'ΟΔΟΣ', '😀', 'カート', '한국', 'ไทย', 'x'.repeat(255), 'x'.repeat(256), `cart-${'z'.repeat(200)}`, 'ab '.repeat(80), '订'.repeat(85),
]; // biome-ignore format: a list of short values

const WHAT_NAMES_HAVE = ['-', '.', '*', ' ', 'A', '0', '_', '/'];

/** A few elements, and now and then as many as a list may have. */
const listOf = (element: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.array(element, { minLength: 1, maxLength: 2, size: 'max' }) },
    { weight: 3, arbitrary: fc.array(element, { minLength: 1, maxLength: 6, size: 'max' }) },
    {
      weight: 1,
      arbitrary: fc.array(
        element.filter((text) => text.length < 16 && !text.includes(',')),
        { minLength: 40, maxLength: 64, size: 'max' },
      ),
    },
  );

const inAnyCase = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.nat(7)).map(([one, dice]) => (dice === 0 ? one.toUpperCase() : one));

/** Words of a text one after the other, the last of them cut anywhere. */
const phraseOf = (texts: readonly string[], separator: RegExp): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 1, max: 4 }), fc.nat())
    .map(([text, at, count, cut]) => {
      const words = text.split(separator);
      const some = words
        .slice(at % words.length)
        .slice(0, count)
        .join(' ');
      return cut % 3 === 0 ? some : some.slice(0, some.length - (cut % 4));
    });

/** Any piece of a text. */
const pieceOf = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 1, max: 12 }))
    .map(([text, at, length]) => text.slice(at % Math.max(text.length, 1)).slice(0, length));

/** A name, mostly as it is, or with something changed. */
const nameOf = (names: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...names), fc.constantFrom(...WHAT_NAMES_HAVE))
        .map(([name, more]) => name + more),
    },
    { weight: 1, arbitrary: pieceOf(names) },
  );

const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc
    .array(fc.constantFrom(...HOSTILE.filter((text) => text.length < 12)), { minLength: 2, maxLength: 4, size: 'max' })
    .map((texts) => texts.join('')),
);

const mostly = (usual: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: hostile })
    .filter((text) => Buffer.byteLength(text) <= 256);

const different = (texts: readonly string[]): string[] => [...new Set(texts)].filter((text) => text !== '');

/** What a pod is called less its last one or two parts, and the names that the cluster cut. */
const workloadsOf = (pods: readonly string[]): string[] =>
  different(
    pods.flatMap((pod) => [
      pod,
      pod.replace(/-[^-]+$/, ''),
      pod.replace(/-[^-]+-[^-]+$/, ''),
      pod.slice(0, 58),
      `${pod.slice(0, 58)}abc`,
      pod.slice(0, 50),
    ]),
  );

export interface QueryWorld {
  readonly records: readonly LogDocument[];
  readonly callers: readonly string[];
}

const maybe = (percent: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight: percent, arbitrary: fc.constant(true) }, { weight: 100 - percent, arbitrary: fc.constant(false) });

/** How often a list is in a query: where many hold together, nothing is found. */
const SHARES: Readonly<Record<ListName, number>> = {
  namespaces: 15,
  namespace_query: 15,
  workloads: 20,
  workload_query: 15,
  pods: 12,
  pod_query: 12,
  containers: 15,
  container_query: 15,
  log_query: 40,
};

/** The elements of each list, for a query that is about one record, or about any. */
function elementsAbout(records: readonly LogDocument[]): Record<ListName, fc.Arbitrary<string>> {
  const kubernetes = records.map((record) => record.kubernetes);
  const messages = atLeastOne(different(records.map(({ log }) => log)));
  const namespaces = different(kubernetes.map((one) => one.namespace_name));
  const pods = different(kubernetes.map((one) => one.pod_name));
  const containers = atLeastOne(different(kubernetes.map((one) => one.container_name ?? '')));
  const podPhrase = inAnyCase(fc.oneof(phraseOf(pods, /[-.]/), nameOf(pods)));
  return {
    namespaces: nameOf(namespaces),
    namespace_query: inAnyCase(pieceOf(namespaces)),
    workloads: nameOf(workloadsOf(pods)),
    workload_query: podPhrase,
    pods: nameOf(pods),
    pod_query: podPhrase,
    containers: nameOf(containers),
    container_query: inAnyCase(fc.oneof(phraseOf(containers, /[-.]/), nameOf(containers))),
    log_query: inAnyCase(
      fc.oneof({ weight: 4, arbitrary: phraseOf(messages, /[ :]+/) }, { weight: 1, arbitrary: pieceOf(messages) }),
    ),
  };
}

const atLeastOne = (texts: readonly string[]): readonly string[] => (texts.length === 0 ? ['none'] : texts);

/** Queries about these records: of their words, names and times, and of values that mean something elsewhere. */
export function generatedQuery({ records, callers }: QueryWorld): fc.Arbitrary<GeneratedQuery> {
  const ofAny = elementsAbout(records);
  const listsAbout = (record: LogDocument) => {
    const ofOne = elementsAbout([record]);
    const element = (name: ListName) =>
      mostly(fc.oneof({ weight: 3, arbitrary: ofOne[name] }, { weight: 1, arbitrary: ofAny[name] }));
    const lists = LIST_NAMES.map((name) => fc.tuple(fc.constant(name), maybe(SHARES[name]), listOf(element(name))));
    return fc
      .tuple(...lists)
      .map((all) => Object.fromEntries(all.filter(([, isThere]) => isThere).map(([name, , list]) => [name, list])));
  };
  const seconds = records.map(({ time }) => Math.floor(Date.parse(time) / 1_000));
  const days = different(records.map(({ time }) => time.slice(0, 10))).map((day) => Date.parse(day) / 1_000);
  const time = fc.oneof(
    fc.tuple(fc.constantFrom(...seconds), fc.integer({ min: -1, max: 1 })).map(([at, more]) => at + more),
    fc.constantFrom(...days),
    fc.constantFrom(0, -1, 253_402_300_799, -62_135_596_800),
  );
  const interval = fc.oneof(
    fc
      .tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom('s', 'm', 'h', 'd'))
      .map(([count, unit]) => `${count}${unit}`),
    fc.constantFrom('1d', '1w', '1M', '1q', '1y', '999999999d'),
  );
  const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
  return fc
    .record({
      who: fc.constantFrom(...callers),
      operation: fc.constantFrom(undefined, 'query', 'statistics', 'histogram', 'export'),
      lists: fc.constantFrom(...records).chain(listsAbout),
      times: fc.tuple(sometimes(time), sometimes(time)),
      interval: sometimes(interval),
      sort: sometimes(fc.constantFrom('asc', 'desc')),
      from: sometimes(fc.oneof(fc.nat(20), fc.nat(5_000))),
      size: sometimes(fc.oneof(fc.nat(40), fc.nat(2_000))),
    })
    .map(({ times: [a, b], ...query }) => {
      const [start, end] = a !== undefined && b !== undefined && b < a ? [b, a] : [a, b];
      const members = Object.entries({ ...query, start, end }).filter(([, value]) => value !== undefined);
      return Object.fromEntries(members) as unknown as GeneratedQuery;
    });
}
