import type { Document, Node, Pair, Scalar } from 'yaml';

/** A plain scalar that YAML parses as a number. It keeps its text, because `0123` as a number would be another text. */
export class PlainNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a kubeconfig, by the rules of Kubernetes' own YAML library. */
export type Value = null | boolean | string | PlainNumber | readonly Value[] | ReadonlyMap<string, Value>;

/**
 * Parses a kubeconfig as clients of Kubernetes do (sigs.k8s.io/yaml, which is YAML 1.1 without numbers of base 60): plain `yes` is
 * true, `0123` is a number, and merge keys are applied. Throws an `Error` for content that these clients read differently from the
 * standard: a duplicate member, several documents, tags. The errors name a line and quote nothing, because any word may be a secret.
 * Nothing is printed.
 */
export async function readKubeconfigText(bytes: Uint8Array): Promise<Value> {
  const text = decoded(bytes);
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // With this schema every scalar stays text, and `Reader` decides what it means. With these options the library prints nothing.
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    schema: 'failsafe',
    merge: false,
    prettyErrors: false,
  });
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const [error] = [...document.errors, ...document.warnings.filter(({ code }) => code === 'BAD_DIRECTIVE')];
  if (error?.code === 'DUPLICATE_KEY') throw new Error(`it names a member twice at line ${lineOf(error.pos[0])}`);
  if (error?.code === 'MULTIPLE_DOCS') throw new Error('it holds more than one document');
  if (error) throw new Error(`not YAML at line ${lineOf(error.pos[0])}`);
  return new Reader(yaml, document, lineOf).value(document.contents);
}

/** Characters that a YAML text may not contain (`yaml_reader` of go.yaml.in/yaml/v2, YAML 1.2.2, 5.1). */
const UNREADABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** Characters that are line breaks in YAML 1.1 and ordinary characters in YAML 1.2. */
const FORMER_BREAKS = /[\x85\u2028\u2029]/;

/** Decodes the text, and normalizes its line breaks. */
function decoded(bytes: Uint8Array): string {
  const text = fromUtf8(bytes);
  if (UNREADABLE.test(text)) throw new Error('it holds a control character');
  if (FORMER_BREAKS.test(text)) throw new Error('it holds a line break of YAML 1.1 alone');
  return text.replace(/\r\n?/g, '\n');
}

function fromUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8');
  }
}

/** The only accepted tag: its scalar is text. */
const TEXT_TAG = 'tag:yaml.org,2002:str';

class Reader {
  readonly #yaml: typeof import('yaml');
  readonly #document: Document.Parsed;
  readonly #lineOf: (offset: number) => number;
  /** The values of nodes that have been read. Each is read only once, because aliases of aliases could multiply without limit. */
  readonly #read = new Map<Node, Value>();
  /** The nodes that are being read, to detect an anchor that contains itself. */
  readonly #open = new Set<Node>();

  constructor(yaml: typeof import('yaml'), document: Document.Parsed, lineOf: (offset: number) => number) {
    this.#yaml = yaml;
    this.#document = document;
    this.#lineOf = lineOf;
  }

  value(node: unknown): Value {
    const { isAlias, isNode } = this.#yaml;
    if (!isNode(node)) return null;
    if (isAlias(node)) {
      const named = node.resolve(this.#document);
      if (!named) throw this.#fault('an alias without its anchor', node);
      return this.value(named);
    }
    const known = this.#read.get(node);
    if (known !== undefined) return known;
    if (this.#open.has(node)) throw this.#fault('an anchor inside of itself', node);
    this.#open.add(node);
    const value = this.#valueOf(node);
    this.#open.delete(node);
    this.#read.set(node, value);
    return value;
  }

  #valueOf(node: Node): Value {
    const { isMap, isScalar, isSeq } = this.#yaml;
    const tag = (node as { readonly tag?: string }).tag;
    if (tag !== undefined && !(isScalar(node) && tag === TEXT_TAG)) throw this.#fault('a tag', node);
    if (isScalar(node)) return tag === undefined ? this.#scalar(node) : String(node.value);
    if (isSeq(node)) return node.items.map((item) => this.value(item));
    if (isMap(node)) return this.#map(node.items);
    throw this.#fault('something unknown', node);
  }

  #scalar(node: Scalar): Value {
    const text = String(node.value);
    return node.type === 'PLAIN' ? plain(text) : text;
  }

  /** A merge key is applied at its position, so later members of the map replace merged ones, as in Kubernetes' own library. */
  #map(pairs: readonly Pair[]): ReadonlyMap<string, Value> {
    const map = new Map<string, Value>();
    for (const { key, value } of pairs) {
      if (this.#isMergeKey(key)) {
        for (const merged of this.#merged(value, key as Node)) for (const [name, one] of merged) map.set(name, one);
      } else map.set(this.#key(key), this.value(value));
    }
    return map;
  }

  #isMergeKey(key: unknown): boolean {
    const { isScalar } = this.#yaml;
    return isScalar(key) && key.type === 'PLAIN' && key.tag === undefined && key.value === '<<';
  }

  /** The maps of a merge key; later ones in the result replace members of earlier ones. */
  #merged(value: unknown, key: Node): readonly ReadonlyMap<string, Value>[] {
    const read = this.value(value);
    const maps = Array.isArray(read) ? (read as readonly Value[]).toReversed() : [read as Value];
    return maps.map((map) => {
      if (map instanceof Map) return map as ReadonlyMap<string, Value>;
      throw this.#fault('a merge key without a map', key);
    });
  }

  #key(key: unknown): string {
    const name = this.value(key);
    if (typeof name !== 'string') throw this.#fault('a name of a member that is not text', key);
    return name;
  }

  #fault(what: string, node: unknown): Error {
    const offset = (node as Node | null)?.range?.[0];
    return new Error(`it has ${what}${offset === undefined ? '' : ` at line ${this.#lineOf(offset)}`}`);
  }
}

const NULLS: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL']);
const TRUE: ReadonlySet<string> = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const FALSE: ReadonlySet<string> = new Set([
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'],
]);
/** An integer, after `_` has been removed, which YAML 1.1 allows between digits. */
const INTEGER = /^[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|\d+)$/;
const FLOAT = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;
const NO_NUMBER = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/;

/** The value of a scalar without quotes (`resolve` of go.yaml.in/yaml/v2). */
function plain(text: string): Value {
  if (NULLS.has(text)) return null;
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  const digits = /^[-+.\d]/.test(text) ? text.replaceAll('_', '') : '';
  return INTEGER.test(digits) || FLOAT.test(digits) || NO_NUMBER.test(text) ? new PlainNumber(text) : text;
}

/** A decimal number that has the same meaning in JSON and for every YAML parser. */
const CLEAR_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$/;

/** Converts a value for `JSON.stringify`. Throws an `Error` for a number whose meaning depends on the parser. */
export function toJsonValue(value: Value): unknown {
  if (value instanceof PlainNumber) {
    if (!CLEAR_NUMBER.test(value.text)) throw new Error('has a number in an extension that readers take differently');
    return Number(value.text);
  }
  if (Array.isArray(value)) return (value as readonly Value[]).map(toJsonValue);
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, Value>)].map(([name, one]) => [name, toJsonValue(one)] as const);
    return Object.fromEntries(members);
  }
  return value;
}
