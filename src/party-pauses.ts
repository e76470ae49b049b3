import type { Clock } from './clock.ts';

/** A cluster that answers 429 says for how long, in whole seconds; this is for one that does not. */
const SHORTEST_MS = 1_000;
/** Somebody who is paused by mistake is not shut out for minutes; somebody who floods is paused again at the next 429. */
const LONGEST_MS = 5_000;
/** Who was paused comes back with fewer questions at first, and is remembered so long: the next 429 is its own again. */
const LATELY_MS = 60_000;
/** An overload that goes on is told again each minute. */
const TOLD_EVERY_MS = 60_000;
/** More parties than places can be overloaded at a time only when each has gone again: old ones are forgotten. */
const CAPACITY = 1_000;

/**
 * Parties that the cluster is not asked for, and until when: because they asked for more than it takes, or because it fails
 * for them while it answers others. Bounded; forgets the oldest.
 */
export class PartyPauses {
  readonly #clock: Clock;
  readonly #pausedUntil = new Map<string, number>();
  readonly #failingUntil = new Map<string, number>();
  readonly #toldAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pause(party: string, ms: number): void {
    keep(this.#pausedUntil, party, this.#clock.monotonic() + Math.min(LONGEST_MS, Math.max(ms, SHORTEST_MS)));
  }

  isPaused(party: string): boolean {
    return this.#isWithin(this.#pausedUntil, party);
  }

  wasPausedLately(party: string): boolean {
    const until = this.#pausedUntil.get(party);
    return until !== undefined && this.#clock.monotonic() - until < LATELY_MS;
  }

  /** The cluster gave this party no answer. */
  failed(party: string, ms: number): void {
    keep(this.#failingUntil, party, this.#clock.monotonic() + Math.min(LONGEST_MS, Math.max(ms, SHORTEST_MS)));
  }

  isFailing(party: string): boolean {
    return this.#isWithin(this.#failingUntil, party);
  }

  #isWithin(times: Map<string, number>, party: string): boolean {
    return this.#clock.monotonic() < (times.get(party) ?? 0);
  }

  /** Whether anybody is paused now. */
  get isAnyPaused(): boolean {
    return [...this.#pausedUntil.keys()].some((party) => this.isPaused(party));
  }

  /** Whether the overload of this party was not told within the last minute. Whoever asks tells it now. */
  isNews(party: string): boolean {
    const now = this.#clock.monotonic();
    const toldAt = this.#toldAt.get(party);
    if (toldAt !== undefined && now - toldAt < TOLD_EVERY_MS) return false;
    keep(this.#toldAt, party, now);
    return true;
  }
}

function keep(times: Map<string, number>, party: string, time: number): void {
  times.delete(party);
  times.set(party, time);
  const [oldest = ''] = times.size > CAPACITY ? times.keys() : [];
  times.delete(oldest);
}
