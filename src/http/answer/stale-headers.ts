import type { AnswerHeaders } from './answer.ts';

const NONE: AnswerHeaders = {};

/**
 * What says that an answer rests on old data: `Age` (RFC 9111 5.1) and the words that HTTP had for it, `Warning: 110` (RFC
 * 7234 5.5.1). RFC 9111 5.5 gave `Warning` up because nobody acted on it; it stands here for people who read headers. Code 299
 * would be printed by kubectl and logged by client-go, once for each age. Nothing for `undefined`.
 */
export const staleHeaders = (seconds: number | undefined): AnswerHeaders =>
  seconds === undefined ? NONE : { Age: String(seconds), Warning: '110 - "Response is Stale"' };
