import type { Clock } from './clock.ts';
import type { Part } from './run-group.ts';
import type { SecurityEvents } from './security-events.ts';

/**
 * A healthy watch that has nothing to tell is proven current at least each 75 s, when the reflector's limit of silence ends
 * it. A minute of failing beyond that is worth waking somebody (C-38).
 */
const ALARM_MS = 135_000;
const LOOK_MS = 10_000;

/** Tells, once for each time it happens, that who was signed out, disabled or revoked may be unknown here. */
export function createRevocationAlarm(
  stalenessMs: Readonly<Record<string, () => number>>,
  parts: { readonly clock: Clock; readonly events: SecurityEvents },
): Part {
  const alarmed = new Set<string>();
  const look = (): void => {
    for (const [data, staleness] of Object.entries(stalenessMs)) {
      const ms = staleness();
      // Before the first proof there is nothing to be old: readiness tells of that.
      const isStale = Number.isFinite(ms) && ms > ALARM_MS;
      if (isStale && !alarmed.has(data))
        parts.events.report('revocation_data_stale', { data, seconds: Math.round(ms / 1000) });
      if (isStale) alarmed.add(data);
      else alarmed.delete(data);
    }
  };
  return {
    name: 'revocation alarm',
    async run(signal) {
      while (!signal.aborted) {
        await parts.clock.sleep(LOOK_MS, signal);
        if (!signal.aborted) look();
      }
    },
  };
}
