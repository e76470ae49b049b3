import { hash } from 'node:crypto';
import type { RequestAttributes, Subject } from './authorizer.ts';

/** An answer of the cluster and when it was given, by the monotonic clock. */
export interface Answered {
  readonly allowed: boolean;
  readonly at: number;
}

/** The key of a question in the cache. */
export interface DecisionKey {
  /** Equal for two questions that ask the same. */
  readonly key: string;
  /** Whose share of the cache the answer counts in: the same for a subject, whatever its groups. */
  readonly party: string;
}

export interface DecisionCacheLimits {
  readonly maxEntries: number;
  /** Answers of one party; at most `maxEntries`. */
  readonly maxEntriesOfOne: number;
}

/**
 * Answers by key, within two bounds. When a party is full, its oldest answer is dropped. When the whole cache is full,
 * the oldest answer of all is dropped, unless the party of the new answer has more than the party of that one; then it
 * loses its own oldest. An answer in use is asked for again within seconds, so the oldest answer is also the one unused
 * for longest, and reading need not move anything. The cache does not know how long an answer is good. It is no
 * `BoundedMap`, because that has no bound for each party.
 */
export class DecisionCache {
  /** In the order of the answers: a Map and a Set keep the order of insertion. */
  readonly #answers = new Map<string, Answered & { readonly party: string }>();
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #limits: DecisionCacheLimits;

  constructor(limits: DecisionCacheLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#answers.size;
  }

  get(key: string): Answered | undefined {
    return this.#answers.get(key);
  }

  set({ key, party }: DecisionKey, { allowed, at }: Answered): void {
    this.#delete(key);
    const keys = this.#keysOf.get(party) ?? new Set();
    this.#keysOf.set(party, keys.add(key));
    this.#answers.set(key, { allowed, at, party });
    if (keys.size > this.#limits.maxEntriesOfOne) this.#deleteFirst(keys);
    if (this.#answers.size > this.#limits.maxEntries) this.#deleteOfTwo(keys);
  }

  /** Drops every answer about users of this name, whatever their uid. */
  forget(name: string): void {
    for (const [party, keys] of this.#keysOf) {
      if (isPartyOf(party, name)) for (const key of [...keys]) this.#delete(key);
    }
  }

  /**
   * Drops either the oldest answer of all or the oldest of this party, whichever party has more: the party that fills
   * the cache makes the room.
   */
  #deleteOfTwo(own: ReadonlySet<string>): void {
    const [oldest] = this.#answers.values();
    const others = this.#keysOf.get(oldest?.party ?? '')?.size ?? 0;
    this.#deleteFirst(own.size > others ? own : this.#answers);
  }

  #deleteFirst(keys: { keys(): Iterable<string> }): void {
    for (const key of keys.keys()) {
      this.#delete(key);
      return;
    }
  }

  #delete(key: string): void {
    const answer = this.#answers.get(key);
    if (!answer) return;
    this.#answers.delete(key);
    const keys = this.#keysOf.get(answer.party);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(answer.party);
  }
}

/**
 * Longer than the questions of honest callers. With 10,000 entries all keys together have at most 2.5 MB of Latin
 * letters.
 */
const LONGEST_KEY = 256;

interface SubjectKeys {
  readonly party: string;
  /** The subject's part of all its keys. */
  readonly who: string;
}

/**
 * Makes keys from user, uid, sorted groups and all attributes. A key is the question itself, or its SHA-256 when it is
 * long, because the caller writes the path and it would be kept. A digest never equals a question, since a question
 * begins with a bracket. The subject's part is made once for each object, because a subject never changes.
 */
export function createDecisionKeys(): (subject: Subject, attributes: RequestAttributes) => DecisionKey {
  const subjects = new WeakMap<Subject, SubjectKeys>();
  return (subject, attributes) => {
    const known = subjects.get(subject);
    const { party, who } = known ?? toSubjectKeys(subject);
    if (!known) subjects.set(subject, { party, who });
    const question = who + toWhat(attributes);
    return { key: question.length <= LONGEST_KEY ? question : hash('sha256', question, 'base64'), party };
  };
}

/** JSON, like the other part: two arrays, one after the other, so that neither can run over into the next. */
const toSubjectKeys = ({ name, uid, groups }: Subject): SubjectKeys => ({
  party: partyOf(name, uid),
  who: JSON.stringify([name, uid, [...groups].sort()]),
});

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/**
 * A user is a name and a uid, so a later user of the same name is another party. A service account is its full name.
 */
const partyOf = (name: string, uid: string): string => (name.startsWith(SERVICE_ACCOUNT) ? name : `${name} ${uid}`);

const isPartyOf = (party: string, name: string): boolean => party === name || party.startsWith(`${name} `);

function toWhat(attributes: RequestAttributes): string {
  if ('nonResource' in attributes) return JSON.stringify([attributes.nonResource.path, attributes.nonResource.verb]);
  const { verb, group, version, resource, subresource, namespace, name } = attributes.resource;
  return JSON.stringify([verb, group, version, resource, subresource, namespace, name]);
}
