import { withoutDefaults } from './defaults.ts';
import type { Course, Json, Sequence } from './steps.ts';

/** Members that differ between servers and do not matter. */
const LEFT_OUT: ReadonlySet<string> = new Set(['managedFields']);
/** Members with a time. Only their presence is compared. */
const TIMES: ReadonlySet<string> = new Set(['creationTimestamp', 'deletionTimestamp']);

/**
 * Makes the courses of two servers comparable. Versions and uids become words by their order of appearance, times become a fixed word, and
 * the objects of other sequences are removed.
 */
export function inSharedWords(sequence: Sequence, course: Course): Course {
  const words = new SharedWords(sequence.id);
  return {
    outcomes: course.outcomes.map(({ status, body }) => ({ status, body: words.of(body) })),
    events: course.events.map((events) => events.filter(isMeant).map((event) => words.of(event))),
  };
}

/** The path of an object in etcd, in a message before the reason of a conflict. */
const PLACE = /StorageError: invalid object, Code: 4, Key: \S+, ResourceVersion: 0, AdditionalErrorMsg: /;
/** The object that a patch has made, and the error of a decoder. */
const PATCHED = /Invalid value: "\{.*/s;
/** The right in the reason of a review. If there are several, a real server names any of them. */
const RIGHT = /^RBAC: allowed by .*/s;

/** A version in a message: in parentheses, or in the text about a precondition. */
const VERSION = /(?<=\()\d+(?=\))|(?<=ResourceVersion in (?:precondition|object meta): )\d+/g;
/** Whether an event is compared. Servers send bookmarks at different times, except the one that ends an initial state. */
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
    // In the order of the names, so that both servers get the same words.
    const names = Object.keys(value).filter((name) => !LEFT_OUT.has(name));
    return Object.fromEntries(names.sort().map((name) => [name, this.#member(name, value[name])]));
  }

  #member(name: string, value: Json): Json {
    if (TIMES.has(name)) return 'a time';
    if (name === 'causes') return distinct(this.of(value)); // a real server repeats some of them
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
