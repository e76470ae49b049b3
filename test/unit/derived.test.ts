import { expect, test } from 'vitest';
import { derived } from '../../src/runtime/derived.ts';

test('what follows from an object is made once for each object, an absent value too', () => {
  const made: object[] = [];
  const of = derived((key: { readonly name?: string }) => {
    made.push(key);
    return key.name;
  });
  const [one, same, none] = [{ name: 'a' }, { name: 'a' }, {}];
  expect([of(one), of(one), of(same), of(none), of(none)]).toEqual(['a', 'a', 'a', undefined, undefined]);
  expect(made).toEqual([one, same, none]);
});
