import { beforeAll, describe, expect, test } from 'vitest';
import { acceptsJson, chooseCoding, chooseStreamForm } from '../../src/http/answer/accept.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { askOracle } from '../support/oracles/ask-oracle.ts';
import { MOST_RANGES, type Negotiation, negotiations } from '../support/oracles/negotiations.ts';
import { type Beyond, type Offered, prefersGzip, weightsOf } from '../support/oracles/rfc9110.ts';
import { SEED } from '../support/seed.ts';

const CASES = 5_000;
const CASES_OF_ALL = negotiations(CASES, SEED);

interface Pair {
  readonly apiserver: boolean;
  readonly restful: boolean;
}

/** What Kubernetes' own code makes of the headers (tools/kubernetes/negotiation). */
interface Theirs {
  readonly list: Pair;
  readonly stream: string;
  readonly gzip: Pair;
}

let answers: Theirs[];

/** The program is compiled the first time. */
beforeAll(async () => {
  await clusterTool('negotiation');
  answers = await askOracle<Theirs>('negotiation', CASES_OF_ALL);
});

interface Deliberate {
  readonly reason: string;
  holds(lines: readonly string[]): boolean;
}

/** Deliberate differences from what both programs do, or from the only one that has an opinion. */
const DELIBERATE = {
  zero: {
    reason: 'a weight of zero means "not acceptable" (RFC 9110 12.4.2); neither program looks for it',
    holds: (lines: readonly string[]) => lines.some((line) => /q\s*=[\s"]*0*\.?0*(?![.\d])/i.test(line)),
  },
  case: {
    reason: 'types, codings and the names of parameters have no case (RFC 9110 8.3.1, 8.4.1); both compare letters',
    holds: (lines: readonly string[]) => lines.some((line) => /[A-Z]/.test(line.replaceAll(/=[^;,]*/g, ''))),
  },
  lines: {
    reason: 'several lines are one list (RFC 9110 5.3); both read the first line only',
    holds: (lines: readonly string[]) => lines.length > 1,
  },
  tab: {
    reason: 'a tab is white space (RFC 9110 5.6.3); both take blanks off only',
    holds: (lines: readonly string[]) => lines.some((line) => line.includes('\t')),
  },
  slash: {
    reason:
      '`application/json/` and `application / json` are no ranges (RFC 9110 12.5.1); each program takes one of them',
    holds: (lines: readonly string[]) => lines.some((line) => /\/ | \/|\/[^;,/]*\//.test(line)),
  },
} as const;

/** Those of Accept-Encoding alone. */
const OF_CODINGS = {
  star: {
    reason: '`*` is any coding, gzip too (RFC 9110 12.5.3); both look for the word gzip',
    holds: (lines: readonly string[]) => lines.some((line) => line.includes('*')),
  },
  deflate: {
    reason:
      'gzip is gzip with a weight, and by its old name x-gzip; apiserver reads neither, go-restful takes deflate where it comes first',
    holds: (lines: readonly string[]) => /deflate.*gzip/.test(lines[0] ?? ''),
  },
} as const;

/** Where several forms of a stream are equally good for the caller, or none is named (docs/watch.md). */
const OF_STREAMS = {
  unnamed: 'server-sent events are for callers that name them: a range such as `text/*` does not',
  events: 'server-sent events that the caller names win against a range of the same weight that only covers JSON',
  weights:
    'which range decides about a form is seen before its weight (RFC 9110 12.5.1), apiserver sorts by weight first',
  json: 'JSON lines win against server-sent events of the same weight where the caller names both',
} as const;

type Row = keyof typeof DELIBERATE | keyof typeof OF_CODINGS | keyof typeof OF_STREAMS;

type Outcome = 'alike' | 'the RFC decides' | 'beyond the grammar' | `deliberate: ${Row}` | 'different';

/** As Node hands the lines of these two headers to us. */
const joined = (lines: readonly string[]): string | undefined =>
  lines.length === 0 ? undefined : lines.map((line) => line.replaceAll(/^[ \t]+|[ \t]+$/g, '')).join(', ');

/** The row that explains a difference, if there is one. */
function explained(lines: readonly string[], table: Readonly<Record<string, Deliberate>>): Outcome {
  const row = Object.entries(table).find(([, { holds }]) => holds(lines));
  return row ? `deliberate: ${row[0] as Row}` : 'different';
}

interface Judged {
  readonly lines: readonly string[];
  readonly rfc: boolean;
  readonly beyond: ReadonlySet<Beyond>;
  readonly table?: Readonly<Record<string, Deliberate>>;
}

/** Judges a yes or no on which both programs have an opinion. */
function outcomeOf(
  ours: boolean,
  { apiserver, restful }: Pair,
  { lines, rfc, beyond, table = DELIBERATE }: Judged,
): Outcome {
  if (ours !== rfc) return 'different';
  if (apiserver === restful && ours === apiserver) return 'alike';
  if (apiserver !== restful) return beyond.size === 0 ? 'the RFC decides' : 'beyond the grammar';
  return explained(lines, table);
}

/** Counts the outcomes, prints them and returns what must not be. */
function judge(
  what: string,
  outcomeOfCase: (asked: Negotiation, theirs: Theirs) => readonly [Outcome, told: unknown],
): unknown[] {
  const counts = new Map<Outcome, number>();
  const different: unknown[] = [];
  for (const [at, asked] of CASES_OF_ALL.entries()) {
    const [outcome, told] = outcomeOfCase(asked, answers[at] as Theirs);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (outcome === 'different') different.push(told);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  // Programs that always say otherwise are no oracle.
  expect(counts.get('alike') ?? 0).toBeGreaterThan(CASES / 2);
  console.log(`${what}: ${sorted.map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`);
  return different;
}

const WHOLE_JSON: Offered = { type: 'application/json', metadata: false };
const FORMS: Readonly<Record<string, Offered>> = {
  json: WHOLE_JSON,
  'json, metadata': { ...WHOLE_JSON, metadata: true },
  'event-stream': { type: 'text/event-stream', metadata: false },
  'event-stream, metadata': { type: 'text/event-stream', metadata: true },
};

function ourStream(accept: string | undefined): string {
  const chosen = chooseStreamForm(accept);
  if (!chosen) return '';
  return (chosen.form === 'events' ? 'event-stream' : 'json') + (chosen.metadataOnly ? ', metadata' : '');
}

/** Our form must be the one that the caller likes best; among equals, that of the API server. */
function outcomeOfStream(lines: readonly string[], ours: string, theirs: string): Outcome {
  const { answer: weights, beyond } = weightsOf(lines, Object.values(FORMS));
  const weightsNaming = (type: RegExp): readonly (number | undefined)[] => {
    const named = lines.flatMap((line) => line.split(',')).filter((range) => type.test(range));
    return weightsOf(named.length > 0 ? named : ['none/none'], Object.values(FORMS)).answer;
  };
  const weightsNamed = weightsNaming(/^\s*text\/event-stream\s*(?:;|$)/i);
  // Among equal weights JSON comes first where it is named itself, and server-sent events where it is not (docs/watch.md).
  const namesJson = weightsNaming(/^\s*application\/json\s*(?:;|$)/i);
  const weightOf = (form: string): number =>
    (form.startsWith('event') ? weightsNamed : weights)[Object.keys(FORMS).indexOf(form)] ?? 0;
  const best = Math.max(...Object.keys(FORMS).map(weightOf));
  if (weightOf(ours) !== best) return 'different';
  if (ours === theirs) return 'alike';
  if (theirs.startsWith('event') && weightOf(theirs) === 0) return 'deliberate: unnamed';
  if (weightOf(theirs) !== best || best === 0) return beyond.size === 0 ? 'the RFC decides' : 'beyond the grammar';
  const isJsonNamed = ['json', 'json, metadata'].some((form) => namesJson[Object.keys(FORMS).indexOf(form)] === best);
  if (ours.startsWith('json') && theirs.startsWith('event')) return isJsonNamed ? 'deliberate: json' : 'different';
  if (ours.startsWith('event') && theirs.startsWith('json')) return isJsonNamed ? 'different' : 'deliberate: events';
  if (/;\s*q\s*=/i.test(lines.join())) return 'deliberate: weights';
  const { case: letters, lines: several, tab, slash } = DELIBERATE;
  return explained(lines, { case: letters, lines: several, tab, slash });
}

describe(`headers of ${CASES} requests, by apiserver, go-restful and RFC 9110 (seed ${SEED})`, () => {
  test('reach the corners', () => {
    expect(
      Math.max(...CASES_OF_ALL.map(({ accept }) => joined(accept)?.split(',').length ?? 0)),
    ).toBeGreaterThanOrEqual(MOST_RANGES);
  });

  test('whether a list may be JSON', () => {
    const different = judge('list', ({ accept }, { list }) => {
      const ours = acceptsJson(joined(accept));
      const { answer, beyond } = weightsOf(accept, [WHOLE_JSON]);
      return [outcomeOf(ours, list, { lines: accept, rfc: (answer[0] ?? 0) > 0, beyond }), { accept, ours, ...list }];
    });
    expect(different.slice(0, 10), `${different.length} of ${CASES}`).toEqual([]);
  });

  test('the form of a stream', () => {
    const different = judge('stream', ({ accept }, { stream }) => {
      const ours = ourStream(joined(accept));
      return [outcomeOfStream(accept, ours, stream), { accept, ours, stream }];
    });
    expect(different.slice(0, 10), `${different.length} of ${CASES}`).toEqual([]);
  });

  test('whether the answer is compressed by gzip', () => {
    const different = judge('gzip', ({ acceptEncoding }, { gzip }) => {
      const ours = chooseCoding(joined(acceptEncoding)) === 'gzip';
      const { answer, beyond } = prefersGzip(acceptEncoding);
      return [
        outcomeOf(ours, gzip, { lines: acceptEncoding, rfc: answer, beyond, table: { ...DELIBERATE, ...OF_CODINGS } }),
        { acceptEncoding, ours, ...gzip },
      ];
    });
    expect(different.slice(0, 10), `${different.length} of ${CASES}`).toEqual([]);
  });
});
