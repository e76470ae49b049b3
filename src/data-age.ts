import { StatusError } from './status-error.ts';

/**
 * After an outage the next attempt to follow the cluster is at most 30 s away (`backoff.ts`), so a client gains nothing by asking
 * sooner.
 */
const RETRY_SECONDS = 30;

/**
 * When a copy of data was last proved current. The part that follows the data writes it; checks, readiness and metrics read it. So
 * a request that depends on the age of data need not ask for it.
 */
export interface LastProof {
  /** Milliseconds of the monotonic clock; -Infinity before the first proof. */
  readonly at: number;
}

/** A proof that its owner has yet to write. Until then the copy is infinitely old. */
export const neverProven = (): { at: number } => ({ at: Number.NEGATIVE_INFINITY });

/** Whether the copy was ever proved current. */
export const isProven = ({ at }: LastProof): boolean => at > Number.NEGATIVE_INFINITY;

/** The age of the oldest of these copies in milliseconds: Infinity while one of them has no proof, 0 when there are none. */
export function oldestAgeMs(proofs: readonly LastProof[], now: number): number {
  let oldest = 0;
  for (const { at } of proofs) oldest = Math.max(oldest, now - at);
  return oldest;
}

/** A copy of data that may be used up to some age. */
export interface AgingCopy {
  /** The name by which callers know the data, such as `users`. */
  readonly data: string;
  readonly proof: LastProof;
  /** Infinity: the copy needs a first proof, and then never grows too old. */
  readonly maxAgeMs: number;
}

/** Whether each copy has a proof and none is older than allowed. */
export function areCurrent(copies: readonly AgingCopy[], now: number): boolean {
  for (const { proof, maxAgeMs } of copies)
    if (now - proof.at > maxAgeMs || proof.at === Number.NEGATIVE_INFINITY) return false;
  return true;
}

/** The message about the first of these copies that is older than allowed; `undefined` when none is. */
export function tooOldAmong(copies: readonly AgingCopy[], now: number): string | undefined {
  for (const { data, proof, maxAgeMs } of copies) {
    const sentence = tooOldText(data, now - proof.at, maxAgeMs);
    if (sentence !== undefined) return sentence;
  }
  return undefined;
}

/**
 * The message to a caller about data that is older than allowed: it names the data and the limit. `ageMs` is Infinity before the
 * first proof that the data is current. Then it returns `undefined`, because there is no data yet; another check reports that.
 */
export const tooOldText = (data: string, ageMs: number, limitMs: number): string | undefined =>
  ageMs > limitMs && Number.isFinite(ageMs)
    ? `${data} are not available: data is older than ${durationText(limitMs)}`
    : undefined;

/** The 503 for data that is older than allowed. Its message is a sentence of `tooOldText`, under /oauth as well. */
export class DataTooOld extends StatusError {
  readonly retryAfterSeconds = RETRY_SECONDS;

  constructor(message: string) {
    super('ServiceUnavailable', { message, details: { retryAfterSeconds: RETRY_SECONDS } });
  }
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Writes a duration as Go's `time.Duration` prints it, which is the form in Kubernetes' messages: `12m0s`, `1h30m0s`,
 * `2m0.5s`, `250ms`. Rounds to whole milliseconds.
 */
export function durationText(ms: number): string {
  const rounded = Math.round(ms);
  if (rounded > 0 && rounded < SECOND_MS) return `${rounded}ms`;
  const hours = Math.floor(rounded / HOUR_MS);
  const minutes = Math.floor((rounded % HOUR_MS) / MINUTE_MS);
  const seconds = `${(rounded % MINUTE_MS) / SECOND_MS}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
