import { beforeAll, expect, test } from 'vitest';
import { isLongRunning, kindOf } from '../../src/gateway/call.ts';
import { type RequestInfo, toRequestInfo } from '../../src/http/request-info.ts';
import { parseTarget } from '../../src/http/target.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { askOracle } from '../support/oracles/ask-oracle.ts';
import { type RequestLine, requestLines } from '../support/oracles/request-lines.ts';
import { SEED } from '../support/seed.ts';

const LINES = 200_000;

/** It is compiled the first time. */
beforeAll(() => clusterTool('requestInfo'));

/** What kube-apiserver makes of a request line (tools/request-info). */
type Theirs = RequestInfo & { readonly isLongRunning: boolean };

/** How we answer a request line, beside how the cluster would. */
const OUTCOMES = {
  /** All that decides is equal. */
  alike: 'read alike',
  /** We answer 400. */
  refused: 'refused by us',
  /** It is passed on, and the cluster answers that it is no request of its own. */
  refusedThere: 'refused by the cluster',
  /**
   * Deliberate: no object has such a name (docs/contract/http.md, HP-09). For us the request asks for the whole collection then, so its
   * caller needs more of a right, not less.
   */
  noName: 'a name that no object has',
  different: 'read otherwise',
} as const;
type Outcome = keyof typeof OUTCOMES;

const OBJECT_NAME = /^[^/%\p{C}\p{Z}]{1,253}$/u;

function outcomeOf([method, target]: RequestLine, theirs: Theirs | null): Outcome {
  const parsed = parseTarget(target, 'host');
  if ('fault' in parsed) return 'refused';
  const ours = toRequestInfo(method, parsed.segments, parsed.query);
  if ('fault' in ours) return 'refused';
  if (!theirs) return 'refusedThere';
  const read = { ...ours, isLongRunning: isLongRunning(kindOf(ours)) };
  // Of what is no resource, only the words of a log line depend on the prefix.
  const expected = ours.isResource ? theirs : { ...theirs, prefix: ours.prefix };
  const differing = Object.keys(read).filter((key) => read[key as keyof Theirs] !== expected[key as keyof Theirs]);
  if (differing.length === 0) return 'alike';
  const isNoName = differing.join() === 'name' && ours.name === '' && !OBJECT_NAME.test(theirs.name);
  return isNoName ? 'noName' : 'different';
}

test(`reads ${LINES} request lines as kube-apiserver does, or refuses them (seed ${SEED})`, async () => {
  const lines = requestLines(LINES, SEED);
  const asked = lines.map(([method, target]) => [method, Buffer.from(target, 'latin1').toString('base64')]);
  const answers = await askOracle<Theirs | null>('requestInfo', asked);
  const counts = new Map<string, number>();
  const seen = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const different: unknown[] = [];
  for (const [at, line] of lines.entries()) {
    const theirs = answers[at] ?? null;
    const outcome = outcomeOf(line, theirs);
    seen(OUTCOMES[outcome]);
    if (outcome === 'different') different.push([line, theirs]);
    if (outcome === 'alike') for (const corner of cornersOf(line, theirs)) seen(corner);
  }
  console.log(Object.fromEntries(counts));
  expect(different.slice(0, 10), `${different.length} of ${LINES}`).toEqual([]);
  for (const corner of CORNERS) expect([corner, (counts.get(corner) ?? 0) > 300]).toEqual([corner, true]);
});

const CORNERS = [
  'an encoded watch',
  'a name by a selector',
  'a verb in the path',
  'a log',
  'an exec',
  'a proxy',
  'a selector of a deletion',
] as const;

/** The corners that the generator is there for, and that it must reach. */
function cornersOf([, target]: RequestLine, theirs: Theirs | null): (typeof CORNERS)[number][] {
  if (!theirs?.isResource) return [];
  const { verb, name, subresource, fieldSelector, labelSelector } = theirs;
  const corners: [boolean, (typeof CORNERS)[number]][] = [
    [verb === 'watch' && !/watch/.test(target), 'an encoded watch'],
    [(verb === 'list' || verb === 'watch') && name !== '' && fieldSelector !== '', 'a name by a selector'],
    [/^\/apis?(?:\/[^/]+){1,2}\/(?:watch|proxy)\//.test(target), 'a verb in the path'],
    [subresource === 'log', 'a log'],
    [subresource === 'exec', 'an exec'],
    [subresource === 'proxy' || verb === 'proxy', 'a proxy'],
    [verb === 'deletecollection' && labelSelector !== '', 'a selector of a deletion'],
  ];
  return corners.filter(([isReached]) => isReached).map(([, corner]) => corner);
}
