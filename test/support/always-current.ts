import type { LastProof } from '../../src/data-age.ts';

/** The proof of data that never gets old, for tests that are not about its age. */
export const ALWAYS_CURRENT: LastProof = { at: Number.POSITIVE_INFINITY };
