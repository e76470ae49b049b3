import type { Random } from '../../runtime/random.ts';

/** 8 bytes: 16 hex digits. */
const ID_BYTES = 8;
/** 512 ids a draw: a system call for each would cost more than the rest of the step. */
const POOL_BYTES = 512 * ID_BYTES;

/** Makes request ids of 16 hex digits. */
export function createRequestIds(random: Random): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let next = 0;
  return () => {
    if (next >= pool.length) {
      pool = random.bytes(POOL_BYTES);
      next = 0;
    }
    next += ID_BYTES;
    return pool.toString('hex', next - ID_BYTES, next);
  };
}
