import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseObjects } from '../../../src/kubernetes/object-text.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizes, type Sizes } from '../../support/property.ts';

const parsed = (value: unknown): unknown => parseObjects(JSON.stringify(value));

const FIELDS = [
  {
    manager: 'kubelet',
    fieldsV1: { 'f:status': { 'k:{"type":"Ready"}': { '.': {} }, 'k:{"a]":"\\"}': {} }, list: [[1], ['[']] },
  },
];
const object = (metadata: object, rest: object = {}): object => ({
  kind: 'Pod',
  metadata: { name: 'a', uid: 'u', ...metadata },
  ...rest,
});

describe('an object is parsed without its managed fields', () => {
  const stored = object(
    { resourceVersion: '8123', managedFields: FIELDS, labels: { last: 'x' } },
    { spec: { a: [1] } },
  );
  const answered = object({ resourceVersion: '8123', managedFields: [], labels: { last: 'x' } }, { spec: { a: [1] } });

  test('by itself', () => expect(parsed(stored)).toEqual(answered));
  test('as an event', () =>
    expect(parsed({ type: 'ADDED', object: stored })).toEqual({ type: 'ADDED', object: answered }));
  test('as an item of a list', () => {
    const metadata = { resourceVersion: '9', continue: 'abc' };
    expect(parsed({ metadata, items: [stored, answered] })).toEqual({ metadata, items: [answered, answered] });
  });
});

describe('what only looks like metadata stays as it is', () => {
  test.each([
    ['managed fields of something else', object({ resourceVersion: '1' }, { spec: { managedFields: [1, 2] } })],
    ['managed fields that are no list', object({ managedFields: 'all', resourceVersion: '1' })],
    ['a version of something else', object({ resourceVersion: '1' }, { status: { resourceVersion: '22' } })],
    [
      'a version beside that of the object',
      object({ ownerReferences: [{ resourceVersion: '7' }], resourceVersion: '1' }),
    ],
    ['a short version with a blank at its end', object({ resourceVersion: '1 ' })],
    ['a version with blanks at its end', object({ resourceVersion: `1${' '.repeat(10)}` })],
    ['a long version', object({ resourceVersion: '12345678901234567890' })],
    ['an empty version', object({ resourceVersion: '' })],
    ['a version of escaped characters', object({ resourceVersion: '\n"\\' })],
    [
      'text about them',
      object({ annotations: { a: JSON.stringify(object({ resourceVersion: '1', managedFields: FIELDS })) } }),
    ],
    ['a key of their name with text', object({ labels: { resourceVersion: 'short', managedFields: 'x' } })],
    ['a list', [1, 'two']],
    ['text', 'resourceVersion'],
    ['nothing', null],
  ])('%s', (_, value) => expect(parsed(value)).toEqual(value));
});

test.each(['{"metadata":{"managedFields":[', '{"metadata":{"resourceVersion":"1"', '', '{"managedFields":[]]}'])(
  'text that is no JSON is a syntax error: %s',
  (text) => expect(() => parseObjects(text)).toThrow(SyntaxError),
);

test('the value is that of JSON.parse but for managed fields, whatever is in the object', () => {
  const largest = new Largest('objects without managed fields', 'items');
  // No key has a backslash: V8 14 reads the key `"` as `\\` where another object had that key at this place.
  const unit = fc.constantFrom('a', 'b', '1', ' ', '[', ']', '{', '"', ':', 'é', '🦊');
  const key = fc.oneof(fc.string({ unit }), fc.constantFrom('managedFields', 'resourceVersion', '"managedFields":['));
  const text = fc.oneof(key, fc.constantFrom('\\', '\\"', '\n]', '"resourceVersion":"1"'));
  const anything = fc.jsonValue({ maxDepth: 2, stringUnit: unit });
  const metadata = fc.record(
    {
      name: text,
      resourceVersion: fc.oneof(fc.nat().map(String), text, anything),
      labels: fc.dictionary(key, text),
      managedFields: fc.oneof(fc.array(anything), fc.array(fc.dictionary(key, fc.dictionary(key, anything))), anything),
    },
    { requiredKeys: [] },
  );
  const usual = fc.record({ metadata, spec: anything, status: fc.record({ note: text }) }, { requiredKeys: [] });
  const odd = fc.record({ metadata: anything, managedFields: anything, resourceVersion: text });
  const one = fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: odd });
  const anyOf = ({ upTo }: Sizes): fc.Arbitrary<unknown> => {
    const items = fc.oneof(...[usual, one].map((item) => fc.array(item, upTo(30))));
    return fc.oneof(one, fc.record({ type: text, object: one }), fc.record({ metadata, items }));
  };
  // Nothing in the largest case looks like the members that are changed, so each of its items loses its managed fields.
  const plain = fc.string({ unit });
  const managed = fc.array(fc.dictionary(plain, fc.dictionary(plain, anything)), { minLength: 1 });
  const version = fc.nat().map(String);
  const managedItem = fc.record({
    metadata: fc.record({ name: plain, resourceVersion: version, managedFields: managed }),
    spec: anything,
  });
  const largestOf = ({ upTo }: Sizes): fc.Arbitrary<unknown> =>
    fc.record({ metadata: fc.record({ resourceVersion: version }), items: fc.array(managedItem, upTo(30)) });
  const emptied = (from: unknown): unknown => {
    const whole = structuredClone(from) as { object?: unknown; items?: unknown[] };
    for (const each of [whole, whole.object, ...(whole.items ?? [])] as { metadata?: Record<string, unknown> }[])
      if (Array.isArray(each?.metadata?.['managedFields'])) each.metadata['managedFields'] = [];
    return whole;
  };
  const propertyOf = (sizes: Sizes) =>
    fc.property(sizes.isLargest ? largestOf(sizes) : anyOf(sizes), (from) => {
      const json = JSON.stringify(from);
      const expected = JSON.parse(json);
      const actual = parseObjects(json);
      // Where a member of that name stands elsewhere, all of the text is parsed as it came.
      const asItCame = isDeepStrictEqual(actual, expected);
      expect(actual).toEqual(asItCame ? expected : emptied(expected));
      if (!asItCame) largest.see((expected as { items?: unknown[] }).items?.length ?? 1);
    });
  checkSizes(propertyOf, { cases: 200, short: 40 });
  largest.expectAtLeast(30);
});
