import { Backoff } from './backoff.ts';
import { BoundedCalls, type CallLimits, CallTimedOut, TooManyCalls } from './bounded-calls.ts';
import { type CallFault, CallPause } from './call-pause.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export interface PacedCallOptions extends CallLimits {
  /** Logged when the calls begin to fail, and when they are answered again. */
  readonly words: { readonly fail: string; readonly recover: string };
  /** The pause between two probes grows to this, or to what the cluster asks for. Default: that of the back-off. */
  readonly longestPauseMs?: number;
}

export interface PacedCallParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: { info(message: string): void; warn(members: object, message: string): void };
}

/**
 * Questions of one kind to a cluster that must not be flooded, and may fail: so many at a time, one for all who ask the same,
 * and while they fail one probe after each pause, for all of them together. Nothing is remembered of an answer.
 */
export class PacedCalls<Answer> {
  readonly #words: PacedCallOptions['words'];
  readonly #logger: PacedCallParts['logger'];
  readonly #calls: BoundedCalls;
  readonly #pause: CallPause;
  readonly #underWay = new Map<string, Promise<Answer>>();
  #failing = false;

  constructor(options: PacedCallOptions, { clock, random, logger }: PacedCallParts) {
    this.#words = options.words;
    this.#logger = logger;
    this.#calls = new BoundedCalls(options, clock);
    this.#pause = new CallPause(clock, new Backoff(clock, random, options.longestPauseMs));
  }

  /** From the failure that told until a call is answered: nobody with an answer should wait for another. */
  get isPaused(): boolean {
    return this.#pause.isOn;
  }

  /**
   * The question under way for this key, else a new one, for which `begin` makes its call by `run`. `undefined` while the
   * calls are paused: then one at a time is let through, after each pause, and whoever comes meanwhile does not wait for it.
   */
  once(key: string, begin: () => Promise<Answer>): Promise<Answer> | undefined {
    if (!this.#pause.isOn) return this.#share(key, begin);
    if (!this.#pause.takeProbe()) return undefined;
    const probe = this.#share(key, begin);
    probe.catch(() => undefined).finally(() => this.#pause.probeEnded());
    return probe;
  }

  /** Settles as `BoundedCalls.run` does, and notes what that says of the cluster. */
  async run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const answer = await this.#calls.run(call);
      this.#answered();
      return answer;
    } catch (error) {
      if (!(error instanceof TooManyCalls)) this.#failed(error);
      throw error;
    }
  }

  #share(key: string, begin: () => Promise<Answer>): Promise<Answer> {
    const running = this.#underWay.get(key);
    if (running !== undefined) return running;
    const question = begin().finally(() => this.#underWay.delete(key));
    question.catch(() => undefined); // whoever took a known answer listens no more
    this.#underWay.set(key, question);
    return question;
  }

  #answered(): void {
    if (this.#failing) this.#logger.info(this.#words.recover);
    this.#failing = false;
    this.#pause.answered();
  }

  /** The first failure in a row is worth a warning; the others are counted as requests to the cluster. */
  #failed(error: unknown): void {
    if (!this.#failing) this.#logger.warn({ err: error }, this.#words.fail);
    this.#failing = true;
    this.#pause.failed(error as CallFault, error instanceof CallTimedOut);
    if (this.#pause.isOn) this.#calls.turnAway();
  }
}
