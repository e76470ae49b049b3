import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rights } from '../log-oracle.ts';
import { READERS, WORKSPACES } from '../log-readers.ts';
import { auditDocuments } from './audit-documents.ts';
import { DocumentOracle, type ExpectedDocuments } from './document-oracle.ts';
import { type DocumentAnswer, type DocumentStand, existingNamespaces, startDocumentStand } from './document-stand.ts';
import { AUDIT_WORDS, EVENT_WORDS } from './document-words.ts';
import { eventDocuments } from './event-documents.ts';
import { type DocumentQuestion, generatedQuestion, parametersOf } from './generated-question.ts';

const QUERIES = Number(process.env['DOCUMENT_QUERIES'] ?? 1_000);
/** The store searches while the test compares. */
const AT_ONCE = 4;
/** Many times what it takes on two quiet cores. */
const LIMIT_MS = 900_000;
/** Each run has this seed, and so do the generated queries of logs. */
const seed = Number(process.env['LOG_SEED'] ?? 1_829_213_673);
/** With its headers, a request has at most 16 KiB. */
const LONGEST_URL = 12_000;
/** OpenSearch 2 leaves about this many clauses for endings, whatever else a generated query asks for. */
const SHARED_ENDINGS = 200;

const KINDS = [
  { of: 'events', documents: eventDocuments(), words: EVENT_WORDS },
  { of: 'audit records', documents: auditDocuments(), words: AUDIT_WORDS },
];

describe.each(['opensearch-2', 'elasticsearch-7'] as const)('%s', (name) => {
  let stand: DocumentStand;

  beforeAll(async () => {
    stand = await startDocumentStand(name);
    // One segment, so that the first endings of a word are those of the whole index.
    await stand.store.ask('POST', '/ks-logstash-*/_forcemerge?max_num_segments=1');
  });

  afterAll(() => stand?.stop());

  test.each(KINDS)(
    `E-01 E-04 AU-01 AU-02 answers ${QUERIES} generated queries of $of as the documents in memory say (LOG_SEED=${seed})`,
    async ({ of, documents, words }) => {
      const oracle = new DocumentOracle({ documents, words, namespaces: existingNamespaces(), now: Date.now });
      const world = { documents, words, callers: Object.keys(READERS), workspaces: Object.values(WORKSPACES) };
      const question = generatedQuestion(world).filter((one) => lengthOf(one) < LONGEST_URL);
      const parameters = [...Object.keys(words.conditions), ...Object.values(words.scope)];
      const tally = new QuestionTally(parameters);
      const check = async (one: DocumentQuestion): Promise<void> => {
        const rights = READERS[one.who] as Rights;
        const expected = oracle.answer(one, rights);
        const { status, body } = await stand.ask(words, one.who, parametersOf(one));
        const phrases = phrasesIn(one, words.conditions);
        const fewest =
          phrases === 0 ? expected : oracle.answer(one, rights, Math.max(1, Math.floor(SHARED_ENDINGS / phrases)));
        if (name === 'opensearch-2' && fewest.found !== expected.found) {
          // How many endings are looked at depends on all clauses: what is found then is no part of the promise.
          expect(status).toBe(200);
          return tally.addShared();
        }
        expectAnswer({ status, body }, expected);
        tally.add(one, expected);
      };
      const some = fc.array(question, { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' });
      const property = fc.asyncProperty(some, async (questions) => {
        await Promise.all(questions.map(check));
      });
      await fc.assert(property, { numRuns: QUERIES / AT_ONCE, seed });
      console.log(`${name}, ${of}: ${tally.text()}`);
      expect(tally.rare()).toEqual([]);
    },
    LIMIT_MS,
  );
});

/** How many clauses the phrases are, one for each place. */
const phrasesIn = ({ lists }: DocumentQuestion, conditions: typeof EVENT_WORDS.conditions): number =>
  Object.entries(lists).reduce((sum, [name, list]) => {
    const [comparison, places] = conditions[name] ?? ['exact', ''];
    return comparison === 'phrase' ? sum + places.split(' ').length * list.join(',').split(',').length : sum;
  }, 0);

/** Vitest takes much longer than this to find documents equal, and shows how they differ. */
function expectAnswer(answer: DocumentAnswer, expected: ExpectedDocuments): void {
  if (expected.status !== answer.status) expect(answer).toEqual(expected);
  if ('body' in expected && !isDeepStrictEqual(answer.body, expected.body)) expect(answer.body).toEqual(expected.body);
  if (!('page' in expected)) return;
  const { total, records } = answer.body.query as { readonly total: number; readonly records: readonly object[] };
  const { timed, untimed, anyOf } = expected.page;
  const [first, others] = [records.slice(0, timed.length), records.slice(timed.length)];
  if (total !== expected.found || !isDeepStrictEqual(first, timed))
    expect({ total, first }).toEqual({ total: expected.found, first: timed });
  const known = new Set(anyOf.map((one) => JSON.stringify(one)));
  const different = new Set(others.map((one) => JSON.stringify(one)).filter((one) => known.has(one)));
  if (others.length !== untimed || different.size !== untimed) expect(others).toEqual({ untimed, anyOf });
}

const lengthOf = (one: DocumentQuestion): number => new URLSearchParams(parametersOf(one)).toString().length;

/** What was asked, so that a run shows that it asked for much. */
class QuestionTally {
  readonly #counts = new Map<string, number>();
  readonly #parameters: readonly string[];
  #largest: DocumentQuestion | undefined;

  constructor(parameters: readonly string[]) {
    this.#parameters = parameters;
  }

  add(one: DocumentQuestion, { status, found }: ExpectedDocuments): void {
    const { operation = 'query', who } = one;
    const names = ['all', ...Object.keys(parametersOf(one))];
    if (status !== 200) names.push(status === 400 ? 'refused' : 'forbidden');
    else if (found > 0)
      names.push(...[operation, `by ${who}`, ...Object.keys(one.lists)].map((name) => `${name} with documents`));
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

  /** Which operations, callers and parameters found something in fewer than one of two hundred queries. */
  rare(): string[] {
    const callers = Object.keys(READERS).filter((who) => who !== 'olga');
    const found = ['query', 'statistics', 'histogram', ...callers.map((who) => `by ${who}`), ...this.#parameters];
    const names = [
      ...found.map((name) => `${name} with documents`),
      'refused',
      'start_time',
      'end_time',
      'interval',
      'sort',
    ];
    return names.filter((name) => (this.#counts.get(name) ?? 0) < QUERIES / 200);
  }
}
