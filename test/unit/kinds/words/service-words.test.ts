import { expect, test } from 'vitest';
import { selectorKept } from '../../../../src/kinds/words/service-words.ts';
import { listing, object } from './worded-kind.ts';

test('a Service keeps its selector, by which a lookup finds its pods', () => {
  const { put, store } = listing('services.');
  put(object('a/web', { spec: { selector: { app: 'web' } } }), object('a/outside', { spec: {} }));
  put(object('a/odd', { spec: { selector: { app: 1 } } }));
  expect(selectorKept(store.get('a/web'))).toEqual({ app: 'web' });
  expect(['a/outside', 'a/odd', 'a/none'].map((key) => selectorKept(store.get(key)))).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});
