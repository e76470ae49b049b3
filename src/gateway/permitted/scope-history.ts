import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * How long a scope must have been the same before every version of the cluster from then on is accepted. Within this time all replicas
 * have noticed the last change: a right that is new counts at most 300 s late (`permitted-scopes.ts`), one that was withdrawn earlier.
 */
const SETTLED_MS = 360_000;
/** A scope that nobody has looked at for this long may have changed and changed back. Open watches look every 10 s. */
const UNSEEN_MS = 30_000;
/** The most callers and kinds that are remembered, each with a few hundred bytes. */
const MOST_REMEMBERED = 2_000;
/** The versions of lists that are remembered, for the watch that follows each. */
const MOST_LISTED = 32;

/** The scope of one caller and kind, as this replica has seen it. */
interface Seen {
  scopeId: string;
  /** Since when it has been the same, without a gap, and when it was last seen. Monotonic milliseconds. */
  since: number;
  seenAt: number;
  /** A version of the cluster that was read after the scope had settled. */
  settledVersion: string | undefined;
  /** The versions of lists over this scope. */
  readonly listed: Set<string>;
  /** The newest version that was told of this scope, and of any other scope before. */
  told: string;
  barrier: string;
}

/**
 * Knows from which versions a watch may go on.
 *
 * A client that resumes has objects of the scope of its last list or watch. If rights have changed since, a watch from its version would
 * never tell the objects of a lost namespace as gone, nor those of a new one. So a version is accepted only if what any replica told
 * about it was of the present scope: it is the version of a list that this replica made over the scope, or it is newer than a
 * version of the cluster that was read after the scope had been the same for `SETTLED_MS`. Anything else is 410: the client lists again.
 */
export class ScopeHistory {
  readonly #clock: Clock;
  /** In the order of their last sight, the oldest first. */
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that this is the scope now. `key` names the caller and the kind. */
  seen(key: string, scopeId: string): void {
    const now = this.#clock.monotonic();
    const known = this.#seen.get(key);
    if (known?.scopeId === scopeId && now - known.seenAt <= UNSEEN_MS) {
      known.seenAt = now;
      return;
    }
    const barrier = known && known.scopeId !== scopeId ? newer(known.told, known.barrier) : (known?.barrier ?? '');
    const told = known?.scopeId === scopeId ? known.told : '';
    this.#seen.delete(key);
    const fresh = { since: now, seenAt: now, settledVersion: undefined, listed: new Set<string>() };
    this.#seen.set(key, { scopeId, ...fresh, told, barrier });
    if (this.#seen.size > MOST_REMEMBERED) this.#seen.delete(this.#seen.keys().next().value as string);
  }

  /** Whether the scope is no longer the one that was last seen. */
  hasChanged(key: string, scopeId: string): boolean {
    const known = this.#seen.get(key);
    return known !== undefined && known.scopeId !== scopeId;
  }

  /** Records that a list over this scope has this version. */
  listed(key: string, scopeId: string, version: string): void {
    const known = this.#seen.get(key);
    if (known?.scopeId === scopeId) {
      known.listed.delete(version);
      known.listed.add(version);
      if (known.listed.size > MOST_LISTED) known.listed.delete(known.listed.values().next().value as string);
    }
    this.told(key, scopeId, version);
  }

  /** Records that a client was told something of this scope up to this version. */
  told(key: string, scopeId: string, version: string): void {
    const known = this.#seen.get(key);
    if (!known) return;
    if (known.scopeId === scopeId) known.told = newer(known.told, version);
    else known.barrier = newer(known.barrier, version);
  }

  /** Whether a watch over this scope may go on from this version. */
  accepts(key: string, scopeId: string, version: string): boolean {
    const known = this.#seen.get(key);
    if (known?.scopeId !== scopeId || compareResourceVersions(version, known.barrier) <= 0) return false;
    if (known.listed.has(version)) return true;
    return known.settledVersion !== undefined && compareResourceVersions(version, known.settledVersion) >= 0;
  }

  /** Whether the scope has settled, and a version of the cluster is to be read and given to `settled`. */
  needsVersion(key: string, scopeId: string): boolean {
    const known = this.#seen.get(key);
    if (known?.scopeId !== scopeId || known.settledVersion !== undefined) return false;
    return this.#clock.monotonic() - known.since >= SETTLED_MS;
  }

  /** `version` was read after `needsVersion` had returned true. */
  settled(key: string, scopeId: string, version: string): void {
    const known = this.#seen.get(key);
    if (known && this.needsVersion(key, scopeId)) known.settledVersion = version;
  }
}

const newer = (a: string, b: string): string => (compareResourceVersions(a, b) >= 0 ? a : b);
