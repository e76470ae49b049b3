import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import { type RecordEntry, type RecordMirror, userOf } from './record-mirror.ts';

export interface RetentionOptions {
  /** How long login records are kept. */
  readonly periodMs: number;
  /** The most records of one user. */
  readonly maximumEntries: number;
}

export interface RetentionParts {
  readonly mirror: Pick<RecordMirror, 'refs' | 'of'>;
  /** Whether the mirror and the users are complete. */
  isKnown(): boolean;
  /** Whether this replica holds the Lease for retention. */
  isHolder(): boolean;
  hasUser(name: string): boolean;
  readonly records: Pick<ClusterObjects, 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const LOOK_MS = 60_000;
/** Users whose records we check between two pauses: about a millisecond of work. */
const USERS_AT_ONCE = 500;
/**
 * Up to 100 removals a second. That is several times what the replicas write: each at most 20 a second, and six a minute for one
 * user. 100,000 records that expire together take some twenty minutes.
 */
const BATCH = 50;
const PAUSE_MS = 500;

/**
 * Removes login records that are too old, too many for one user, or of a user who does not exist. All replicas may do it at once;
 * the Lease only saves requests.
 */
export function createRetention(
  options: RetentionOptions,
  parts: RetentionParts,
): { run(signal: AbortSignal): Promise<void> } {
  const { mirror, isKnown, isHolder, records, clock, logger } = parts;
  const failure = new LastingFailure(clock, logger);

  const removeAll = async (surplus: readonly RecordEntry[], signal: AbortSignal): Promise<void> => {
    for (const [index, { key, uid }] of surplus.entries()) {
      if (index > 0 && index % BATCH === 0) await clock.sleep(PAUSE_MS, signal);
      if (signal.aborted || !isHolder()) return;
      await records.remove(key, { uid });
    }
  };
  const sweep = async (signal: AbortSignal): Promise<void> => {
    const refs = [...mirror.refs()];
    for (let from = 0; from < refs.length && !signal.aborted; from += USERS_AT_ONCE) {
      const surplus = refs.slice(from, from + USERS_AT_ONCE).flatMap((ref) => surplusOf(ref, options, parts));
      await removeAll(surplus, signal);
      await clock.sleep(PAUSE_MS, signal);
    }
    failure.over({}, 'old login records are removed again');
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted || !isKnown() || !isHolder()) continue;
      await sweep(signal).catch((error: unknown) => {
        failure.failed({ err: error }, 'old login records cannot be removed');
      });
    }
  };
  return { run };
}

/** The records to remove: all but the newest `maximumEntries` of the period, or all if the user does not exist. */
function surplusOf(
  ref: string,
  { periodMs, maximumEntries }: RetentionOptions,
  { mirror, hasUser, clock }: Pick<RetentionParts, 'mirror' | 'hasUser' | 'clock'>,
): readonly RecordEntry[] {
  const records = [...mirror.of(ref)];
  const since = clock.now() - periodMs;
  // A record without the label belongs to no known user, so only its age counts.
  const isUnlabelled = ref === '';
  const isOfUser = isUnlabelled || hasUser(ref) || records.some((record) => hasUser(userOf(record) ?? ''));
  const most = isUnlabelled ? Number.POSITIVE_INFINITY : maximumEntries;
  if (isOfUser && records.length <= most && records.every(({ createdAtMs }) => createdAtMs >= since)) return [];
  const newestFirst = records.sort((a, b) => b.createdAtMs - a.createdAtMs);
  return newestFirst.filter(({ createdAtMs }, index) => !isOfUser || index >= most || createdAtMs < since);
}
