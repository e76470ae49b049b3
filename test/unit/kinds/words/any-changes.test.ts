import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createWatchQueryParser } from '../../../../src/resources/watch/watch-query.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes } from '../../../support/property.ts';
import { WatchClient } from '../../resources/watch/watch-client.ts';
import { listing, object } from './worded-kind.ts';

/** What a client knows of an object, and what its filters and its order read. */
interface Shown {
  readonly key: string;
  readonly second: number;
  /** 0 to 2. */
  readonly state: number;
}

interface Played {
  readonly name: string;
  /** The members by which an object has this state. */
  readonly of: (state: number) => Readonly<Record<string, unknown>>;
  /** The orders beside those of every kind. Descending by the number. */
  readonly orders: Readonly<Record<string, (one: Shown) => number>>;
  /** What filters choose. */
  readonly filters: Readonly<Record<string, (one: Shown) => boolean>>;
}

const COMMON: Played['filters'] = {
  '': () => true,
  'namespace=a': ({ key }) => key.startsWith('a/'),
  'names=one-1,one-2': ({ key }) => /one-[12]$/.test(key),
};

const PODS: Played = {
  name: 'pods.',
  of: (state) => ({
    spec: { nodeName: `n${state}` },
    status: {
      phase: ['Failed', 'Running', 'Pending'][state],
      containerStatuses: [{ restartCount: [3, 20, 100][state] }],
    },
  }),
  orders: {
    nodeName: ({ state }) => state,
    restarts: ({ state }) => state,
    status: ({ state }) => [0, 2, 1][state] as number,
  },
  filters: {
    'nodeName=n1': ({ state }) => state === 1,
    'namespace=b&nodeName=n2': ({ key, state }) => key.startsWith('b/') && state === 2,
  },
};

const JOBS: Played = {
  name: 'jobs.batch',
  of: (state) => ({
    status: { conditions: state === 0 ? [] : [{ type: ['', 'Complete', 'Failed'][state], status: 'True' }] },
  }),
  orders: { status: ({ state }) => [2, 0, 1][state] as number },
  filters: { 'status=failed': ({ state }) => state === 2 },
};

const kind = fc.constantFrom('put', 'put', 'put', 'remove', 'relist', 'read', 'reconnect', 'cut');
const step = fc.record({
  ...{ do: kind, namespace: fc.constantFrom('a', 'b'), number: fc.nat(12), second: fc.nat(4), state: fc.nat(2) },
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const nameOf = (key: string): string => key.slice(2);
const byName = (a: Shown, b: Shown): number => text(nameOf(b.key), nameOf(a.key)) || text(b.key, a.key);

/** The keys in an order of numbers, the greatest first. */
const sorted = (all: Iterable<Shown>, value: (one: Shown) => number): string[] =>
  [...all].sort((a, b) => value(b) - value(a) || byName(a, b)).map(({ key }) => key);

/** A list and its watchers beside a map of what is there. */
function play({ name, of, orders, filters }: Played, steps: readonly Step[]): number {
  const { put, remove, relist, keys, kind, lister } = listing(name);
  const expected = new Map<string, Shown>();
  const make = ({ key, second, state }: Shown) =>
    object(key, of(state), { creationTimestamp: `2026-01-01T00:00:0${second}Z` });
  const parse = createWatchQueryParser(kind);
  const chosen = Object.entries({ ...COMMON, ...filters });
  const clients = chosen.map(
    ([query], at) => new WatchClient(lister, { query, parse, goesOnFrom: at % 2 === 0 ? 'event' : 'bookmark' }),
  );
  for (const { do: what, namespace, number, second, state } of steps) {
    const shown = { key: `${namespace}/one-${number}`, second, state };
    if (what === 'put') put(make(shown));
    if (what === 'put') expected.set(shown.key, shown);
    if (what === 'remove' && expected.delete(shown.key)) remove(shown.key);
    if (what === 'relist') relist(...[...expected.values()].map(make));
    const client = clients[number % clients.length];
    if (what === 'read') client?.takeAll();
    if (what === 'reconnect') client?.reconnect();
    if (what === 'cut') client?.cut(second);
  }
  const all = [...expected.values()];
  expect(keys()).toBe(sorted(all, ({ second }) => second).join(' '));
  for (const [word, value] of Object.entries({ name: () => 0, createTime: (one: Shown) => one.second, ...orders })) {
    expect([word, keys(`sortBy=${word}`)]).toEqual([word, sorted(all, value).join(' ')]);
    expect([word, keys(`sortBy=${word}&ascending=true`)]).toEqual([word, sorted(all, value).toReversed().join(' ')]);
  }
  for (const [at, [query, sees]] of chosen.entries()) {
    const wanted = all.filter(sees).map(({ key }) => key);
    expect([query, keys(query).split(' ').filter(Boolean).sort()]).toEqual([query, wanted.toSorted()]);
    clients[at]?.takeAll();
    expect([query, [...(clients[at]?.items.keys() ?? [])].sort()]).toEqual([query, wanted.toSorted()]);
  }
  return expected.size;
}

describe.each([PODS, JOBS])('of $name in two namespaces', (played) => {
  test('lists in every order, and watches by every filter, are what the objects are, after any changes', () => {
    const largest = new Largest(`the list of ${played.name} after any changes`, 'objects');
    checkSizes(
      ({ upTo }) =>
        fc.property(fc.array(step, upTo(200)), (steps) => {
          largest.see(play(played, steps));
        }),
      { cases: 200, short: 40 },
    );
    largest.expectAtLeast(15);
  });
});
