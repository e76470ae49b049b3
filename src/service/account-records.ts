import { type AccountNames, loginRecordsOf } from '../accounts/names.ts';
import { RecordMirror } from '../accounts/records/record-mirror.ts';
import { createRetention, type RetentionOptions } from '../accounts/records/retention.ts';
import type { UserRecords } from '../accounts/users/user-record.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { createLease } from '../kubernetes/leases/lease.ts';
import type { ClusterObjects } from '../kubernetes/objects/cluster-objects.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import { collectionPath } from '../resources/entries/object-kind.ts';
import { normaliseAddress } from '../runtime/source-address.ts';
import type { ThrottleControl } from '../users/sign-in.ts';
import { NO_UPKEEP, type Shared, type Upkeep } from './family.ts';

export interface AccountRecordsOptions extends RetentionOptions {
  /** Part of the name of the Lease. */
  readonly platform: string;
  /** The longest time between two self-checks of the mirror. */
  readonly longestPeriodMs: number;
}

export interface AccountRecordsParts extends Pick<Shared, 'clock' | 'random' | 'logger'> {
  readonly names: AccountNames;
  readonly users: UserRecords;
  readonly loginRecords: ClusterObjects;
  readonly tokens: { readonly signIn: { readonly throttle: Pick<ThrottleControl, 'known'> } };
  /** Whether all users are known: records come after them. */
  isKnown(): boolean;
  readonly cluster: Pick<Cluster, 'reflect' | 'objects' | 'namespace'>;
}

const NAME = 'loginrecords';

const LOOK_MS = 250;

/** 128 random bits, so that no two processes have the same identity. */
const IDENTITY_BYTES = 16;

/** A success is known good for a day. */
const DAY_MS = 24 * 3_600_000;

/** The login records of all replicas, those before a restart included: they give the throttle good pairs, and old ones are deleted. */
export function createAccountRecords(options: AccountRecordsOptions, parts: AccountRecordsParts): Upkeep {
  const { names, users, tokens, isKnown, cluster, clock, random } = parts;
  const { throttle } = tokens.signIn;
  const mirror = new RecordMirror(names, ({ user, source, createdAtMs }) => {
    const ageMs = Math.max(0, clock.now() - createdAtMs);
    const known = ageMs < DAY_MS ? users.get(user) : undefined;
    if (known) throttle.known(known, normaliseAddress(source), ageMs);
  });
  // Nobody waits for records: without the right to them we are ready all the same.
  const resource = { path: collectionPath(loginRecordsOf(names)), name: NAME, isOptional: true };
  const reflector = cluster.reflect(resource, mirror, { longestPeriodMs: options.longestPeriodMs });
  const identity = random.bytes(IDENTITY_BYTES).toString('hex');
  const place = { name: `${options.platform}-accounts`, namespace: cluster.namespace, identity };
  const lease = createLease(place, parts);
  const retention = createRetention(options, {
    ...parts,
    mirror,
    isHolder: () => lease.isHolder(),
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
      { name: 'lease of login records', run: (signal) => lease.run(signal) },
      { name: 'login record retention', run: retention.run },
    ],
    reflectors: { [NAME]: freshness },
  };
}
