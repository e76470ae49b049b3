import { BoundedMap } from '../runtime/bounded-map.ts';
import type { Clock } from '../runtime/clock.ts';
import { FairMap } from '../runtime/limits/fair-map.ts';
import type { RequestAttributes, Subject } from './authorizer.ts';
import { createDecisionKeys, type DecisionKey, isFlowOf } from './decision-cache.ts';

/** A question whose last answer was "allowed". */
export interface RecentQuestion {
  readonly id: DecisionKey;
  readonly subject: Subject;
  readonly attributes: RequestAttributes;
  /** When a caller last asked, by the monotonic clock. */
  readonly askedAt: number;
}

/** A question that another replica shares. */
export type SharedQuestion = Omit<RecentQuestion, 'id'>;

/**
 * How long a question is recent after a caller asked it. R-11 promises: if one replica answered a caller in the ten minutes
 * before an outage, all replicas answer the caller during it.
 */
export const RECENT_MS = 600_000;
/**
 * Other replicas forget a question ten minutes after the last use that they know of. When half of that has passed, we share
 * a later use, which leaves five minutes to write it.
 */
const SHARED_AGAIN_AFTER_MS = 300_000;
/** The time of a question is updated at most this often, so that a caller that polls costs nothing. */
const TOUCHED_AGAIN_AFTER_MS = 1_000;

/** How many questions of our own callers we keep, and how many that other replicas share. */
export const MOST_QUESTIONS = 2_000;
/** How many of them may be of one caller. A console or a controller repeats fewer questions. */
const MOST_OF_ONE = 8;
/** In characters, each group counted with one more. So all questions take at most some 40 MB, and usually less than 1 MB. */
export const LONGEST_QUESTION = 4_096;
/** A user of a directory has a few dozen groups. Many short ones would cost more memory and time than their characters. */
const MOST_GROUPS = 200;
/** For how many users the last `forget` is remembered. It matters for ten minutes. */
const MOST_FORGOTTEN = 1_000;

const LIMITS = { maxEntries: MOST_QUESTIONS, maxEntriesOfOne: MOST_OF_ONE };

const UNSHARED = { sharedAt: Number.NEGATIVE_INFINITY, leftOutAt: Number.NEGATIVE_INFINITY };

interface OwnQuestion extends RecentQuestion {
  /** The last use that was shared with the other replicas. */
  readonly sharedAt: number;
  /** The last use that should have been shared but found no room. */
  readonly leftOutAt: number;
}

/**
 * The questions that callers have asked recently and whose answer was "allowed", without the answers. Our own callers'
 * questions and those of other replicas have separate limits, so that shared questions push out none of our own.
 */
