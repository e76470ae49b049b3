import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ReflectedStore, StoredEntry } from '../../kubernetes/reflector/store.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { type AccountNames, userRef } from '../names.ts';
import { prefixOf } from './record-owner.ts';

/** What the mirror keeps of a login record: some 150 bytes for each of up to 100,000. */
export interface RecordEntry extends StoredEntry {
  /** The value of its label: the user's name, or a digest of a long one. */
  readonly ref: string;
  readonly createdAtMs: number;
  /** The client's address if the sign-in succeeded; `undefined` for a failure. */
  readonly source: string | undefined;
}

/** What a record says about a successful sign-in. */
export interface LearnedSuccess {
  readonly user: string;
  readonly source: string;
  readonly createdAtMs: number;
}

/** How many texts of entries that are not in the mirror yet are kept: those of one page of a list. */
const SPARE_TEXTS = 1_000;

const NONE: ReadonlyMap<string, RecordEntry> = new Map();

/** The login records of all users, reduced to what retention and the throttle need. Its reflector is the only writer. */
export class RecordMirror implements ReflectedStore<RecordEntry> {
  readonly #names: AccountNames;
  readonly #learned: (success: LearnedSuccess) => void;
  #entries = new Map<string, RecordEntry>();
  #byRef = new Map<string, Map<string, RecordEntry>>();
  /** Equal texts are kept once: most people sign in from few addresses. */
  #texts = new Map<string, string>();

  /** Calls `learned` for each new record of a success, whichever replica wrote it. */
  constructor(names: AccountNames, learned: (success: LearnedSuccess) => void) {
    this.#names = names;
    this.#learned = learned;
  }

  get size(): number {
    return this.#entries.size;
  }

  get = (key: string): RecordEntry | undefined => this.#entries.get(key);
  entries = (): readonly RecordEntry[] => [...this.#entries.values()];
  /** The labels of users who have records. */
  refs = (): Iterable<string> => this.#byRef.keys();
  of = (ref: string): Iterable<RecordEntry> => (this.#byRef.get(ref) ?? NONE).values();

  toEntry(object: KubernetesObject): RecordEntry {
    const { name, uid, resourceVersion, creationTimestamp, labels } = object.metadata;
    const ref = labels?.[this.#names.userRef];
    const spec = asObject(object['spec']);
    const createdAtMs = Date.parse(creationTimestamp ?? '');
    const isSuccess = spec['success'] === true && typeof spec['sourceIP'] === 'string' && spec['sourceIP'] !== '';
    return {
      key: name,
      uid,
      resourceVersion,
      ref: this.#once(ref ?? ''),
      createdAtMs: Number.isNaN(createdAtMs) ? 0 : createdAtMs,
      source: isSuccess ? this.#once(String(spec['sourceIP']).slice(0, LONGEST_ADDRESS)) : undefined,
    };
  }

  put(entry: RecordEntry): void {
    const before = this.#entries.get(entry.key);
    if (before) this.#forget(before);
    this.#keep(entry);
    if (!before) this.#tell(entry);
  }

  remove(key: string): void {
    const before = this.#entries.get(key);
    if (before) this.#forget(before);
  }

  *prepare(entries: readonly RecordEntry[]): Steps<() => void> {
    const known = this.#entries;
    const [all, byRef] = [new Map<string, RecordEntry>(), new Map<string, Map<string, RecordEntry>>()];
    const texts = new Map<string, string>();
    for (const entry of entries) {
      all.set(entry.key, entry);
      group(byRef, entry);
      for (const text of [entry.ref, entry.source]) if (text !== undefined) texts.set(text, text);
      if (!known.has(entry.key)) this.#tell(entry);
      yield;
    }
    return () => {
      this.#entries = all;
      this.#byRef = byRef;
      this.#texts = texts;
    };
  }

  #keep(entry: RecordEntry): void {
    this.#entries.set(entry.key, entry);
    group(this.#byRef, entry);
  }

  #forget({ key, ref }: RecordEntry): void {
    this.#entries.delete(key);
    const records = this.#byRef.get(ref);
    records?.delete(key);
    if (records?.size === 0) this.#byRef.delete(ref);
  }

  #tell(entry: RecordEntry): void {
    const user = userOf(entry);
    const { source, createdAtMs } = entry;
    if (user !== undefined && source !== undefined) this.#learned({ user, source, createdAtMs });
  }

  #once(text: string): string {
    if (this.#texts.size > 2 * this.#entries.size + SPARE_TEXTS) this.#texts.clear(); // most of them belong to no entry any more
    const known = this.#texts.get(text);
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }
}

/** Enough for IPv6 with a zone. Other tools may write records with any text. */
const LONGEST_ADDRESS = 64;

function group(byRef: Map<string, Map<string, RecordEntry>>, entry: RecordEntry): void {
  const records = byRef.get(entry.ref);
  if (records) records.set(entry.key, entry);
  else byRef.set(entry.ref, new Map([[entry.key, entry]]));
}

/** The user of a record. The record's own name tells whether its label is a user's name or the digest of a long one. */
export function userOf({ key, ref }: Pick<RecordEntry, 'key' | 'ref'>): string | undefined {
  const named = prefixOf(key);
  if (named === ref) return ref;
  return userRef(named) === ref ? named : undefined;
}
