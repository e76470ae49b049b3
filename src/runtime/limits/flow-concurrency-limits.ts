import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import type { ConcurrencyRange } from './concurrency-limit.ts';

/**
 * Slow calls leave a flow at least a quarter of its seats: some calls are slow by nature, and a page with twelve
 * calls, half of which take 1.7 s, is still answered within the time that a call may wait. Failing calls leave it one.
 */
const LEAST_WHEN_SLOW = 1 / 4;
/**
 * A flow for which even one call at a time is too much makes no call for this time, or for as long as the cluster asks.
 */
const SHORTEST_BACKOFF_MS = 1_000;
/** A wait for a turn may take longer than this, so a backoff alone refuses nobody. */
const LONGEST_BACKOFF_MS = 3_000;
/** The flows that had trouble most recently. A forgotten flow starts again like any other. */
const CAPACITY = 1_000;

interface FlowLimit {
  readonly current: number;
  /** How often it was cut. A cut counts once for all calls that began before it. */
  readonly cuts: number;
  /** The end of the backoff. */
  readonly notBefore: number;
}

/**
 * How many calls each flow may have in flight to a side whose capacity is unknown. Its limit grows by one for each
 * answered call, and is halved when its own calls fail or are slow (slow start, additive increase and multiplicative
 * decrease, as each TCP connection does for itself: RFC 5681, 3.1). Nobody has to find the flow that causes the
 * trouble: one that asks much meets it most often, and the trouble of one flow affects only itself.
 */
export class FlowConcurrencyLimits {
  readonly #clock: Clock;
  readonly #range: ConcurrencyRange;
  readonly #start: FlowLimit;
  /** The limits of flows that differ from the start. */
  readonly #flows = new BoundedMap<FlowLimit>(CAPACITY);

  constructor(clock: Clock, range: ConcurrencyRange) {
    this.#clock = clock;
    this.#range = range;
    this.#start = { current: range.first, cuts: 0, notBefore: Number.NEGATIVE_INFINITY };
  }

  /** Whether a flow with this many calls in flight may begin another one. */
  allows(flow: string, inFlight: number): boolean {
    const { current, notBefore } = this.#of(flow);
    return inFlight < Math.floor(current) && this.#clock.monotonic() >= notBefore;
  }

  /** The number of cuts so far. Read it when a call begins. */
  cutsOf = (flow: string): number => this.#of(flow).cuts;

  answered(flow: string): void {
    const limit = this.#of(flow);
    const growth = limit.cuts > 0 ? 1 / limit.current : 1;
    this.#flows.set(flow, { ...limit, current: Math.min(this.#range.most, limit.current + growth) });
  }

  /** Records that a call that was begun after that many cuts was slow. */
  slow(flow: string, cuts: number): void {
    this.#cut(flow, cuts, this.#range.most * LEAST_WHEN_SLOW);
  }

  /**
   * Records that a call failed and that the cluster asks to be left alone for `retryAfterMs`. Returns how long this flow
   * has to wait now, in ms.
   */
  failed(flow: string, cuts: number, retryAfterMs: number): number {
    const wasLeast = this.#of(flow).current < 2;
    this.#cut(flow, cuts, 1);
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, Math.max(retryAfterMs, wasLeast ? SHORTEST_BACKOFF_MS : 0));
    const limit = this.#of(flow);
    this.#flows.set(flow, { ...limit, notBefore: Math.max(limit.notBefore, this.#clock.monotonic() + backoffMs) });
    return backoffMs;
  }

  #cut(flow: string, cuts: number, least: number): void {
    const limit = this.#of(flow);
    if (cuts < limit.cuts) return;
    const current = Math.min(limit.current, Math.max(1, least, limit.current / 2));
    this.#flows.set(flow, { ...limit, cuts: limit.cuts + 1, current });
  }

  #of = (flow: string): FlowLimit => this.#flows.get(flow) ?? this.#start;
}