export class RecentQuestions {
  readonly #clock: Clock;
  readonly #own = new FairMap<OwnQuestion>(LIMITS);
  readonly #shared = new FairMap<RecentQuestion>(LIMITS);
  /** By flow: when we last had shared as many of its questions as one flow may have. */
  readonly #fullAt = new BoundedMap<number>(MOST_QUESTIONS);
  readonly #forgottenAt = new BoundedMap<number>(MOST_FORGOTTEN);
  readonly #keyOf = createDecisionKeys();
  readonly #lengths = new WeakMap<Subject, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many questions our own callers asked, and how many come only from other replicas. */
  get counts(): { readonly own: number; readonly shared: number } {
    let shared = 0;
    for (const { id } of this.#shared.values()) if (!this.#own.get(id.key)) shared++;
    return { own: this.#own.size, shared };
  }

  /** Records that a caller of this replica was allowed this. It is called for each request, so it must cost next to nothing. */
  allowed(id: DecisionKey, subject: Subject, attributes: RequestAttributes): void {
    const known = this.#own.get(id.key);
    const askedAt = this.#clock.monotonic();
    if (known && askedAt - known.askedAt < TOUCHED_AGAIN_AFTER_MS) return;
    if (known) this.#own.set(id, { ...known, askedAt });
    else if (this.#mayBeShared(subject, attributes)) {
      const { name, uid, groups } = subject;
      this.#own.set(id, { id, subject: { name, uid, groups }, attributes, askedAt, ...UNSHARED });
    }
  }

  /** Records that the cluster has denied this. */
  denied({ key }: Pick<DecisionKey, 'key'>): void {
    this.#own.delete(key);
    this.#shared.delete(key);
  }

  /** Drops the questions of users of this name. Later ignores shared questions that these users asked before now. */
  forget(user: string): void {
    for (const questions of [this.#own, this.#shared]) questions.deleteFlows((flow) => isFlowOf(flow, user));
    this.#forgottenAt.set(user, this.#clock.monotonic());
  }

  /**
   * Takes over at most 2,000 questions of another replica (`decodeQuestions`) in one step. The length of each subject is
   * counted once. Each key is a hash over at most 4,096 characters: 8 million in all, some tens of milliseconds at worst.
   */
  learn(questions: Iterable<SharedQuestion>): void {
    for (const { subject, attributes, askedAt } of questions) {
      const forgottenAt = this.#forgottenAt.get(subject.name) ?? Number.NEGATIVE_INFINITY;
      if (this.#isOver(askedAt) || askedAt <= forgottenAt) continue;
      if (!this.#mayBeShared(subject, attributes)) continue;
      const id = this.#keyOf(subject, attributes);
      const known = this.#shared.get(id.key)?.askedAt ?? Number.NEGATIVE_INFINITY;
      if (askedAt > known) this.#shared.set(id, { id, subject, attributes, askedAt });
    }
  }

  has = ({ id: { key } }: Pick<RecentQuestion, 'id'>): boolean =>
    this.#own.get(key) !== undefined || this.#shared.get(key) !== undefined;

  /** Each recent question once. Those that nobody has asked for ten minutes are dropped. */
  current(): RecentQuestion[] {
    for (const questions of [this.#own, this.#shared])
      for (const { id, askedAt } of questions.values()) if (this.#isOver(askedAt)) questions.delete(id.key);
    const ofOthers = [...this.#shared.values()].filter(({ id }) => !this.#own.get(id.key));
    return [...this.#own.values(), ...ofOthers];
  }

  /**
   * Whether the other replicas lack a question of ours, or will soon forget one that is still asked. A flow's ninth question
   * is no news for five minutes after the others learned eight. Otherwise a flow that asks nine questions in turn would make
   * us write all the time, because each question pushes out another, which then comes back as a new one.
   */
  hasNews(): boolean {
    const full = new Set<string>();
    for (const [flow, latest] of this.#fullFlows(this.#shared.values())) if (this.#isYoung(latest)) full.add(flow);
    for (const question of this.#own.values()) if (this.#isNews(question, full)) return true;
    return false;
  }

  /** The questions to share, the latest first, without those that another replica shared recently. */
  toShare(): RecentQuestion[] {
    const isTheirs = ({ id }: RecentQuestion): boolean => this.#isYoung(this.#shared.get(id.key)?.askedAt);
    return [...this.#own.values()]
      .filter((question) => !this.#isOver(question.askedAt) && !isTheirs(question))
      .sort((a, b) => b.askedAt - a.askedAt);
  }

  /** Records that these were shared, and that there was no room for `leftOut`. */
  markShared(questions: Iterable<RecentQuestion>, leftOut: Iterable<RecentQuestion>): void {
    // Newer questions of a flow may have pushed some of these out meanwhile. The other replicas still know them.
    const known = new Map([...questions].map((question) => [question.id.key, question]));
    for (const question of known.values()) this.#note(question, { sharedAt: question.askedAt });
    for (const question of leftOut) this.#note(question, { leftOutAt: question.askedAt });
    for (const own of this.#own.values()) if (!this.#isOver(this.#knownAt(own))) known.set(own.id.key, own);
    for (const [flow] of this.#fullFlows(known.values())) this.#fullAt.set(flow, this.#clock.monotonic());
  }

  #note({ id }: RecentQuestion, change: Partial<OwnQuestion>): void {
    const known = this.#own.get(id.key);
    if (known) this.#own.replace(id.key, { ...known, ...change });
  }

  #isNews(question: OwnQuestion, full: ReadonlySet<string>): boolean {
    const { id, askedAt, leftOutAt } = question;
    const knownAt = this.#knownAt(question);
    if (askedAt <= Math.max(knownAt, leftOutAt) || this.#isOver(askedAt)) return false;
    if (knownAt > Number.NEGATIVE_INFINITY) return !this.#isYoung(knownAt);
    return !full.has(id.flow) && !this.#isYoung(this.#fullAt.get(id.flow));
  }

  /** The last use that the others know of. */
  #knownAt = ({ id, sharedAt }: OwnQuestion): number =>
    Math.max(sharedAt, this.#shared.get(id.key)?.askedAt ?? Number.NEGATIVE_INFINITY);

  /** The flows that have as many of these questions as one may have, with their latest use. */
  #fullFlows(questions: Iterable<RecentQuestion>): Map<string, number> {
    const flows = new Map<string, { count: number; latest: number }>();
    for (const { id, askedAt } of questions) {
      if (this.#isOver(askedAt)) continue;
      const { count, latest } = flows.get(id.flow) ?? { count: 0, latest: askedAt };
      flows.set(id.flow, { count: count + 1, latest: Math.max(latest, askedAt) });
    }
    const full = [...flows].filter(([, { count }]) => count >= MOST_OF_ONE);
    return new Map(full.map(([flow, { latest }]) => [flow, latest]));
  }

  /**
   * Whether other replicas would accept the question. If they refuse one, they refuse all that we share with it. A question
   * with selectors is not shared, because it belongs to a stream that is open here and asks it every 30 s.
   */
  #mayBeShared(subject: Subject, attributes: RequestAttributes): boolean {
    if ('resource' in attributes && (attributes.resource.fieldSelector || attributes.resource.labelSelector))
      return false;
    const length = this.#lengths.get(subject) ?? lengthOfSubject(subject);
    this.#lengths.set(subject, length);
    return length + lengthOfAttributes(attributes) <= LONGEST_QUESTION;
  }

  #isOver = (askedAt: number): boolean => this.#clock.monotonic() - askedAt >= RECENT_MS;

  /** Whether a use that the others know of is so recent that we need not share a later one yet. */
  #isYoung = (askedAt = Number.NEGATIVE_INFINITY): boolean => this.#clock.monotonic() - askedAt < SHARED_AGAIN_AFTER_MS;
}

/**
 * The characters of name, uid and groups, plus one for each group. Infinity for a subject that no replica accepts: without
 * a name, with an empty group, with too many groups, or with more characters than a question may have.
 */
export function lengthOfSubject({ name, uid, groups }: Subject): number {
  if (name === '' || groups.length > MOST_GROUPS) return Number.POSITIVE_INFINITY;
  let length = name.length + uid.length;
  for (const group of groups) {
    length += group.length + 1;
    if (group === '' || length > LONGEST_QUESTION) return Number.POSITIVE_INFINITY;
  }
  return length;
}

function lengthOfAttributes(attributes: RequestAttributes): number {
  const words = Object.values('resource' in attributes ? attributes.resource : attributes.nonResource) as string[];
  return words.reduce((sum, word) => sum + word.length, 0);
}
