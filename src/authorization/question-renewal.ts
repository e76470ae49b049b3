import { Backoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { type CallFault, isOfTheQuestion } from '../runtime/limits/circuit-breaker.ts';
import type { Random } from '../runtime/random.ts';
import type { BackgroundOutcome } from './metrics.ts';
import type { RecentQuestion, RecentQuestions } from './recent-questions.ts';

/** How much room there is for reviews that renew answers, besides those that callers wait for. */
export type Room =
  /** Reviews are paused: the cluster fails. */
  | 'none'
  /** Callers' reviews wait, or have many seats. */
  | 'little'
  | 'enough';

/** What the renewal needs of the authorizer that has the answers. */
export interface RenewableAnswers {
  /** How old the remembered answer is, in milliseconds; Infinity when no answer is remembered. */
  ageOf(question: RecentQuestion): number;
  room(): Room;
  /**
   * Asks the cluster, remembers the answer unless a newer one is known, and resolves to the newest one. Rejects if there is
   * no answer, with an `Error & CallFault`.
   */
  renew(question: RecentQuestion, signal: AbortSignal): Promise<boolean>;
}

export interface QuestionRenewalParts {
  readonly recent: Pick<RecentQuestions, 'current' | 'has' | 'denied'>;
  readonly answers: RenewableAnswers;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts a review in the background. */
  count(outcome: BackgroundOutcome): void;
}

/**
 * Remembered answers bridge an outage of four fifths of `authorization.maxStaleness`: eight minutes of ten. So when an
 * outage begins, no answer may be older than the other fifth, two minutes.
 */
const BRIDGED_SHARE = 4 / 5;
/** An answer is renewed at three quarters of that age, 90 s. In the last quarter it may wait for others that are due. */
const RENEWED_AT = 3 / 4;
/** Each answer is renewed earlier by up to this share, at random, so that questions asked together are renewed apart. */
const JITTER = 1 / 4;
/** The time between two searches for questions that are due. */
const LOOK_MS = 500;
/** 20 reviews a second, and 17 with the wait before each search: 2,000 questions take 117 s, less than the two minutes. */
const APART_MS = 50;
/** 4 reviews a second while callers need the cluster. This does not fall to 0, because callers may go on for ever. */
const SLOWLY_APART_MS = 250;
/** How many questions one search takes. Few, so that a new question without an answer does not wait behind hundreds. */
const MOST_OF_A_LOOK = 60;
/** How many reviews are open at a time. If a review takes 50 ms, two keep the pace; if it takes up to 350 ms, eight do. */
const [LEAST_OPEN, MOST_OPEN] = [2, 8];
/** The weight of the last review in the average time of a review. */
const LAST_COUNTS = 1 / 5;
/** A webhook that fails or hangs for one or two users is no outage for the others. */
const LEAST_FAILED_FLOWS = 3;
/** A question that failed waits for 30 s, and for twice as long after each further failure. Then it comes after the others. */
const [FAILED_WAITS_MS, FAILED_WAITS_MOST_MS] = [30_000, 120_000];

/**
 * Renews the answers to recent questions, so that none of them is old when an outage begins. It asks slowly, the oldest
 * answer first. Callers' reviews come before it: it asks little while they wait, nothing while they are paused, and it takes
 * no seat from them.
 */
export class QuestionRenewal {
  /** The greatest age at which an answer is renewed. */
  readonly #renewedAfterMs: number;
  readonly #parts: QuestionRenewalParts;
  readonly #backoff: Backoff;
  /** By question: the age at which its next answer is renewed. */
  readonly #renewedAt = new WeakMap<RecentQuestion['id'], number>();
  /** The reviews under way, by question. */
  readonly #open = new Map<string, Promise<void>>();
  /** How often each question has failed since its last answer, and until when it waits. */
  readonly #failed = new WeakMap<RecentQuestion['id'], { readonly times: number; readonly untilMs: number }>();
  /** The flows whose questions failed since the last answer to any question. */
  readonly #failedFlows = new Set<string>();
  /** The mean time that a review takes. */
  #takesMs = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  /** `maxStaleMs`: `authorization.maxStaleness`. */
  constructor(maxStaleMs: number, parts: QuestionRenewalParts) {
    this.#renewedAfterMs = maxStaleMs * (1 - BRIDGED_SHARE) * RENEWED_AT;
    this.#parts = parts;
    this.#backoff = new Backoff(parts.clock, parts.random);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, recent } = this.#parts;
    while (!signal.aborted) {
      for (const question of this.#room() === 'none' ? [] : this.#due()) {
        await this.#untilFewAreOpen();
        const room = this.#room();
        if (signal.aborted || room === 'none') break;
        const isGone = !recent.has(question); // forgotten or denied meanwhile
        if (isGone || this.#open.has(question.id.key)) continue;
        this.#begin(question, signal);
        await clock.sleep(room === 'little' ? SLOWLY_APART_MS : APART_MS, signal);
      }
      await clock.sleep(LOOK_MS, signal);
    }
    await Promise.all(this.#open.values());
  }

  #room = (): Room => (this.#parts.clock.monotonic() < this.#pausedUntil ? 'none' : this.#parts.answers.room());

  async #untilFewAreOpen(): Promise<void> {
    while (this.#open.size >= this.#mostOpen()) await Promise.race(this.#open.values());
  }

  #mostOpen(): number {
    if (this.#room() === 'little') return 1;
    return Math.min(MOST_OPEN, Math.max(LEAST_OPEN, Math.ceil(this.#takesMs / APART_MS) + 1));
  }

  /** The questions whose answer is missing or old, the oldest first. Those whose last review failed come after the others. */
  #due(): RecentQuestion[] {
    const { recent, answers, clock } = this.#parts;
    const now = clock.monotonic();
    return recent
      .current()
      .map((question) => ({ question, ageMs: answers.ageOf(question), failed: this.#failed.get(question.id) }))
      .filter(({ question, ageMs }) => ageMs >= (this.#renewedAt.get(question.id) ?? this.#renewedAfterMs))
      .filter(({ failed }) => failed === undefined || now >= failed.untilMs)
      .sort((a, b) => Number(a.failed !== undefined) - Number(b.failed !== undefined) || olderFirst(a.ageMs, b.ageMs))
      .slice(0, MOST_OF_A_LOOK)
      .map(({ question }) => question);
  }

  #begin(question: RecentQuestion, signal: AbortSignal): void {
    const { key } = question.id;
    this.#renewedAt.set(question.id, this.#renewedAfterMs * (1 - JITTER * this.#parts.random.fraction()));
    this.#open.set(
      key,
      this.#renew(question, signal).finally(() => this.#open.delete(key)),
    );
  }

  async #renew(question: RecentQuestion, signal: AbortSignal): Promise<void> {
    const { recent, answers, clock, count } = this.#parts;
    const began = clock.monotonic();
    try {
      const allowed = await answers.renew(question, signal);
      this.#takesMs += LAST_COUNTS * (clock.monotonic() - began - this.#takesMs);
      count(allowed ? 'allowed' : 'denied');
      if (!allowed) recent.denied(question.id);
      this.#answered(question);
    } catch (error) {
      if (signal.aborted) return;
      count('failed');
      this.#noteFailure(question, error as CallFault);
    }
  }

  #answered({ id }: RecentQuestion): void {
    this.#failed.delete(id);
    this.#failedFlows.clear();
    this.#backoff.succeeded();
  }

  #noteFailure(question: RecentQuestion, fault: CallFault): void {
    const { clock, recent } = this.#parts;
    // If the cluster refuses the question itself, that is its answer, and it would refuse again.
    if (isOfTheQuestion(fault)) {
      recent.denied(question.id);
      this.#answered(question);
      return;
    }
    const now = clock.monotonic();
    const { times } = this.#failed.get(question.id) ?? { times: 0 };
    const untilMs = now + Math.min(FAILED_WAITS_MS * 2 ** times, FAILED_WAITS_MOST_MS);
    this.#failed.set(question.id, { times: times + 1, untilMs });
    this.#failedFlows.add(question.id.flow);
    const isOutage = this.#failedFlows.size >= LEAST_FAILED_FLOWS && now >= this.#pausedUntil;
    const waitMs = isOutage ? this.#backoff.failed() : 0;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.max(waitMs, fault.retryAfterMs ?? 0));
  }
}

/** The order of two ages. Two questions without an answer are equally old. */
const olderFirst = (a: number, b: number): number => (a === b ? 0 : b - a);
