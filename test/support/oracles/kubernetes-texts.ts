import { type Chance, chanceOf } from './chance.ts';

const DIGITS = Array.from('0123456789');
const SIGNS = ['', '', '', '', '', '+', '-', '+-'];
const SUFFIXES = ['', '', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const ODD_SUFFIXES = [
  'K',
  'ki',
  'mi',
  'B',
  'Kib',
  'e',
  'E+',
  'e+3',
  'E-3',
  'e3',
  'E3',
  'e12',
  'e-9',
  'e-12',
  'e18',
  'e19',
  'e300',
  'Ee3',
  ' ',
  'µ',
  '.',
];
/** The longest text that our reader accepts. */
export const LONGEST_QUANTITY = 128;

/** Texts of quantities, and texts that only look like one. The first one has the greatest length. */
export function quantityTexts(count: number, seed: number): string[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, (_, at) => {
    if (at === 0) return '1'.repeat(LONGEST_QUANTITY - 10).padEnd(LONGEST_QUANTITY, '.000000001');
    return oneQuantity(chance);
  });
}

function oneQuantity({ text, oneOf, happens }: Chance): string {
  const whole = happens(0.1) ? '' : happens(0.2) ? text(['0', '9'], 1, 22) : text(DIGITS, 1, 6);
  const fraction = happens(0.3) ? `.${text(DIGITS, 0, 14)}` : '';
  const suffix = happens(0.7) ? oneOf(SUFFIXES) : oneOf(ODD_SUFFIXES);
  const around = happens(0.02) ? oneOf([' ', '\n', '_', ',']) : '';
  return `${around}${oneOf(SIGNS)}${whole}${fraction}${suffix}`;
}

const KEYS = [
  'a',
  'b',
  'tier',
  'x.y/z',
  'in',
  'notin',
  'A_b',
  '-a',
  'a-',
  'x/y/z',
  '/a',
  'X.Y/z',
  'ü',
  'a'.repeat(63),
  'a'.repeat(64),
  `${'d'.repeat(253)}/a`,
  `${'d'.repeat(254)}/a`,
];
const VALUES = ['', 'b', 'c', 'v1', '5', '-5', '007', 'in', '-', 'a_b', 'ü', 'v'.repeat(63), 'v'.repeat(64)];
const OPERATORS = ['=', '==', '!=', ' in ', ' notin ', '>', '<', ' = ', '===', '=!', '<=', ' In ', '', ' '];
const ODD_SIGNS = ['(', ')', ',', '!', ' ', '\t', '\n', '\u00a0', '=', '"'];

/** The sets of labels to which each selector is applied. */
export const LABEL_SETS: readonly Readonly<Record<string, string>>[] = [
  {},
  { a: 'b' },
  { a: '', b: 'c', tier: '5' },
  { a: '5', b: 'v1', 'x.y/z': 'b', in: 'in' },
  { a: '-5', notin: '', A_b: 'c', tier: '9223372036854775807' },
];

/** The number of requirements in the first selector, which is our limit. */
export const MOST_REQUIREMENTS = 64;

/** Texts of label selectors, and texts that only look like one. */
export function labelSelectorTexts(count: number, seed: number): string[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, (_, at) => {
    if (at === 0) return Array.from({ length: MOST_REQUIREMENTS }, (__, one) => `k${one}!=v`).join(',');
    const requirements = Array.from({ length: chance.below(4) }, () => oneRequirement(chance));
    const text = requirements.join(chance.happens(0.9) ? ',' : chance.oneOf([' ,', ', ', ',,', '']));
    if (!chance.happens(0.15)) return text;
    const place = chance.below(text.length + 1);
    return text.slice(0, place) + chance.oneOf(ODD_SIGNS) + text.slice(place);
  });
}

function oneRequirement({ oneOf, happens, below }: Chance): string {
  // Many of the keys are in one of the sets of labels.
  const key = happens(0.6) ? oneOf(['a', 'b', 'tier', 'x.y/z']) : oneOf(KEYS);
  if (happens(0.1)) return happens(0.5) ? key : `!${key}`;
  const operator = oneOf(OPERATORS);
  const value = (): string => (happens(0.6) ? oneOf(['b', 'c', '5', '']) : oneOf(VALUES));
  const isSet = operator.trim().toLowerCase().endsWith('in') ? happens(0.95) : happens(0.05);
  if (!isSet) return `${key}${operator}${value()}`;
  const values = Array.from({ length: below(4) }, value).join(happens(0.8) ? ',' : ' , ');
  return `${key}${operator}(${values})`;
}

const FIELDS = [
  'metadata.name',
  'metadata.name',
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'metadata.name ',
  '',
  'Metadata.name',
];
const FIELD_OPERATORS = ['=', '=', '==', '!=', '', '===', '=!', '!==', '!'];
const FIELD_VALUES = [
  'a',
  'a',
  'web-0',
  '',
  'system:node:x',
  'a\\,b',
  'a\\=b',
  'a\\\\',
  'a\\b',
  'a\\',
  'a=b',
  '..',
  '.',
  'a/b',
  'a%b',
  'ü',
  'a b',
  'x'.repeat(253),
  'x'.repeat(254),
  'b,metadata.name=a',
  '\u{1f600}',
  '\uffee',
];

/** A field selector. Half of them select one name. */
export function oneFieldSelector({ oneOf, happens, below }: Chance): string {
  if (happens(0.5)) return `metadata.name=${oneOf(FIELD_VALUES)}`;
  return Array.from({ length: 1 + below(3) }, () => oneOf(FIELDS) + oneOf(FIELD_OPERATORS) + oneOf(FIELD_VALUES)).join(
    ',',
  );
}

export function fieldSelectorTexts(count: number, seed: number): string[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, () => oneFieldSelector(chance));
}
