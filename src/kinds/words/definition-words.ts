import type { FilterReader } from '../../resources/query/filter.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { textIn } from './own-value.ts';

/** CustomResourceDefinitions: `name` also finds a part of the Kind. */
export const DEFINITION_WORDS: KindWords = {
  ...PLAIN_WORDS,
  filters: new Map<string, FilterReader>([
    ['name', (text) => (object) => object.name.includes(text) || (object.own as string).includes(text)],
  ]),
  project: ({ spec }) => textIn(asObject(spec)['names'], 'kind') ?? '',
  isSameOwn: Object.is,
};
