import { type AccountNames, loginRecordsOf } from '../../accounts/names.ts';
import { RecordMirror } from '../../accounts/records/record-mirror.ts';
import { createRetention, type RetentionOptions } from '../../accounts/records/retention.ts';
import type { UserRecords } from '../../accounts/users/user-record.ts';
import type { Cluster } from '../../kubernetes/cluster.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Freshness } from '../../kubernetes/reflector/store.ts';
import { collectionPath } from '../../resources/entries/object-kind.ts';
import { normaliseAddress } from '../../runtime/source-address.ts';
import type { ThrottleControl } from '../../users/sign-in.ts';
import { NO_UPKEEP, type Shared, type Upkeep } from '../family.ts';

export interface AccountRecordsOptions extends RetentionOptions {
  /** The longest time between two self-checks of the mirror. */
  readonly longestPeriodMs: number;
}

export interface AccountRecordsParts extends Pick<Shared, 'clock' | 'random' | 'logger'> {
  readonly names: AccountNames;
  readonly users: UserRecords;
  readonly loginRecords: ClusterObjects;
  readonly tokens: { readonly signIn: { readonly throttle: Pick<ThrottleControl, 'known'> } };
  /** Whether all User objects are loaded. The mirror of records starts only then, because it looks up the user of each record. */
  isKnown(): boolean;
  readonly cluster: Pick<Cluster, 'reflect'>;
  /** Whether this process holds the Lease of the replicas. */
  isHolder(): boolean;
}

const NAME = 'loginrecords';

const LOOK_MS = 250;

/** For a day after a successful sign-in, its user and address are a known-good pair. */
const DAY_MS = 24 * 3_600_000;

/** Follows the login records of all replicas, also from before a restart. Tells the throttle the known-good pairs; deletes old records. */
export function createAccountRecords(options: AccountRecordsOptions, parts: AccountRecordsParts): Upkeep {
  const { names, users, tokens, isKnown, cluster, clock } = parts;
  const { throttle } = tokens.signIn;
  const mirror = new RecordMirror(names, ({ user, source, createdAtMs }) => {
    const ageMs = Math.max(0, clock.now() - createdAtMs);
    const known = ageMs < DAY_MS ? users.get(user) : undefined;
    if (known) throttle.known(known, normaliseAddress(source), ageMs);
  });
  // No answer needs the records, so we are ready even without the right to read them.
  const resource = { path: collectionPath(loginRecordsOf(names)), name: NAME, isOptional: true };
  const reflector = cluster.reflect(resource, mirror, { longestPeriodMs: options.longestPeriodMs });
  const retention = createRetention(options, {
    ...parts,
    mirror,
    isKnown: () => isKnown() && reflector.hasSynced(),
    hasUser: (name) => users.get(name) !== undefined,
    records: parts.loginRecords,
  });
  const started = { already: false };
  const follow = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !isKnown()) await clock.sleep(LOOK_MS, signal);
    started.already = true;
    await reflector.run(signal);
  };
  const freshness: Freshness = {
    hasSynced: () => reflector.hasSynced(),
    proof: reflector.proof,
    stalenessMs: () => reflector.stalenessMs(),
    idleMs: () => (started.already ? reflector.idleMs() : 0),
  };
  return {
    ...NO_UPKEEP,
    parts: [
      { name: `reflector of ${NAME}`, run: follow },
      { name: 'login record retention', run: retention.run },
    ],
    reflectors: { [NAME]: freshness },
  };
}
