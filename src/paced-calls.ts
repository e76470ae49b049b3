import { Backoff } from './backoff.ts';
import { BoundedCalls, type CallLimits, CallsPaused, CallTimedOut, TooManyCalls } from './bounded-calls.ts';
import { type CallFault, CallPause, isOfTheQuestion } from './call-pause.ts';
import type { Clock } from './clock.ts';
import { PartyPauses } from './party-pauses.ts';
import type { Random } from './random.ts';
import { RecentCalls } from './recent-calls.ts';

export interface PacedCallOptions extends CallLimits {
  /**
   * Logged when the calls begin to fail, when they are answered again, and, where the caller does not tell it, when a party
   * asks for more than its share and when all places are taken.
   */
  readonly words: {
    readonly fail: string;
    readonly recover: string;
    readonly overload?: string;
    readonly full?: string;
  };
  /** The pause between two probes grows to this, or to what the cluster asks for. Default: that of the back-off. */
  readonly longestPauseMs?: number;
}

export interface PacedCallParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: { info(message: string): void; warn(members: object, message: string): void };
}

/**
 * A party floods that asked within a second or two for twice what it may have under way: with 16 that is 32, and a page that is
 * polled each 200 ms asks ten times. Where all parties together asked for all that may be under way, those that asked for a
 * quarter of their share flood together. With less, a cluster that answers 429 is busy with others.
 */
const FLOOD = { one: 2, together: 0.25 };
/** A question of somebody else that met the 429 of a flood is asked again, after what the cluster asks for, at most so late. */
const LONGEST_RETRY_WAIT_MS = 2_000;
/** Eight seconds at most: a client waits ten or more. */
const MOST_RETRIES = 4;
/** For whom it is told that all places are taken; no party is called so. */
const EVERYBODY = '';

/** What is asked, and for whom. */
export interface Question {
  /** Equal for two questions that are one. */
  readonly key: string;
  /** Whose share of the places it takes. Two parties never have one key. */
  readonly party: string;
}

/**
 * Questions of one kind to a cluster that must not be flooded, and may fail: so many at a time, shared fairly by those who
 * ask, one for all who ask the same, and while they fail one probe after each pause, for all of them together. Nothing is
 * remembered of an answer.
 */
