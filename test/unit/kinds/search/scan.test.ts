import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchedKinds, rankedHits } from '../../../../src/kinds/search/scan.ts';
import type { Sought } from '../../../../src/kinds/search/sought.ts';
import { atOnce } from '../../../../src/runtime/time-slices.ts';
import { check } from '../../../support/property.ts';
import { type Named, ranked, scanned, shown, storeOf } from './searched-kinds.ts';

const named = (key: string, labels?: Named['labels'], uid = `uid of ${key}`): Named => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name, uid, labels };
};

describe('a search', () => {
  const pods = scanned(
    storeOf(
      'Pod',
      ['b/web', 'a/web', 'a/web-2', 'a/web-1', 'a/my-web', 'c/db'].map((key) => named(key, { app: 'x' })),
    ),
  );
  const jobs = scanned(storeOf('Job', [named('z/web'), named('z/web-3', { app: 'x', tier: '' }), named('z/a-web')]));

  test('KD-40 shows exact names, then beginnings, then the rest, each by kind, namespace and name', () => {
    const { hits, totals } = ranked([pods, jobs], { text: 'web' });
    expect(shown(hits)).toEqual([
      'Job z/web',
      'Pod a/web',
      'Pod b/web',
      'Job z/web-3',
      'Pod a/web-1',
      'Pod a/web-2',
      'Job z/a-web',
      'Pod a/my-web',
    ]);
    expect(Object.fromEntries(totals)).toEqual({ 'pods.example.com': 5, 'jobs.example.com': 3 });
  });

  test('KD-40 counts all and shows the first of all kinds', () => {
    const { hits, totals } = ranked([pods, jobs], { text: 'web' }, 2);
    expect(shown(hits)).toEqual(['Job z/web', 'Pod a/web']);
    expect([...totals.values()]).toEqual([3, 5]);
    expect(ranked([pods, jobs], { text: 'web' }, 0)).toMatchObject({ hits: [], totals });
  });

  test('KD-40 finds a label by key and value', () => {
    expect(shown(ranked([jobs], { label: { key: 'app', value: 'x' } }).hits)).toEqual(['Job z/web-3']);
    expect(shown(ranked([jobs], { label: { key: 'tier', value: '' } }).hits)).toEqual(['Job z/web-3']);
    expect(shown(ranked([jobs], { label: { key: 'constructor', value: '' } }).hits)).toEqual([]);
  });

  test('KD-40 finds a uid, and names that have it in them', () => {
    const claims = scanned(storeOf('Claim', [named('a/pvc-u1'), named('a/data', undefined, 'u1')]));
    expect(shown(ranked([claims], { text: 'u1' }).hits)).toEqual(['Claim a/data', 'Claim a/pvc-u1']);
  });

  test('KD-40 is not misled by texts with equal hashes', () => {
    const [one, other] = ['costarring', 'liquid']; // the same 32 bits of FNV-1a
    const kind = scanned(storeOf('Pod', [named('a/web', undefined, other)]));
    expect(shown(ranked([kind], { text: one }).hits)).toEqual([]);
    expect(shown(ranked([kind], { text: other }).hits)).toEqual(['Pod a/web']);
    const both = scanned(storeOf('Pod', [named('a/one', undefined, one), named('a/other', undefined, other)]));
    expect(shown(ranked([both], { text: one }).hits)).toEqual(['Pod a/one']);
    expect(shown(ranked([both], { text: other }).hits)).toEqual(['Pod a/other']);
  });

  test('KD-41 names the kinds that have a match, and skips what has none', () => {
    const many = scanned(
      storeOf(
        'Many',
        Array.from({ length: 3_000 }, (_, at) => ({ ...named(`a/n-${at}`), at })),
      ),
    );
    expect(many.leaves.length).toBeGreaterThan(2);
    const sought: Sought = { text: 'n-1234' };
    const matched = atOnce(matchedKinds([pods, many, jobs], sought));
    expect(matched.map(({ kind }) => kind)).toEqual([many]);
    const visible = matched.map((one) => ({ ...one, within: undefined }));
    expect(shown(atOnce(rankedHits(visible, sought, 50)).hits)).toEqual(['Many a/n-1234']);
  });
});

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 4, size: 'max' });
const objects = fc.uniqueArray(
  fc.record({
    namespace: fc.constantFrom('a', 'ab', 'b'),
    name: letters,
    uid: letters,
    labels: fc.option(fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('', 'a', 'b')), { nil: undefined }),
    at: fc.nat(50),
  }),
  { selector: ({ namespace, name }) => `${namespace}/${name}`, maxLength: 80, size: 'max' },
);
const sought = fc.oneof(
  letters.map((text): Sought => ({ text })),
  fc
    .record({ key: fc.constantFrom('a', 'b', 'c'), value: fc.constantFrom('', 'a', 'b') })
    .map((label): Sought => ({ label })),
);
const within = fc.option(
  fc.subarray(['a', 'ab', 'b']).map((names) => ({ names: new Set(names) })),
  { nil: undefined },
);

const KINDS = ['B', 'A', 'C'];

/** Filters all and sorts all. */
function naive(lists: readonly (readonly Named[])[], what: Sought, scope: ReadonlySet<string> | undefined) {
  const rankOf = ({ name, uid, labels }: Named): number => {
    if ('label' in what) return labels?.[what.label.key] === what.label.value ? 2 : -1;
    if (uid === what.text || name === what.text) return 0;
    if (name.startsWith(what.text)) return 1;
    return name.includes(what.text) ? 2 : -1;
  };
  return lists
    .flatMap((list, at) => list.map((object) => ({ object, kind: KINDS[at] ?? '', rank: rankOf(object) })))
    .filter(({ object, rank }) => rank >= 0 && (scope?.has(object.namespace) ?? true))
    .map(({ object: { namespace, name }, kind, rank }) => [rank, kind, namespace, name].join('\u0001'))
    .sort()
    .map((text) => text.split('\u0001'))
    .map(([, kind, namespace, name]) => `${kind} ${namespace}/${name}`);
}

describe('a generated search', () => {
  test('KD-40 answers as a filter and a sort over everything would', () => {
    const holds = fc.property(
      fc.tuple(objects, objects, objects),
      sought,
      within,
      fc.nat(30),
      (lists, what, scope, limit) => {
        const kinds = lists.map((list, at) => scanned(storeOf(KINDS[at] ?? '', list), 7));
        const matched = atOnce(matchedKinds(kinds, what));
        const { hits, totals } = atOnce(
          rankedHits(
            matched.map((one) => ({ ...one, within: scope })),
            what,
            limit,
          ),
        );
        const all = naive(lists, what, scope?.names);
        expect(shown(hits)).toEqual(all.slice(0, limit));
        expect([...totals.values()].reduce((sum, count) => sum + count, 0)).toBe(all.length);
        const anywhere = new Set(naive(lists, what, undefined).map((text) => text.split(' ')[0]));
        expect(new Set(matched.map(({ kind }) => kind.type.kind))).toEqual(anywhere);
      },
    );
    check(holds);
  });
});
