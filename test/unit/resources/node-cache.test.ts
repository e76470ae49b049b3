import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neverProven } from '../../../src/data-age.ts';
import type { Freshness } from '../../../src/kubernetes/reflector/store.ts';
import type { Representation } from '../../../src/resources/bytes/representation.ts';
import type { Lister } from '../../../src/resources/cache.ts';
import { StatusError } from '../../../src/status-error.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizes, type Sizes } from '../../support/property.ts';
import { replaceAll } from '../../support/replace-all.ts';
import {
  LARGE,
  listOf,
  MAX_STALENESS_MS,
  makeCache,
  makeNode,
  makePod,
  namesOf,
  parseNodeListQuery,
  provenBefore,
  synced,
  textOf,
} from './node-objects.ts';

const list = (lister: Lister, query = ''): Representation => lister.list(parseNodeListQuery(query));

const plain = (representation: Representation) => textOf(representation.body('identity').pieces);
const inflated = (representation: Representation) =>
  gunzipSync(Buffer.concat(representation.body('gzip').pieces)).toString();

/** A lister of `count` nodes, created one a second. */
function crowd(count: number, least = 4_800) {
  const cache = makeCache();
  for (let at = 0; at < count; at++) {
    const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString();
    cache.putNode(makeNode(`node-${at}`, { creationTimestamp }, { spec: { note: 'x'.repeat(least + at * 7) } }));
  }
  return cache;
}

function refusalOf(lister: Lister) {
  const refusals = [() => list(lister), () => lister.get('node-a')].map((read) => {
    try {
      read();
    } catch (error) {
      if (error instanceof StatusError) return error.answer;
    }
    throw new Error('answered');
  });
  expect(refusals[0]).toEqual(refusals[1]);
  return refusals[0];
}

