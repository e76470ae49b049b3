import { Backoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import { LastingFailure } from '../lasting-failure.ts';
import type { Random } from '../random.ts';
import { RecentReports } from '../recent-reports.ts';
import { BoundedCalls, type CallLimits, CallsPaused, CallTimedOut, TooManyCalls } from './bounded-calls.ts';
import { type CallFault, CircuitBreaker, isOfTheQuestion } from './circuit-breaker.ts';

export interface SharedCallOptions extends CallLimits {
  /**
   * The lines to log when calls begin to fail, when they are answered again, and, unless the caller logs that itself,
   * when a flow asks for more than its share and when all seats are taken.
   */
  readonly words: {
    readonly fail: string;
    readonly recover: string;
    readonly overload?: string;
    readonly full?: string;
  };
  /**
   * When this many flows fail and nobody is answered, the cluster fails. With fewer, the reason may lie in their
   * questions. Default 1.
   */
  readonly leastFailedFlows?: number;
  /** The longest pause between two probes, unless the cluster asks for more. Default: that of `Backoff`. */
  readonly longestBackoffMs?: number;
}

export interface SharedCallParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: ConstructorParameters<typeof LastingFailure>[1];
}

/**
 * A question that the cluster answers with 429 while it answers others is asked again for this long. Clients wait ten
 * seconds or more.
 */
const RETRIED_FOR_MS = 6_000;
/**
 * When this share of all calls is in flight and they are slow, they form a queue. With fewer, a slow call may be chance.
 */
const QUEUE_SHARE = 1 / 8;
/** The key under which it is logged that all seats are taken. No flow has this name. */
const EVERYBODY = '';

/** A question, and the flow that asks. */
export interface SharedCall {
  /** Equal for two questions that ask the same. */
  readonly key: string;
  /** Whose share of the seats the question counts in. Two flows never have the same key. */
  readonly flow: string;
}

/**
 * Asks questions of one kind to a cluster that must not be flooded and may fail. A limited number are open at a time,
 * shared fairly by the flows, and equal questions share one call. While calls fail, one probe is made after each
 * pause, for all of them together. Answers are not remembered.
 */
export class SharedCalls<Answer> {
  readonly #words: SharedCallOptions['words'];
  readonly #logger: SharedCallParts['logger'];
  readonly #calls: BoundedCalls;
  readonly #breaker: CircuitBreaker;
  readonly #reports: RecentReports;
  readonly #clock: Clock;
  readonly #queue: number;
  readonly #inFlight = new Map<string, Promise<Answer>>();
  readonly #timeoutMs: number;
  #answeredAt = Number.NEGATIVE_INFINITY;
  readonly #failure: LastingFailure;
  /** Why calls are paused: the last failure. */
  #fault: unknown;
  /** Resolves when the last probe has ended. */
  #probe: Promise<void> = Promise.resolve();

  constructor(options: SharedCallOptions, { clock, random, logger }: SharedCallParts) {
    this.#words = options.words;
    this.#logger = logger;
    this.#calls = new BoundedCalls(options, clock);
    const backoff = new Backoff(clock, random, options.longestBackoffMs);
    this.#breaker = new CircuitBreaker(clock, backoff, options.leastFailedFlows ?? 1);
    this.#reports = new RecentReports(clock);
    this.#failure = new LastingFailure(clock, logger);
    this.#clock = clock;
    this.#timeoutMs = options.timeoutMs;
    this.#queue = options.maxInFlight * QUEUE_SHARE;
  }

  /**
   * Whether calls of this flow are paused: from the deciding failure until a call is answered. A caller that has an
   * answer should not wait for another one then.
   */
  isPausedFor(flow: string): boolean {
    return this.#breaker.isOpenFor(flow);
  }

  /** Whether calls of all flows are paused. */
  get isPaused(): boolean {
    return this.#breaker.isOpenForAll;
  }

  /** Calls in flight, and questions waiting for their turn. */
  get load(): BoundedCalls['load'] {
    return this.#calls.load;
  }

