import { asObject, isObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';

type LabelSelector = Readonly<Record<string, string>>;

/** Services keep their selector, by which pods are found. */
export const SERVICE_WORDS: KindWords = { ...PLAIN_WORDS, project: ({ spec }) => selectorIn(spec) };

/** What `SERVICE_WORDS` keeps of a Service. */
export const selectorKept = (entry: { readonly own?: unknown } | undefined): LabelSelector | undefined =>
  entry?.own as LabelSelector | undefined;

function selectorIn(spec: unknown): LabelSelector | undefined {
  const { selector } = asObject(spec);
  return isObject(selector) && Object.values(selector).every((value) => typeof value === 'string')
    ? (selector as LabelSelector)
    : undefined;
}
