import type { AnswerHeaders } from './answer.ts';

const NONE: AnswerHeaders = {};

/**
 * The headers that say an answer rests on old data: `Age` (RFC 9111 5.1) and `Warning: 110` (RFC 7234 5.5.1). RFC 9111
 * 5.5 gave `Warning` up because no client acted on it; we send it for people who read headers. The code is not 299,
 * because kubectl prints a 299 and client-go logs it, once for each age. `undefined` gives no headers.
 */
export const staleHeaders = (seconds: number | undefined): AnswerHeaders =>
  seconds === undefined ? NONE : { Age: String(seconds), Warning: '110 - "Response is Stale"' };