  /**
   * The answer of the open call for this key, else of a new `call`. Rejects with `TooManyCalls` when our own seats are
   * taken, by this flow or by all; that says nothing about the cluster. Rejects with `CallsPaused` while calls fail:
   * one probe is let through after each pause, and a flow that has failed does not wait for its answer. The cause of
   * `CallsPaused` is the last failure. Otherwise rejects as `call` does.
   */
  ask(question: SharedCall, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { flow } = question;
    if (!this.#breaker.isOpenFor(flow)) return this.#share(question, call);
    if (!this.#breaker.takeProbe(flow)) return this.#afterProbe(question, call);
    const probe = this.#share(question, call);
    this.#probe = probe.then(
      () => this.#breaker.probeEnded(),
      () => this.#breaker.probeEnded(),
    );
    return probe;
  }

  /** A flow that has not failed itself may ask once the current probe has been answered. */
  #afterProbe(question: SharedCall, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    if (this.#breaker.hasFailed(question.flow)) return refusal(this.#fault);
    const answer = this.#probe.then(() =>
      this.#breaker.isOpenFor(question.flow) ? refusal(this.#fault) : this.#share(question, call),
    );
    answer.catch(() => undefined); // a caller that took a known answer no longer listens
    return answer;
  }

  #share(question: SharedCall, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const running = this.#inFlight.get(question.key);
    if (running !== undefined) return running;
    const answer = this.#run(question.flow, call).finally(() => this.#inFlight.delete(question.key));
    answer.catch(() => undefined); // a caller that took a known answer no longer listens
    this.#inFlight.set(question.key, answer);
    return answer;
  }

  /** Settles as `BoundedCalls.run` does, and records what the result says about the cluster. */
  async #run(flow: string, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const askedAt = this.#clock.monotonic();
    for (;;) {
      let beganAt = Number.POSITIVE_INFINITY;
      try {
        const answer = await this.#calls.run(flow, (signal) => {
          beganAt = this.#clock.monotonic();
          return call(signal);
        });
        this.#answered();
        return answer;
      } catch (error) {
        if (error instanceof TooManyCalls) throw this.#overloaded(flow, error);
        if (error instanceof CallsPaused) throw error;
        if (!this.#isAskedTooMuch(flow, error)) throw this.#failed(flow, error, beganAt);
        if (this.#clock.monotonic() - askedAt >= RETRIED_FOR_MS) throw this.#overloaded(flow, askedTooMuch());
      }
    }
  }

  /**
   * Whether a 429 of the cluster means that we ask too much: others are answered, or this flow has more calls open.
   * Then the question waits for its turn again, and turns come more slowly now. Otherwise the cluster is busy with
   * others.
   */
  #isAskedTooMuch = (flow: string, error: unknown): boolean =>
    (error as CallFault).status?.code === 429 && (this.#isAnswering || this.#calls.of(flow) > 0);

  /** Whether the cluster answered somebody a moment ago. */
  get #isAnswering(): boolean {
    return this.#clock.monotonic() - this.#answeredAt < this.#timeoutMs;
  }

  #answered(): void {
    this.#failure.over({}, this.#words.recover);
    this.#answeredAt = this.#clock.monotonic();
    this.#breaker.answered();
  }

  #overloaded(flow: string, error: TooManyCalls): TooManyCalls {
    const { overload, full } = this.#words;
    const sentence = error.byFlow ? overload : full;
    const isNews = sentence !== undefined && this.#reports.isNews(error.byFlow ? flow : EVERYBODY);
    // Operators know a flow as `party` in the log.
    if (isNews) this.#logger.warn(error.byFlow ? { party: flow } : {}, sentence);
    return error;
  }

  /**
   * Decides what a failure means. A cluster that answers others meanwhile is not away: it is too slow for as much as we
   * ask, or fails for this question. Otherwise this flow is paused, and all flows when several fail.
   */
  #failed(flow: string, error: unknown, beganAt: number): unknown {
    if (isOfTheQuestion(error)) {
      this.#answered();
      return error;
    }
    const isLate = error instanceof CallTimedOut;
    if (isLate && this.#answeredAt > beganAt && this.#calls.load.inFlight >= this.#queue)
      return this.#overloaded(flow, new TooManyCalls('the cluster is too slow for so many', false));
    if (this.#isAnswering) {
      if (this.#reports.isNews(`failing ${flow}`)) this.#logger.warn({ err: error, party: flow }, this.#words.fail);
      return error;
    }
    this.#fault = error;
    this.#failure.failed({ err: error }, this.#words.fail);
    this.#breaker.failed(flow, error as CallFault, isLate);
    if (this.#breaker.isOpenForAll) this.#calls.turnAway();
    else if (this.#breaker.isOpenFor(flow)) this.#calls.turnAway(flow);
    return error;
  }
}

const askedTooMuch = (): TooManyCalls => new TooManyCalls('the cluster is asked too much', false);

/** A caller with a known answer does not listen for this rejection. It must not count as unhandled. */
function refusal(cause: unknown): Promise<never> {
  const refused = Promise.reject(new CallsPaused('calls are paused', { cause }));
  refused.catch(() => undefined);
  return refused;
}
