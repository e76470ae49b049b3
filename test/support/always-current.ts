import type { LastProof } from '../../src/data-age.ts';

/** The proof of data whose age is not what a test is about. */
export const ALWAYS_CURRENT: LastProof = { at: Number.POSITIVE_INFINITY };
