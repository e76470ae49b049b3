import { beforeAll, describe, expect, test } from 'vitest';
import { demandedValue } from '../../src/http/field-selector.ts';
import { formatQuantity, NANO, parseQuantity } from '../../src/nodes/usage/quantity.ts';
import { isSelector, parseSelector } from '../../src/resources/query/selector.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { askOracle } from '../support/oracles/ask-oracle.ts';
import {
  fieldSelectorTexts,
  LABEL_SETS,
  LONGEST_QUANTITY,
  labelSelectorTexts,
  MOST_REQUIREMENTS,
  quantityTexts,
} from '../support/oracles/kubernetes-texts.ts';
import { SEED } from '../support/seed.ts';

const TEXTS = 20_000;

/** It is compiled the first time. */
beforeAll(() => clusterTool('texts'));

/** Asks apimachinery about each text, and us; prints how many were read, and returns what differs. */
async function differing(
  kind: string,
  texts: readonly string[],
  read: (text: string) => unknown,
): Promise<Difference[]> {
  const answers = await askOracle<unknown>(
    'texts',
    texts.map((text) => ({ kind, text, sets: LABEL_SETS })),
  );
  const readable = answers.filter((answer) => answer !== null).length;
  console.log(`${kind}: ${texts.length} texts, ${readable} of them well-formed`);
  for (const count of [readable, texts.length - readable]) expect(count).toBeGreaterThan(TEXTS / 10);
  return texts.flatMap((text, at) => {
    const [ours, theirs] = [JSON.stringify(read(text)), JSON.stringify(answers[at])] as const;
    return ours === theirs ? [] : [{ text, ours, theirs }];
  });
}

interface Difference {
  readonly text: string;
  readonly ours: string;
  readonly theirs: string;
}

const GREATEST = (2n ** 63n - 1n) * NANO;
const nanoOf = (answer: string): bigint => BigInt((JSON.parse(answer) as { nano: string } | null)?.nano ?? 0);
const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

/** Deliberate: what is above the greatest quantity counts as it, as the documentation of Kubernetes says. */
const isCapped = (ours: string, theirs: string): boolean =>
  magnitude(nanoOf(theirs)) > GREATEST &&
  magnitude(nanoOf(ours)) === GREATEST &&
  nanoOf(ours) > 0n === nanoOf(theirs) > 0n;

/** Deliberate: `-G` is no quantity here. There it is zero, as it counts here, while `Pi` is none. */
const isWithoutDigits = ({ text, ours, theirs }: Difference): boolean =>
  ours === 'null' && nanoOf(theirs) === 0n && /^[+-]?\.?(?:[eE][+-]?\d+|[a-zA-Z]*)$/.test(text);

describe(`what apimachinery reads, and what not (seed ${SEED})`, () => {
  test(`${TEXTS} quantities, and their canonical texts`, async () => {
    const texts = quantityTexts(TEXTS, SEED);
    expect(Math.max(...texts.map(({ length }) => length))).toBe(LONGEST_QUANTITY);
    const found = await differing('quantity', texts, (text) => {
      const quantity = parseQuantity(text);
      if (!quantity) return null;
      return { nano: `${quantity.nano}`, text: formatQuantity(quantity.nano, quantity.format) };
    });
    const capped = found.filter(({ ours, theirs }) => isCapped(ours, theirs));
    const empty = found.filter(isWithoutDigits);
    console.log(`${capped.length} of them are above the greatest quantity, ${empty.length} have no digit`);
    const different = found.filter((one) => !capped.includes(one) && !empty.includes(one));
    expect(different.slice(0, 10), `${different.length} of ${TEXTS}`).toEqual([]);
  });

  test(`${TEXTS} label selectors, and what they match`, async () => {
    const texts = labelSelectorTexts(TEXTS, SEED);
    expect(texts[0]?.split(',').length).toBe(MOST_REQUIREMENTS);
    const different = await differing('labels', texts, (text) => {
      const selector = parseSelector(text);
      if ('message' in selector) return isSelector(text) ? 'told apart' : null;
      return LABEL_SETS.map((labels) => selector.matches(labels));
    });
    expect(different.slice(0, 10), `${different.length} of ${TEXTS}`).toEqual([]);
  });

  test(`${TEXTS} field selectors, and the name that they demand`, async () => {
    const texts = fieldSelectorTexts(TEXTS, SEED);
    const different = await differing('fields', texts, (text) => demandedValue(text, 'metadata.name') ?? null);
    expect(different.slice(0, 10), `${different.length} of ${TEXTS}`).toEqual([]);
  });
});
