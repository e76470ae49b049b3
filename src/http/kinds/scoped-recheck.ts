import type { Within } from '../../resources/query/within.ts';
import type { Watch } from '../../resources/watch/watch.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { Exchange } from '../exchange.ts';
import type { VisibleParts } from '../routes/visible-part.ts';
import type { Recheck } from '../watch/recheck.ts';

/** How long the last scope holds while our own limits refuse the reviews of a new one. */
const OVERLOADED_MS = 60_000;

/**
 * Checks the caller of a watch as `recheck` does, and then what the caller may see (KD-12). The watch tells the client of a change. A watch
 * over a part ends when the caller may see everything: the client begins again, without a part.
 */
export function scopedRecheck(
  recheck: Recheck,
  { exchange, watch }: { readonly exchange: Exchange; readonly watch: Watch },
  { visible, clock }: { readonly visible: VisibleParts; readonly clock: Clock },
): Recheck {
  let seenAt = clock.monotonic();
  const isPart = exchange.decision?.allowed === false;
  const see = async (): Promise<void> => {
    const isPartNow = exchange.decision?.allowed === false;
    if (isPart !== isPartNow) throw otherRights();
    if (!isPartNow) return;
    try {
      const within: Within | undefined = await visible.of(exchange);
      if (within) watch.rescope?.(within);
      seenAt = clock.monotonic();
    } catch (error) {
      if (!isOverload(error) || clock.monotonic() - seenAt > OVERLOADED_MS) throw error;
    }
  };
  return () => {
    const checked = recheck();
    return checked instanceof Promise ? checked.then(see) : see();
  };
}

const isOverload = (error: unknown): boolean => error instanceof StatusError && error.answer.code === 429;

/** Clients that know the words of the API server begin again. */
const otherRights = (): StatusError =>
  new StatusError('Expired', {
    message: 'too old resource version: the rights of the caller changed: begin again without one',
  });
