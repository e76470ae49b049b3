import type { FilterReader } from '../../resources/query/filter.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { equals, isSameOwnValue, textIn } from './own-value.ts';

/** What is scaled. */
interface AutoscalerOwn {
  readonly kind: string | undefined;
  readonly name: string | undefined;
}

export const AUTOSCALER_WORDS: KindWords = {
  ...PLAIN_WORDS,
  filters: new Map<string, FilterReader>([
    ['targetKind', equals<AutoscalerOwn>(({ kind }) => kind)],
    ['targetName', equals<AutoscalerOwn>(({ name }) => name)],
  ]),
  project({ spec }): AutoscalerOwn {
    const { scaleTargetRef } = asObject(spec);
    return { kind: textIn(scaleTargetRef, 'kind'), name: textIn(scaleTargetRef, 'name') };
  },
  isSameOwn: isSameOwnValue,
};
