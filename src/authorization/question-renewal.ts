import { Backoff } from '../runtime/backoff.ts';
import { type CallFault, isOfTheQuestion } from '../runtime/call-pause.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { RecentQuestion, RecentQuestions } from './recent-questions.ts';

/** The answers that are kept young, as their authorizer knows them. */
export interface RenewableAnswers {
  /** How old the remembered answer is, in milliseconds. Infinity: there is none. */
  ageOf(question: RecentQuestion): number;
  /** Whether the cluster can be asked without being in anybody's way: callers' reviews neither wait, nor are paused. */
  hasRoom(): boolean;
  /** Asks the cluster and remembers the answer. Rejects when there is none, with an `Error & CallFault`. */
  renew(question: RecentQuestion, signal: AbortSignal): Promise<boolean>;
}

export interface QuestionRenewalParts {
  readonly recent: Pick<RecentQuestions, 'current' | 'has' | 'denied'>;
  readonly answers: RenewableAnswers;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts a review in the background. */
  count(outcome: 'allowed' | 'denied' | 'failed'): void;
}

/**
 * An outage of four fifths of `authorization.maxStaleness` is bridged: eight minutes of ten. So when it begins, no
 * answer may be older than the last fifth, two minutes.
 */
const BRIDGED_SHARE = 4 / 5;
/** An answer is asked for again at three quarters of that, 90 s: the last quarter is for waiting in turn. */
const RENEWED_AT = 3 / 4;
/** Each renewal takes up to this much off the next, by chance: questions that came together do not stay together. */
const JITTER = 1 / 4;
/** Between two looks for what is due. */
const LOOK_MS = 500;
/** 20 a second, and 17 with the wait before each look: 2,000 questions take 117 s, less than the two minutes. */
const PACE_MS = 50;
/** Then comes a new look, so that a question without an answer does not wait behind hundreds of old answers. */
const MOST_OF_A_LOOK = 60;
/** An answer takes a millisecond or two, so more than this are open only when the cluster is slow. */
const MOST_OPEN = 2;
/** After so many failures in a row the reason is not in the questions. */
const FAILURES_THAT_TELL = 3;
/** A question that failed lets the others go first for so long. */
const FAILED_WAITS_MS = 30_000;

/**
 * Keeps the answers to recent questions young, so that an outage finds none of them old. It asks slowly, the oldest
 * answer first, and is the first to give way: it asks nothing while a caller's review waits or reviews are paused, and it
 * takes none of their places.
 */
export class QuestionRenewal {
  /** The age at which an answer is asked for again, at the latest. */
  readonly #renewedAfterMs: number;
  readonly #parts: QuestionRenewalParts;
  readonly #backoff: Backoff;
  /** The age at which the next answer is asked for again, by question. */
  readonly #renewedAt = new WeakMap<RecentQuestion['id'], number>();
  /** The reviews under way, by question. */
  readonly #open = new Map<string, Promise<void>>();
  /** When a question that failed may be asked again. */
  readonly #failedUntil = new WeakMap<RecentQuestion['id'], number>();
  #failures = 0;
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
      for (const question of this.#mayAsk() ? this.#due() : []) {
        if (signal.aborted || !this.#mayAsk()) break;
        const isGone = !recent.has(question); // forgotten or denied meanwhile
        if (isGone || this.#open.has(question.id.key)) continue;
        await this.#begin(question, signal);
        await clock.sleep(PACE_MS, signal);
      }
      await clock.sleep(LOOK_MS, signal);
    }
    await Promise.all(this.#open.values());
  }

  #mayAsk = (): boolean => this.#parts.clock.monotonic() >= this.#pausedUntil && this.#parts.answers.hasRoom();

  /** The questions whose answer is missing or old, the oldest first. */
  #due(): RecentQuestion[] {
    const { recent, answers, clock } = this.#parts;
    const now = clock.monotonic();
    return recent
      .current()
      .map((question) => ({ question, ageMs: answers.ageOf(question) }))
      .filter(({ question, ageMs }) => ageMs >= (this.#renewedAt.get(question.id) ?? this.#renewedAfterMs))
      .filter(({ question }) => now >= (this.#failedUntil.get(question.id) ?? now))
      .sort((a, b) => (a.ageMs === b.ageMs ? 0 : b.ageMs - a.ageMs))
      .slice(0, MOST_OF_A_LOOK)
      .map(({ question }) => question);
  }

  async #begin(question: RecentQuestion, signal: AbortSignal): Promise<void> {
    const { key } = question.id;
    this.#renewedAt.set(question.id, this.#renewedAfterMs * (1 - JITTER * this.#parts.random.fraction()));
    const review = this.#renew(question, signal).finally(() => this.#open.delete(key));
    this.#open.set(key, review);
    if (this.#open.size >= MOST_OPEN) await Promise.race(this.#open.values());
  }

  async #renew(question: RecentQuestion, signal: AbortSignal): Promise<void> {
    const { recent, answers, count } = this.#parts;
    try {
      const allowed = await answers.renew(question, signal);
      count(allowed ? 'allowed' : 'denied');
      if (!allowed) recent.denied(question.id);
      this.#answered();
    } catch (error) {
      if (signal.aborted) return;
      count('failed');
      this.#failed(question, error as CallFault);
    }
  }

  #answered(): void {
    this.#failures = 0;
    this.#backoff.succeeded();
  }

  /** A cluster that refuses the question itself has answered, and would refuse it again. */
  #failed(question: RecentQuestion, fault: CallFault): void {
    const { clock, recent } = this.#parts;
    if (isOfTheQuestion(fault)) {
      recent.denied(question.id);
      this.#answered();
      return;
    }
    const now = clock.monotonic();
    this.#failedUntil.set(question.id, now + FAILED_WAITS_MS);
    const waitMs = ++this.#failures >= FAILURES_THAT_TELL && now >= this.#pausedUntil ? this.#backoff.failed() : 0;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.max(waitMs, fault.retryAfterMs ?? 0));
  }
}
