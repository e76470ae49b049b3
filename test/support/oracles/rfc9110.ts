/**
 * A reader of Accept and Accept-Encoding, written from the grammar of RFC 9110 12.4 and 12.5. Text outside the grammar is read by the
 * rules of docs/contract/http.md, section 6, and `beyond` says so.
 */
export interface Reading<Answer> {
  readonly answer: Answer;
  /** The parts of the header that are outside the grammar, or undefined by it. */
  readonly beyond: ReadonlySet<Beyond>;
}

export type Beyond = 'weight' | 'star' | 'element' | 'twice';

interface Element {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly weight: number;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const PARAMETER = new RegExp(`^(${TOKEN})=(${TOKEN}|${QUOTED})$`);
const QVALUE = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;
/** A weight that counts as a number although it is outside the grammar. */
const NUMBER = /^[0-9]*\.?[0-9]*$/;

const trimmed = (text: string): string => text.replaceAll(/^[ \t]+|[ \t]+$/g, '');

/** Splits the text at commas and semicolons, even inside quotes, like both programs of Kubernetes and our own code. */
function elementsOf(lines: readonly string[], beyond: Set<Beyond>): Element[] {
  const texts = lines.flatMap((line) => line.split(',')).map(trimmed);
  return texts.filter((text) => text !== '').map((text) => elementOf(text, beyond));
}

function elementOf(text: string, beyond: Set<Beyond>): Element {
  const [name = '', ...rest] = text.split(';').map(trimmed);
  const parameters = new Map<string, string>();
  let weight = 1;
  for (const part of rest.filter((one) => one !== '')) {
    if (!PARAMETER.test(part)) beyond.add(/^q/i.test(part) ? 'weight' : 'element');
    const [key = '', value = '', ...more] = part.split('=').map(trimmed);
    if (value === '' || more.length > 0) continue;
    if (key.toLowerCase() === 'q') weight = weightOf(value, beyond);
    else parameters.set(key.toLowerCase(), value);
  }
  return { name: name.toLowerCase(), parameters, weight };
}

function weightOf(text: string, beyond: Set<Beyond>): number {
  if (QVALUE.test(text)) return Number(text);
  beyond.add('weight');
  return NUMBER.test(text) && /[0-9]/.test(text) ? Math.min(1, Number(text)) : 1;
}

/** An offered form: its type, and whether it has only the metadata of objects. */
export interface Offered {
  readonly type: 'application/json' | 'text/event-stream';
  readonly metadata: boolean;
}

/** The weight that the caller gives to each of the forms. 0: not acceptable. */
export function weightsOf(lines: readonly string[], offered: readonly Offered[]): Reading<readonly number[]> {
  const beyond = new Set<Beyond>();
  // A header without a value has no effect.
  if (lines.map(trimmed).join() === '') {
    return { answer: offered.map(({ metadata }) => (metadata ? 0 : 1)), beyond };
  }
  const elements = elementsOf(lines, beyond);
  if (elements.some(({ name }) => name === '*')) beyond.add('star');
  return { answer: offered.map((form) => weightOfForm(form, elements, beyond)), beyond };
}

function weightOfForm({ type, metadata }: Offered, elements: readonly Element[], beyond: Set<Beyond>): number {
  const [kind] = type.split('/');
  // The most specific range decides.
  for (const names of [[type], [`${kind}/*`], ['*/*', '*']]) {
    const covering = elements.filter(({ name, parameters }) => names.includes(name) && asksFor(parameters, metadata));
    const weights = new Set(covering.map(({ weight }) => weight));
    if (weights.size > 1) beyond.add('twice');
    if (weights.size > 0) return Math.max(...weights);
  }
  return 0;
}

/** Whether the parameters, which the API server uses to choose a form, choose the whole objects or only metadata. */
function asksFor(parameters: ReadonlyMap<string, string>, metadata: boolean): boolean {
  const [as = '', g = '', v = ''] = ['as', 'g', 'v'].map((key) => parameters.get(key));
  if ((parameters.get('stream') ?? 'watch') !== 'watch' || (parameters.get('sv') ?? 'v1') !== 'v1') return false;
  return `${as} ${g} ${v}` === (metadata ? 'PartialObjectMetadata meta.k8s.io v1' : '  ');
}

/** Whether the caller prefers gzip. The uncompressed form is acceptable even if the caller does not name it. */
export function prefersGzip(lines: readonly string[]): Reading<boolean> {
  const beyond = new Set<Beyond>();
  const elements = elementsOf(lines, beyond);
  const weightOfCoding = (...names: string[]): number | undefined => {
    const weights = new Set(elements.filter(({ name }) => names.includes(name)).map(({ weight }) => weight));
    if (weights.size > 1) beyond.add('twice');
    return weights.size === 0 ? undefined : Math.max(...weights);
  };
  const gzip = weightOfCoding('gzip', 'x-gzip') ?? weightOfCoding('*') ?? 0;
  return { answer: gzip > 0 && gzip >= (weightOfCoding('identity') ?? 0), beyond };
}
