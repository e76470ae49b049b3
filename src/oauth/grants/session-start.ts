import type { Clock } from '../../runtime/clock.ts';
import { notAvailable } from '../endpoints/refusals.ts';
import type { SessionStore } from '../sessions/sessions.ts';

/**
 * Waits until the second of the user's cut-off is over, because a token that is issued in it would be refused. It ends at most a
 * second from now, plus the clock skew of another replica. If it is later, a clock was set back, perhaps by hours; the request then
 * fails instead of waiting that long.
 */
export async function waitPastCutOff(
  user: string,
  maximumClockSkewSeconds: number,
  parts: { readonly sessions: Pick<SessionStore, 'read'>; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const longestMs = (maximumClockSkewSeconds + 1) * 1000;
  const leftMs = (): number => (parts.sessions.read(user).cutOff + 1) * 1000 - parts.clock.now();
  // Checked again after each wait, because a timer may fire a millisecond early by the wall clock, while the second of the cut-off
  // is not over.
  for (let waitMs = leftMs(); waitMs > 0 && !parts.signal.aborted; waitMs = leftMs()) {
    if (waitMs > longestMs) throw notAvailable(new Error('the clock was set back behind the end of earlier sessions'));
    await parts.clock.sleep(waitMs, parts.signal);
  }
}
