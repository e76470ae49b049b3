import type { Exchange } from './exchange.ts';

/** `next`: the chain goes on. `answered`: this step has sent the answer, or has begun to. */
export type Outcome = 'next' | 'answered';

/** One named step of the chain. What it throws or rejects with goes to the error writer. */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>;
