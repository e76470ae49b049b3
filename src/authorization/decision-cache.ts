import { hash } from 'node:crypto';
import type { RequestAttributes, Subject } from './authorizer.ts';

/** An answer of the cluster and when it was given, by the monotonic clock. */
export interface Answered {
  readonly allowed: boolean;
  readonly at: number;
}

/** Answers by key, at most `maxEntries`: the least recently used one goes. Knows nothing of how long an answer is good. */
export class DecisionCache {
  /** In the order of use: a Map keeps the order of insertion. */
  readonly #answers = new Map<string, Answered>();
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#answers.size;
  }

  get(key: string): Answered | undefined {
    const answer = this.#answers.get(key);
    if (answer) {
      this.#answers.delete(key);
      this.#answers.set(key, answer);
    }
    return answer;
  }

  set(key: string, answer: Answered): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    if (this.#answers.size <= this.#maxEntries) return;
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest);
      return;
    }
  }
}

/** Longer than the questions of honest callers. With 10,000 entries all keys together are at most 2.5 MB of Latin letters. */
const LONGEST_KEY = 256;

/**
 * Makes keys of user, uid, sorted groups and all attributes: the question itself, or its SHA-256 when it is long, because a
 * path is written by the caller and would be kept. No digest is a question: that begins with a bracket. The subject's part is
 * made once for each object: one that was given is never changed.
 */
export function createDecisionKeys(): (subject: Subject, attributes: RequestAttributes) => string {
  const subjects = new WeakMap<Subject, string>();
  return (subject, attributes) => {
    const who = subjects.get(subject) ?? toWho(subject);
    subjects.set(subject, who);
    const question = who + toWhat(attributes);
    return question.length <= LONGEST_KEY ? question : hash('sha256', question, 'base64');
  };
}

/** JSON, as the other part: two arrays, one after the other, and none can run over into the next. */
const toWho = ({ name, uid, groups }: Subject): string => JSON.stringify([name, uid, [...groups].sort()]);

function toWhat(attributes: RequestAttributes): string {
  if ('nonResource' in attributes) return JSON.stringify([attributes.nonResource.path, attributes.nonResource.verb]);
  const { verb, group, version, resource, subresource, namespace, name } = attributes.resource;
  return JSON.stringify([verb, group, version, resource, subresource, namespace, name]);
}
