import type { LastProof } from '../data-age.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SecurityEvents } from '../security-events.ts';
import type { Part } from './run-group.ts';

/**
 * A healthy watch without events ends after 75 s of silence, and the API server has 30 s to accept the next one (`attempt.ts`). So
 * older data means that something is wrong. docs/operations/monitoring.md alerts on the same age.
 */
const ALARM_MS = 120_000;
const LOOK_MS = 10_000;

type Proofs = Readonly<Record<string, LastProof>>;

/** When data was last proved current, by its name. */
export interface WatchedAges {
  readonly lists: Proofs;
  /** The data about sign-outs, revocations and removed users. Its age is a security event as well (C-38). */
  readonly revocation: Proofs;
}

export interface StalenessAlarmParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** Logs once when some data is older than it should be with a healthy cluster, and once when it is current again. */
export function createStalenessAlarm(ages: WatchedAges, parts: StalenessAlarmParts): Part {
  const { clock, logger, events } = parts;
  const warn = (data: string, seconds: number): void =>
    logger.warn({ data, seconds }, 'data is old: the cluster cannot be followed');
  const report = (data: string, seconds: number): void => events.report('revocation_data_stale', { data, seconds });
  const watched = [
    ...Object.entries(ages.lists).map(([data, proof]) => ({ data, proof, tell: warn })),
    ...Object.entries(ages.revocation).map(([data, proof]) => ({ data, proof, tell: report })),
  ];
  const alarmed = new Set<string>();
  const look = (): void => {
    const now = clock.monotonic();
    for (const { data, proof, tell } of watched) {
      const ms = now - proof.at;
      // Before the first proof no data can be old; readiness reports that case.
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
