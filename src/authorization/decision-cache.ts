import { hash } from 'node:crypto';
import { derived } from '../runtime/derived.ts';
import { FairMap, type FairMapLimits, type FlowKey } from '../runtime/limits/fair-map.ts';
import type { RequestAttributes, Subject } from './authorizer.ts';

/** An answer of the cluster and when it was given, by the monotonic clock. */
export interface Answered {
  readonly allowed: boolean;
  readonly at: number;
}

/** Two questions that ask the same have equal keys. The flow depends on the subject's name and uid, not on its groups. */
export type DecisionKey = FlowKey;

/**
 * Answers by key, within two limits (`FairMap`). Answers that are used, or that belong to a recent question, are renewed
 * within seconds or minutes. So the oldest answer is also the one unused for longest, and a read need not reorder anything.
 * The cache does not know how long an answer is good.
 */
export class DecisionCache {
  readonly #answers: FairMap<Answered>;

  constructor(limits: FairMapLimits) {
    this.#answers = new FairMap(limits);
  }

  get size(): number {
    return this.#answers.size;
  }

  get(key: string): Answered | undefined {
    return this.#answers.get(key);
  }

  set(question: DecisionKey, answer: Answered): void {
    this.#answers.set(question, answer);
  }

  /** Drops every answer about users of this name, with any uid. */
  forget(name: string): void {
    this.#answers.deleteFlows((flow) => isFlowOf(flow, name));
  }
}

/**
 * Longer than the questions of honest callers. With 10,000 entries all keys together have at most 2.5 MB of Latin
 * letters.
 */
const LONGEST_KEY = 256;

interface SubjectKeys {
  readonly flow: string;
  /** The subject's part of all its keys. */
  readonly who: string;
}

/**
 * Makes keys from user, uid, sorted groups and all attributes. A key is the text of the question. If the text is long, the
 * key is its SHA-256, so that callers cannot fill the memory by long paths. A digest never equals a text, which begins with
 * a bracket. Each part is made once for each object, because neither subjects nor attributes change.
 */
export function createDecisionKeys(): (subject: Subject, attributes: RequestAttributes) => DecisionKey {
  const subjectKeys = derived(toSubjectKeys);
  const what = derived(toWhat);
  return (subject, attributes) => {
    const { flow, who } = subjectKeys(subject);
    const question = who + what(attributes);
    return { key: question.length <= LONGEST_KEY ? question : hash('sha256', question, 'base64'), flow };
  };
}

/** Both parts of a key are JSON arrays, so two different questions never have the same text. */
const toSubjectKeys = ({ name, uid, groups }: Subject): SubjectKeys => ({
  flow: flowOf(name, uid),
  who: JSON.stringify([name, uid, [...groups].sort()]),
});

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** A user's flow has the uid in it, so a later user of the same name is another flow. A service account's has not. */
const flowOf = (name: string, uid: string): string => (name.startsWith(SERVICE_ACCOUNT) ? name : `${name} ${uid}`);

/** Whether the flow is a user of this name, with any uid. */
export const isFlowOf = (flow: string, name: string): boolean => flow === name || flow.startsWith(`${name} `);

function toWhat(attributes: RequestAttributes): string {
  if ('nonResource' in attributes) return JSON.stringify([attributes.nonResource.path, attributes.nonResource.verb]);
  const { verb, group, version, resource, subresource, namespace, name, fieldSelector, labelSelector } =
    attributes.resource;
  const words = [verb, group, version, resource, subresource, namespace, name];
  if (!fieldSelector && !labelSelector) return JSON.stringify(words);
  return JSON.stringify([...words, fieldSelector, labelSelector]);
}
