import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';

/**
 * Slow calls leave a party at least a quarter of its places: some calls are slow by nature, and a page with twelve
 * calls, half of which take 1.7 s, is still answered within the time that a call may wait. Failing calls leave it one.
 */
const LEAST_WHEN_SLOW = 1 / 4;
/**
 * A party for which even one call at a time is too much makes no call for this time, or for as long as the cluster asks.
 */
const SHORTEST_HOLD_MS = 1_000;
/** A wait for a turn may take longer than this, so a hold alone refuses nobody. */
const LONGEST_HOLD_MS = 3_000;
/** The parties that had trouble most recently. A forgotten party starts again like any other. */
const CAPACITY = 1_000;

export interface WindowLimits {
  /** Calls of one party at a time, at first and at most. */
  readonly first: number;
  readonly most: number;
}

interface Window {
  readonly size: number;
  /** How often it was cut. A cut counts once for all calls that began before it. */
  readonly cuts: number;
  /** No call is begun before this time. */
  readonly heldUntil: number;
}

/**
 * How many calls each party may have under way to a side whose capacity is unknown. Its window grows by one for each
 * answered call, and is halved when its own calls fail or are slow (slow start, additive increase and multiplicative
 * decrease, as each TCP connection does for itself: RFC 5681, 3.1). Nobody has to find the party that causes the
 * trouble: one that asks much meets it most often, and the trouble of one party affects only itself.
 */
export class PartyWindows {
  readonly #clock: Clock;
  readonly #limits: WindowLimits;
  readonly #start: Window;
  /** The windows of parties that differ from the start. */
  readonly #windows = new BoundedMap<Window>(CAPACITY);

  constructor(clock: Clock, limits: WindowLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#start = { size: limits.first, cuts: 0, heldUntil: Number.NEGATIVE_INFINITY };
  }

  /** Whether a party with this many calls under way may begin another one. */
  allows(party: string, underWay: number): boolean {
    const { size, heldUntil } = this.#of(party);
    return underWay < Math.floor(size) && this.#clock.monotonic() >= heldUntil;
  }

  /** The number of cuts so far. Read it when a call begins. */
  cutsOf = (party: string): number => this.#of(party).cuts;

  answered(party: string): void {
    const window = this.#of(party);
    const growth = window.cuts > 0 ? 1 / window.size : 1;
    this.#windows.set(party, { ...window, size: Math.min(this.#limits.most, window.size + growth) });
  }

  /** Records that a call that was begun after that many cuts was slow. */
  slow(party: string, cuts: number): void {
    this.#cut(party, cuts, this.#limits.most * LEAST_WHEN_SLOW);
  }

  /**
   * Records that a call failed and that the cluster asks to be left alone for `retryAfterMs`. Returns how long this party
   * has to wait now, in ms.
   */
  failed(party: string, cuts: number, retryAfterMs: number): number {
    const wasLeast = this.#of(party).size < 2;
    this.#cut(party, cuts, 1);
    const holdMs = Math.min(LONGEST_HOLD_MS, Math.max(retryAfterMs, wasLeast ? SHORTEST_HOLD_MS : 0));
    const window = this.#of(party);
    this.#windows.set(party, { ...window, heldUntil: Math.max(window.heldUntil, this.#clock.monotonic() + holdMs) });
    return holdMs;
  }

  #cut(party: string, cuts: number, least: number): void {
    const window = this.#of(party);
    if (cuts < window.cuts) return;
    const size = Math.min(window.size, Math.max(1, least, window.size / 2));
    this.#windows.set(party, { ...window, cuts: window.cuts + 1, size });
  }

  #of = (party: string): Window => this.#windows.get(party) ?? this.#start;
}