export class PacedCalls<Answer> {
  readonly #words: PacedCallOptions['words'];
  readonly #logger: PacedCallParts['logger'];
  readonly #calls: BoundedCalls;
  readonly #pause: CallPause;
  readonly #parties: PartyPauses;
  readonly #recent: RecentCalls;
  readonly #clock: Clock;
  readonly #flood: { readonly one: number; readonly together: number };
  readonly #crowd: number;
  readonly #underWay = new Map<string, Promise<Answer>>();
  readonly #timeoutMs: number;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: PacedCallOptions, { clock, random, logger }: PacedCallParts) {
    this.#words = options.words;
    this.#logger = logger;
    this.#calls = new BoundedCalls(options, clock);
    this.#pause = new CallPause(clock, new Backoff(clock, random, options.longestPauseMs));
    this.#parties = new PartyPauses(clock);
    this.#recent = new RecentCalls(clock);
    this.#clock = clock;
    this.#timeoutMs = options.timeoutMs;
    const { maxInFlight, maxInFlightOfOne = maxInFlight } = options;
    this.#flood = { one: maxInFlightOfOne * FLOOD.one, together: Math.max(2, maxInFlightOfOne * FLOOD.together) };
    this.#crowd = maxInFlight;
  }

  /** From the failure that told until a call is answered: nobody with an answer should wait for another. */
  get isPaused(): boolean {
    return this.#pause.isOn;
  }

  /** Whether a question of this party is refused now, because it asked for more than the cluster takes. It counts as asked. */
  refuses(party: string): boolean {
    if (!this.#parties.isPaused(party)) return false;
    this.#recent.add(party);
    return true;
  }

  /** Calls under way, and questions that wait for their turn. */
  get load(): BoundedCalls['load'] {
    return this.#calls.load;
  }

  /** Calls that may be under way now. */
  get room(): number {
    return this.#calls.room;
  }

  /**
   * The answer to the question under way for this key, else of a new `call`. Rejects with `TooManyCalls` when our own places
   * are taken, by this party or by all: that says nothing of the cluster. Rejects with `CallsPaused` while calls fail (one
   * at a time is let through, after each pause, and whoever comes meanwhile does not wait for it), and as `call` does.
   */
  ask(question: Question, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    if (this.#parties.isFailing(question.party)) return refusal();
    if (!this.#pause.isOn) return this.#share(question, call);
    if (!this.#pause.takeProbe(question.party)) return refusal();
    const probe = this.#share(question, call);
    probe.catch(() => undefined).finally(() => this.#pause.probeEnded());
    return probe;
  }

  #share(question: Question, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const running = this.#underWay.get(question.key);
    if (running !== undefined) return running;
    const answer = this.#run(question.party, call).finally(() => this.#underWay.delete(question.key));
    answer.catch(() => undefined); // whoever took a known answer listens no more
    this.#underWay.set(question.key, answer);
    return answer;
  }

  /** Settles as `BoundedCalls.run` does, and notes what that says of the cluster and of the party. */
  async #run(party: string, call: (signal: AbortSignal) => Promise<Answer>, retries = MOST_RETRIES): Promise<Answer> {
    this.#recent.add(party);
    if (this.#parties.isPaused(party)) throw this.#overloaded(party, paused());
    let beganAt = Number.POSITIVE_INFINITY;
    let isOfFlood = false;
    try {
      const answer = await this.#calls.run(party, async (signal) => {
        beganAt = this.#clock.monotonic();
        try {
          return await call(signal);
        } catch (error) {
          // Now, while the call has its slot: else the next question of the flood had it already.
          isOfFlood = this.#isOfFlood(party, error, beganAt);
          throw error;
        }
      });
      this.#answered();
      return answer;
    } catch (error) {
      if (error instanceof TooManyCalls) throw this.#overloaded(party, error);
      if (error instanceof CallsPaused) throw error;
      if (!isOfFlood) throw this.#failed(party, error, beganAt);
      if (this.#parties.isPaused(party)) throw this.#overloaded(party, paused());
      if (retries === 0) throw this.#overloaded(party, new TooManyCalls('others ask too much', false));
      await this.#clock.sleep(Math.min(LONGEST_RETRY_WAIT_MS, (error as CallFault).retryAfterMs ?? 0));
      return this.#run(party, call, retries - 1);
    }
  }

  #answered(): void {
    if (this.#failing) this.#logger.info(this.#words.recover);
    this.#failing = false;
    this.#answeredAt = this.#clock.monotonic();
    this.#pause.answered();
  }

  #overloaded(party: string, error: TooManyCalls): TooManyCalls {
    const { overload, full } = this.#words;
    const sentence = error.byParty ? overload : full;
    const isNews = sentence !== undefined && this.#parties.isNews(error.byParty ? party : EVERYBODY);
    if (isNews) this.#logger.warn(error.byParty ? { party } : {}, sentence);
    return error;
  }

  /**
   * What a failure says. A cluster that answers others meanwhile is not away: it is too slow for as much as we ask, or fails for
   * this party. Else all are paused; the first such failure in a row is worth a warning, the others are counted as requests.
   */
  #failed(party: string, error: unknown, beganAt: number): unknown {
    if (isOfTheQuestion(error)) {
      this.#answered();
      return error;
    }
    const isLate = error instanceof CallTimedOut;
    if (isLate && this.#answeredAt > beganAt && this.#calls.load.inFlight >= this.#calls.room / 2) {
      this.#calls.tooMany(beganAt);
      return this.#overloaded(party, new TooManyCalls('the cluster is too slow for so many', false));
    }
    const { retryAfterMs = 0 } = error as CallFault;
    if (this.#clock.monotonic() - this.#answeredAt < this.#timeoutMs) {
      if (this.#parties.isNews(`failing ${party}`)) this.#logger.warn({ err: error, party }, this.#words.fail);
      this.#parties.failed(party, retryAfterMs);
      return error;
    }
    if (!this.#failing) this.#logger.warn({ err: error }, this.#words.fail);
    this.#failing = true;
    this.#pause.failed(party, error as CallFault, isLate);
    if (this.#pause.isOn) this.#calls.turnAway();
    return error;
  }

  /**
   * Whether a cluster that answers 429 is asked too much by us, by parties that flood. The one that asks the most is paused;
   * only where nobody floods is the cluster busy with others, and all are paused. Somebody who flooded lately floods again.
   */
  #isOfFlood(party: string, error: unknown, beganAt: number): boolean {
    const { status, retryAfterMs = 0 } = error as CallFault;
    if (status?.code !== 429) return false;
    this.#calls.tooMany(beganAt);
    if (this.#parties.isPaused(party)) return true;
    const least = this.#recent.total >= this.#crowd ? this.#flood.together : this.#flood.one;
    const lately = this.#parties.wasPausedLately(party) ? party : undefined;
    const heaviest = this.#recent.heaviest(least, (other) => !this.#parties.isPaused(other)) ?? lately;
    if (heaviest === undefined) return this.#parties.isAnyPaused;
    this.#parties.pause(heaviest, retryAfterMs);
    this.#calls.turnAwayParty(heaviest);
    this.#overloaded(heaviest, paused());
    return true;
  }
}

const paused = (): TooManyCalls => new TooManyCalls('the calls of this party are paused', true);

/** Whoever has a known answer listens to no refusal: that is no unhandled rejection. */
function refusal(): Promise<never> {
  const refused = Promise.reject(new CallsPaused('calls are paused'));
  refused.catch(() => undefined);
  return refused;
}
