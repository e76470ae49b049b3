import { withoutDefaults } from './defaults.ts';
import type { Course, Json, Sequence } from './steps.ts';

/** Members that differ from server to server and say nothing. */
const LEFT_OUT: ReadonlySet<string> = new Set(['managedFields']);
/** Members with a time: whether there is one counts. */
const TIMES: ReadonlySet<string> = new Set(['creationTimestamp', 'deletionTimestamp']);

/**
 * A course with what two servers cannot share in words that they can: versions and uids by the order in which they come up, times as
 * such, and without the objects of other sequences.
 */
export function inSharedWords(sequence: Sequence, course: Course): Course {
  const words = new SharedWords(sequence.id);
  return {
    outcomes: course.outcomes.map(({ status, body }) => ({ status, body: words.of(body) })),
    events: course.events.map((events) => events.filter(isMeant).map((event) => words.of(event))),
  };
}

/** Where the object is in etcd, before the reason why it is not the one that was meant. */
const PLACE = /StorageError: invalid object, Code: 4, Key: \S+, ResourceVersion: 0, AdditionalErrorMsg: /;
/** The object that a patch has made, and what a decoder says of it. */
const PATCHED = /Invalid value: "\{.*/s;
/** Of several rights to the same, a real server names any. */
const RIGHT = /^RBAC: allowed by .*/s;

/** In parentheses, or of a precondition. */
const VERSION = /(?<=\()\d+(?=\))|(?<=ResourceVersion in (?:precondition|object meta): )\d+/g;
/** A bookmark that ends no initial state comes when a server likes. */
const isMeant = ({ type, object }: Json): boolean => type !== 'BOOKMARK' || object.metadata.annotations !== undefined;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

class SharedWords {
  readonly #id: string;
  readonly #words = new Map<string, string>();

  constructor(id: string) {
    this.#id = id;
  }

  of(value: Json): Json {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((one) => this.of(one));
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value.items)) return this.#list(value);
    if (value.type === 'BOOKMARK') return { type: value.type, annotations: value.object.metadata.annotations };
    return this.#members(withoutDefaults(value.kind, value));
  }

  #list({ metadata, items, ...rest }: Json): Json {
    const own = items
      .filter((item: Json) => item.metadata.name.startsWith(`${this.#id}-`))
      .map((item: Json) => withoutDefaults(rest.kind.replace(/List$/, ''), item));
    const { resourceVersion: _, continue: token = '', ...more } = metadata;
    return { ...rest, metadata: { ...more, isMore: token !== '' }, items: this.of(own) };
  }

  #members(value: Json): Json {
    // In the order of the names, so that words are given in the same order.
    const names = Object.keys(value).filter((name) => !LEFT_OUT.has(name));
    return Object.fromEntries(names.sort().map((name) => [name, this.#member(name, value[name])]));
  }

  #member(name: string, value: Json): Json {
    if (TIMES.has(name)) return 'a time';
    if (name === 'causes') return distinct(this.of(value)); // a real server says some more than once
    return name === 'resourceVersion' ? this.#word('version', String(value)) : this.of(value);
  }

  #text(text: string): string {
    return text
      .replace(PLACE, '')
      .replace(PATCHED, 'Invalid value: the object')
      .replace(RIGHT, 'RBAC')
      .replace(UUID, (uid) => this.#word('uid', uid))
      .replace(VERSION, (version) => this.#word('version', version));
  }

  #word(what: string, value: string): string {
    const known = this.#words.get(value) ?? `${what} ${this.#words.size}`;
    this.#words.set(value, known);
    return known;
  }
}

const distinct = (causes: readonly Json[]): Json[] => [
  ...new Map(causes.map((cause) => [JSON.stringify(cause), cause] as const)).values(),
];
