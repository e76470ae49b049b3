import { describe, expect, test } from 'vitest';
import type { DocumentKind } from '../../../src/documents/document-kind.ts';
import { EVENTS } from '../../../src/documents/kinds/event-kind.ts';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import type { Readable } from '../../../src/documents/rights/readable-namespaces.ts';
import { searchesFor } from '../../../src/documents/searches.ts';

const namespacesOf = (readable: Readable, time = {}, kind: DocumentKind = LOGS) =>
  searchesFor({ conditions: [], time }, readable, kind).map(({ namespaces }) => namespaces);
const only = (...namespaces: { name: string; since?: number }[]): Readable => ({ everything: false, namespaces });
const many = (count: number, since?: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `ns-${at}`, ...(since === undefined ? {} : { since }) }));

describe('the searches of a query', () => {
  test('are one without namespaces for whoever may see everything', () => {
    expect(namespacesOf({ everything: true })).toEqual([undefined]);
  });

  test('are none where nothing may be seen', () => {
    expect(namespacesOf(only())).toEqual([]);
  });

  test('name namespaces that are older than the start, and date those that are younger', () => {
    const readable = only(
      { name: 'all' },
      { name: 'old', since: 9_999 },
      { name: 'same', since: 10_000 },
      { name: 'young', since: 10_001 },
    );
    expect(namespacesOf(readable, { start: 10 })).toEqual([
      { whole: ['all', 'old', 'same'], young: [{ name: 'young', since: 10_001 }] },
    ]);
  });

  test('date all of a namespace reader where there is no start', () => {
    expect(namespacesOf(only({ name: 'a', since: 5 }))).toEqual([{ whole: [], young: [{ name: 'a', since: 5 }] }]);
  });

  test('leave out namespaces that are younger than the end', () => {
    const readable = only({ name: 'in', since: 20_999 }, { name: 'out', since: 21_000 });
    expect(namespacesOf(readable, { end: 20 })).toEqual([{ whole: [], young: [{ name: 'in', since: 20_999 }] }]);
    expect(namespacesOf(only({ name: 'out', since: 21_000 }), { end: 20 })).toEqual([]);
  });

  test.each([
    [250, 1],
    [251, 2],
    [1_500, 6],
  ])('L-06 for %i young namespaces are %i, no namespace in two of them', (count, searches) => {
    const found = namespacesOf({ everything: false, namespaces: many(count, 5) });
    const names = found.flatMap((one) => one?.young.map(({ name }) => name) ?? []);
    expect([found.length, names.length, new Set(names).size]).toEqual([searches, count, count]);
    expect(Math.max(...found.map((one) => one?.young.length ?? 0))).toBeLessThanOrEqual(250);
  });

  test.each([
    [100, 1],
    [101, 2],
  ])(
    'E-01 for %i young namespaces are %i where the name has two places, each of which takes clauses',
    (count, searches) => {
      expect(namespacesOf({ everything: false, namespaces: many(count, 5) }, {}, EVENTS)).toHaveLength(searches);
    },
  );

  test.each([
    [10_000, 1],
    [10_001, 2],
  ])('L-06 for %i others are %i', (count, searches) => {
    const found = namespacesOf({ everything: false, namespaces: many(count) });
    expect([found.length, found.flatMap((one) => one?.whole ?? []).length]).toEqual([searches, count]);
  });
});
