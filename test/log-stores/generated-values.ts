import fc from 'fast-check';

/** Nothing of them is syntax, and most are no word of a record. */
const HOSTILE = [
  '*', '?', '"', '" OR 1=1', '"}}]}', '}}', '{"match_all":{}}', '\n', 'marker\nboundary', '\t', ' ', '\\', '\\*', '.*', 'ca.t', '.+', '[a-z]+', '(cart|db)-0',
  'cart|db', '^cart', 'db$', '~(cart)', '@', '#', '&', '<1-9>', 'db-<0-9>', 'cart~1', 'cart AND db', 'NOT cart', 'AND', 'OR', 'cart^2', '_exists_:log', '/.*/', '%', '%2A',
  '+cart -db', "'", '--', '0', '-1', 'null', 'true', '\u0000', '\u001b[31m', '\u001b[33mWARN', '33mwarn', '\ufeff', '\u200b', '\u00ad', 'größe', 'GRÖSSE', 'Gro\u0308ße', 'gros',
  '订单', '单已', '已', '订 单', 'Ａ', 'İ', 'ΟΔΟΣ', '😀', 'カート', '한국', 'ไทย', 'x'.repeat(255), 'x'.repeat(256), `cart-${'z'.repeat(200)}`, 'ab '.repeat(80), '订'.repeat(85),
]; // biome-ignore format: a list of short values

const WHAT_NAMES_HAVE = ['-', '.', '*', ' ', 'A', '0', '_', '/'];

/** A few elements, and now and then as many as a list may have. */
export const listOf = (element: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.array(element, { minLength: 1, maxLength: 2, size: 'max' }) },
    { weight: 3, arbitrary: fc.array(element, { minLength: 1, maxLength: 6, size: 'max' }) },
    {
      weight: 1,
      arbitrary: fc.array(
        element.filter((text) => text.length < 16 && !text.includes(',')),
        { minLength: 40, maxLength: 64, size: 'max' },
      ),
    },
  );

export const inAnyCase = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.nat(7)).map(([one, dice]) => (dice === 0 ? one.toUpperCase() : one));

/** Words of a text one after the other, the last of them cut anywhere. */
export const phraseOf = (texts: readonly string[], separator: RegExp): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 1, max: 4 }), fc.nat())
    .map(([text, at, count, cut]) => {
      const words = text.split(separator);
      const some = words
        .slice(at % words.length)
        .slice(0, count)
        .join(' ');
      return cut % 3 === 0 ? some : some.slice(0, some.length - (cut % 4));
    });

/** Any piece of a text. */
export const pieceOf = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 1, max: 12 }))
    .map(([text, at, length]) => text.slice(at % Math.max(text.length, 1)).slice(0, length));

/** A name, mostly as it is, or with something changed. */
export const nameOf = (names: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...names), fc.constantFrom(...WHAT_NAMES_HAVE))
        .map(([name, more]) => name + more),
    },
    { weight: 1, arbitrary: pieceOf(names) },
  );

const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc
    .array(fc.constantFrom(...HOSTILE.filter((text) => text.length < 12)), { minLength: 2, maxLength: 4, size: 'max' })
    .map((texts) => texts.join('')),
);

export const mostly = (usual: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: hostile })
    .filter((text) => Buffer.byteLength(text) <= 256);

export const different = (texts: readonly string[]): string[] => [...new Set(texts)].filter((text) => text !== '');

export const maybe = (percent: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight: percent, arbitrary: fc.constant(true) }, { weight: 100 - percent, arbitrary: fc.constant(false) });

export const atLeastOne = (texts: readonly string[]): readonly string[] => (texts.length === 0 ? ['none'] : texts);

/** Seconds since 1970 about these times and their days, and the ends of what a time may be. */
export function timeNear(times: readonly string[]): fc.Arbitrary<number> {
  const seconds = times.map((time) => Math.floor(Date.parse(time) / 1_000));
  const days = different(times.map((time) => time.slice(0, 10))).map((day) => Date.parse(day) / 1_000);
  return fc.oneof(
    fc.tuple(fc.constantFrom(...seconds), fc.integer({ min: -1, max: 1 })).map(([at, more]) => at + more),
    fc.constantFrom(...days),
    fc.constantFrom(0, -1, 253_402_300_799, -62_135_596_800),
  );
}

export const INTERVAL: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom('s', 'm', 'h', 'd'))
    .map(([count, unit]) => `${count}${unit}`),
  fc.constantFrom('1d', '1w', '1M', '1q', '1y', '999999999d'),
);

export const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
