import type { Clock } from '../../runtime/clock.ts';
import { serviceUnavailable } from '../../status-error.ts';
import type { SessionStore } from './sessions.ts';

/**
 * Waits until the second in which the user's sessions were ended is over, because a token issued in that second would be refused.
 * That takes at most a second, plus the clock skew of another replica. A longer wait means that a clock was set back, perhaps by
 * hours; then the request fails instead.
 */
export async function waitPastCutOff(
  user: string,
  maximumClockSkewSeconds: number,
  parts: { readonly sessions: Pick<SessionStore, 'read'>; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const longestMs = (maximumClockSkewSeconds + 1) * 1000;
  const leftMs = (): number => (parts.sessions.read(user).cutOff + 1) * 1000 - parts.clock.now();
  // A timer may fire a millisecond too early by the wall clock, so check again after each wait.
  for (let waitMs = leftMs(); waitMs > 0 && !parts.signal.aborted; waitMs = leftMs()) {
    if (waitMs > longestMs) throw setBack();
    await parts.clock.sleep(waitMs, parts.signal);
  }
}

const setBack = (): Error => {
  const cause = new Error('the clock was set back behind the end of earlier sessions');
  return serviceUnavailable('no session can begin now', 1, cause);
};