describe('node answers', () => {
  test('NC-01 tags are strong and one a coding', () => {
    const { lister, putNode } = makeCache();
    putNode(makeNode('node-a'));
    expect(list(lister).etag('identity')).toMatch(/^"e1-\d+"$/);
    expect(list(lister).etag('gzip')).toBe(list(lister).etag('identity').replace(/"$/, '-gzip"'));
    expect(lister.get('node-a')?.etag('identity')).toBe(list(lister).etag('identity'));
  });

  test('NC-03 any changed node and any changed figure has a new tag, on every page', () => {
    const { lister, putNode, putPod, nodes } = makeCache();
    const tags = new Set<string>();
    const look = () => tags.add(list(lister, 'limit=1&name=node-a').etag('identity'));
    const pod = (cpu: string) => makePod({ containers: [{ resources: { limits: { cpu } } }] }, { name: 'p' });
    look();
    putNode(makeNode('node-a'));
    look();
    putNode(makeNode('node-b'));
    look();
    putPod(pod('1'));
    look();
    putPod(pod('2'));
    look();
    nodes.remove('node-b', '9');
    look();
    expect(tags.size).toBe(6);
  });

  test('NC-03 while nothing that is shown changes, the tag stays', () => {
    const { lister, putNode, putPod, nodes } = makeCache();
    putNode(makeNode('node-a'));
    const tag = list(lister).etag('identity');
    putPod(makePod({ containers: [{}] }, { phase: 'Succeeded' }));
    putPod(makePod({ nodeName: 'unknown-node', containers: [{ resources: { limits: { cpu: '1' } } }] }));
    replaceAll(nodes, [nodes.toEntry(makeNode('node-a'))], { sameHistory: true, resourceVersion: '9' });
    expect(list(lister).etag('identity')).toBe(tag);
  });

  test('C-23 a node whose version number repeats in another history is taken anew', () => {
    const { lister, putNode, nodes } = makeCache();
    putNode(makeNode('node-a', { labels: { from: 'before' } }));
    const after = nodes.toEntry(makeNode('node-a', { labels: { from: 'after' } }));
    replaceAll(nodes, [after], { sameHistory: false, resourceVersion: '9' });
    expect(plain(list(lister))).toContain('"from":"after"');
  });

  test('NC-03 an answer keeps the state of its tag, composed late or not', () => {
    const { lister, putNode, nodes } = makeCache();
    putNode(makeNode('node-a'));
    putNode(makeNode('node-b', { labels: { a: 'b' } }));
    const early = [list(lister), list(lister, 'sortBy=name'), list(lister, 'label=a=b')];
    nodes.remove('node-a', '2');
    putNode(makeNode('node-b', { resourceVersion: '3' }));
    expect(early.map((answer) => JSON.parse(plain(answer)).totalItems)).toEqual([2, 2, 1]);
    expect(early.map((answer) => JSON.parse(inflated(answer)).totalItems)).toEqual([2, 2, 1]);
    expect(listOf(lister).totalItems).toBe(1);
  });

  test.each([0, 1, 10, 33, 200])('NC-04 inflated bytes equal the plain ones, with %i nodes', (count) => {
    const { lister } = crowd(count);
    for (const query of ['', 'ascending=true', 'sortBy=name', 'limit=7&page=2', 'name=3', 'limit=0']) {
      const answer = list(lister, query);
      expect(inflated(answer)).toBe(plain(answer));
    }
  });

  test('NC-04 lengths are those of the bodies', () => {
    const { lister } = crowd(100);
    const answers = ['', 'limit=3', 'limit=0', 'name=no-such', 'ascending=1'].map((query) => list(lister, query));
    for (const answer of [...answers, lister.get('node-5')!]) {
      expect(answer.identityLength).toBe(Buffer.concat(answer.body('identity').pieces).length);
      expect(answer.body('gzip').length).toBe(Buffer.concat(answer.body('gzip').pieces).length);
    }
  });

  test('a selection of several pieces is one text', () => {
    const { lister, putNode } = makeCache();
    const spec = { note: 'x'.repeat(400_000) };
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) putNode(makeNode(name, {}, { spec }));
    const answer = list(lister, 'sortBy=name');
    expect(answer.body('identity').pieces.length).toBeGreaterThan(2);
    expect(namesOf(lister, 'sortBy=name').join('')).toBe('gfedcba');
    expect(inflated(answer)).toBe(plain(answer));
    expect(answer.identityLength).toBe(plain(answer).length);
  });

  test('NC-04 the inflated get equals the plain one', () => {
    const { lister } = crowd(3);
    const node = lister.get('node-2')!;
    expect(inflated(node)).toBe(plain(node));
  });

  test('an unknown node is no answer', () => {
    const { lister } = crowd(3);
    expect(lister.get('node-9')).toBeUndefined();
    expect(lister.get('__proto__')).toBeUndefined();
  });

  test('one version has one body', () => {
    const { lister, putNode } = crowd(50);
    expect(list(lister).body('gzip').pieces).toBe(list(lister).body('gzip').pieces);
    expect(list(lister, 'limit=2').body('identity').pieces).toBe(list(lister, 'limit=2').body('identity').pieces);
    const before = list(lister, 'limit=2');
    putNode(makeNode('another'));
    expect(list(lister, 'limit=2')).not.toBe(before);
  });

  test('a changed node spoils the bytes of its leaf only', () => {
    // Long enough that the pieces are not joined.
    const { lister, putNode } = crowd(200, 12_000);
    const before = new Set(
      list(lister)
        .body('identity')
        .pieces.map((piece) => piece.buffer),
    );
    putNode(makeNode('node-100', { creationTimestamp: '2026-01-01T00:01:40Z', resourceVersion: '2' }));
    const after = list(lister)
      .body('identity')
      .pieces.filter((piece) => piece.length > 1000);
    expect(after.length).toBeGreaterThan(5);
    expect(after.filter((piece) => !before.has(piece.buffer))).toHaveLength(1);
  });

  test('after any changes the list is what the nodes are, in every order and coding', () => {
    const seldom = fc.nat(15).map((one) => one === 0);
    const node = fc.record({ name: fc.nat(600), second: fc.nat(9), remove: seldom, read: seldom });
    const there = Array.from({ length: 600 }, (_, name) => ({ name, second: name % 10, remove: false, read: false }));
    const stepsOf = ({ upTo, isLargest }: Sizes) =>
      isLargest
        ? fc
            .tuple(fc.shuffledSubarray(there, { minLength: 600 }), fc.array(node, upTo(100)))
            .map((steps) => steps.flat())
        : fc.array(node, upTo(700));
    const largest = new Largest('the list after any changes', 'nodes');
    checkSizes(
      (sizes) =>
        fc.property(stepsOf(sizes), (steps) => {
          const { lister, nodes, putNode } = makeCache({ usage: false });
          const expected = new Map<string, number>();
          for (const { name, second, remove, read } of steps) {
            const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
            if (remove) nodes.remove(`n${name}`, '999');
            else putNode(makeNode(`n${name}`, { ...LARGE, creationTimestamp, resourceVersion: `${expected.size}` }));
            if (remove) expected.delete(`n${name}`);
            else expected.set(`n${name}`, second);
            if (read) list(lister).body('gzip').pieces;
          }
          const sorted = [...expected]
            .sort(([a, x], [b, y]) => (x === y ? (a < b ? 1 : -1) : y - x))
            .map(([name]) => name);
          expect(namesOf(lister)).toEqual(sorted);
          expect(namesOf(lister, 'ascending=true')).toEqual(sorted.toReversed());
          expect(namesOf(lister, 'sortBy=name&ascending=true')).toEqual([...expected.keys()].sort());
          expect(inflated(list(lister))).toBe(plain(list(lister)));
          largest.see(expected.size);
        }),
      { cases: 20, short: 8 },
    );
    largest.expectAtLeast(600 - 100);
  });

  test('a relist swaps the whole set', () => {
    const { lister, nodes } = crowd(100);
    const listed = [makeNode('new'), makeNode('node-3', { resourceVersion: '9' })];
    replaceAll(
      nodes,
      listed.map((node) => nodes.toEntry(node)),
      { sameHistory: false, resourceVersion: '9' },
    );
    expect(namesOf(lister)).toEqual(['new', 'node-3'].reverse());
    expect([...nodes.entries()].map((entry) => entry.resourceVersion).sort()).toEqual(['1', '9']);
    expect(nodes.size).toBe(2);
  });

  test('gatehouse_cache_bytes counts what is held', async () => {
    const { registry, putNode, lister } = makeCache();
    const value = async () => (await registry.getSingleMetric('gatehouse_cache_bytes')!.get()).values;
    expect(await value()).toEqual([{ labels: { resource: 'nodes' }, value: 0 }]);
    putNode(makeNode('node-a'));
    const [held] = await value();
    expect(held?.value).toBeGreaterThan(100);
    list(lister).body('gzip').pieces;
    expect((await value())[0]?.value).toBeGreaterThan(held?.value ?? 0);
  });
});

describe('freshness of node answers', () => {
  const unsynced: Freshness = { ...synced, hasSynced: () => false, proof: neverProven() };

  test.each([
    ['nodes', { nodes: unsynced, pods: synced }],
    ['pods', { nodes: synced, pods: unsynced }],
  ])('NE-20 503 until %s have synced', (_kind, freshness) => {
    expect(refusalOf(makeCache({ freshness }).lister)).toEqual({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'nodes are not available: first synchronisation has not finished',
      details: { retryAfterSeconds: 5 },
    });
  });

  test.each([
    ['nodes', { nodes: provenBefore(MAX_STALENESS_MS + 1), pods: synced }],
    ['pods', { nodes: synced, pods: provenBefore(MAX_STALENESS_MS + 1) }],
  ])('NE-21 503 when %s are older than the limit', (_kind, freshness) => {
    expect(refusalOf(makeCache({ freshness }).lister)).toEqual({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'nodes are not available: data is older than 12m0s',
      details: { retryAfterSeconds: 30 },
    });
  });

  test('NE-21 200 at the limit of 12 min, and again once caught up', () => {
    const proof = { at: -720_000 };
    const nodes: Freshness = { ...synced, proof };
    const { lister } = makeCache({ freshness: { nodes, pods: synced } });
    expect(listOf(lister).totalItems).toBe(0);
    proof.at = -720_001;
    expect(refusalOf(lister)?.code).toBe(503);
    proof.at = -10;
    expect(listOf(lister).totalItems).toBe(0);
  });

  test('NE-21 the refusal tells the limit that is set', () => {
    const nodes = provenBefore(7_200_001);
    const { lister } = makeCache({ freshness: { nodes, pods: synced }, maxStalenessMs: 7_200_000 });
    expect(refusalOf(lister)?.message).toBe('nodes are not available: data is older than 2h0m0s');
  });

  test('without a limit data of any age is answered', () => {
    const nodes = provenBefore(400 * 86_400_000);
    const { lister } = makeCache({ freshness: { nodes, pods: synced }, maxStalenessMs: Number.POSITIVE_INFINITY });
    expect(listOf(lister).totalItems).toBe(0);
    expect(lister.staleSeconds()).toBe(400 * 86_400);
  });

  test.each([
    [60_000, 0, undefined],
    [60_001, 0, 60],
    [0, 60_001, 60],
    [61_999, 90_000, 90],
    [90_999, 61_000, 90],
  ])('with nodes %i ms old and pods %i ms old an answer is told to be %s s old', (nodesMs, podsMs, seconds) => {
    const freshness = { nodes: provenBefore(nodesMs), pods: provenBefore(podsMs) };
    expect(makeCache({ freshness }).lister.staleSeconds()).toBe(seconds);
  });
});
