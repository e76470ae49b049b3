import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { Part } from './run-group.ts';

/**
 * A healthy watch that has nothing to tell is proven current at least each 75 s, when the limit of silence ends it, and the
 * one that follows has 30 s to be accepted (`attempt.ts`). Older is beyond health. docs/operations.md alerts on the same age.
 */
const ALARM_MS = 120_000;
const LOOK_MS = 10_000;

type Ages = Readonly<Record<string, () => number>>;

/** Milliseconds since the last proof of being current, by the name of the data. */
export interface WatchedAges {
  readonly nodes: Ages;
  /** What tells who was signed out, revoked or removed: its age is a security event as well (C-38). */
  readonly revocation: Ages;
}

export interface StalenessAlarmParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** Logs once when data of any kind is older than a healthy cluster leaves it, and once when it is current again. */
export function createStalenessAlarm(ages: WatchedAges, parts: StalenessAlarmParts): Part {
  const { clock, logger, events } = parts;
  const warn = (data: string, seconds: number): void =>
    logger.warn({ data, seconds }, 'data is old: the cluster cannot be followed');
  const report = (data: string, seconds: number): void => events.report('revocation_data_stale', { data, seconds });
  const watched = [
    ...Object.entries(ages.nodes).map(([data, ageMs]) => ({ data, ageMs, tell: warn })),
    ...Object.entries(ages.revocation).map(([data, ageMs]) => ({ data, ageMs, tell: report })),
  ];
  const alarmed = new Set<string>();
  const look = (): void => {
    for (const { data, ageMs, tell } of watched) {
      const ms = ageMs();
      // Before the first proof there is nothing to be old: readiness tells of that.
      const isOld = Number.isFinite(ms) && ms > ALARM_MS;
      if (isOld && !alarmed.has(data)) {
        alarmed.add(data);
        tell(data, Math.round(ms / 1000));
      } else if (!isOld && alarmed.delete(data)) logger.info({ data }, 'data is current again');
    }
  };
  return {
    name: 'staleness alarm',
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(LOOK_MS, signal);
        if (!signal.aborted) look();
      }
    },
  };
}
