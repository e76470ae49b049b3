import type { KeyState } from './signing-key-data.ts';

/** The part of a key that the rules need. Times and durations are milliseconds. */
export interface KeyRecord {
  readonly kid: string;
  readonly state: KeyState;
  readonly sinceMs: number;
  readonly privateKey?: unknown;
}

export interface RotationRules {
  /** The time from one activation to the next; 0: only an operator rotates the keys. */
  readonly periodMs: number;
  /** The longest time for which a token is accepted after it was issued. */
  readonly tokenLifeMs: number;
}

/** The keys to store next. */
interface KeyPlan<Key> {
  readonly keys: readonly Key[];
  /** Whether to add a new key in state `next`. */
  readonly publish: boolean;
}

/**
 * How long a key is published before it signs. Verifiers cache the JWKS for 300 s, and proxies in front of them may add the same
 * again, so this is three times as long.
 */
const PUBLISHED_MS = 15 * 60_000;

/** The longest time between two checks of a rotator, which checks about once a minute, with jitter. */
export const LONGEST_CHECK_MS = 75_000;

/**
 * A key is published two checks earlier, because one check finds that its publication is due and another that its activation is
 * due. So it is active on time.
 */
const PUBLISH_EARLY_MS = PUBLISHED_MS + 2 * LONGEST_CHECK_MS;

/**
 * How long a retired key keeps its private part. A refresh token that is sent again within the replay window (at most 60 s)
 * gets the same pair again, which only the same key can sign. An authorization code (60 s) is opened with a key derived from it.
 * Another 30 s are for replicas that see late that the key has retired, and 30 s for clocks that differ.
 */
const PRIVATE_PART_MS = 120_000;

/** A replica may sign for a moment after the key has retired. */
const MARGIN_MS = 60_000;

/**
 * The change that the schedule requires now, or `undefined`. A key in state `next` becomes active 15 minutes after its
 * publication, whether a replica or an administrator has published it; the schedule decides when one is published. Exactly one
 * key is active before and after. If the clock is set back, changes come late, never early.
 */
export function planRotation<Key extends KeyRecord>(
  keys: readonly Key[],
  nowMs: number,
  rules: RotationRules,
): KeyPlan<Key> | undefined {
  const next = nextKey(keys);
  const tidied = tidy(keys, nowMs, rules);
  const isDue = next !== undefined && nowMs - next.sinceMs >= PUBLISHED_MS;
  const planned = isDue ? withActive(tidied, next.kid, nowMs) : tidied;
  const publish = !next && nowMs >= publishAt(keys, rules);
  const isChanged = planned.length < keys.length || planned.some((key, index) => key !== keys[index]);
  return publish || isChanged ? { keys: planned, publish } : undefined;
}

/** The key that becomes active next: the one that was published first. */
export const nextKey = <Key extends KeyRecord>(keys: readonly Key[]): Key | undefined =>
  keys.filter((key) => key.state === 'next').sort((one, other) => one.sinceMs - other.sinceMs)[0];

/** When a key in state `next` becomes active. */
export const activationDueAt = (next: KeyRecord): number => next.sinceMs + PUBLISHED_MS;

/** When another key becomes active; `undefined` if only an operator rotates the keys. */
export function rotationDueAt(keys: readonly KeyRecord[], { periodMs }: RotationRules): number | undefined {
  const next = nextKey(keys);
  if (next) return activationDueAt(next);
  const active = keys.find((key) => key.state === 'active');
  return active && periodMs > 0 ? active.sinceMs + periodMs : undefined;
}

const publishAt = (keys: readonly KeyRecord[], rules: RotationRules): number =>
  (rotationDueAt(keys, rules) ?? Number.POSITIVE_INFINITY) - PUBLISH_EARLY_MS;

/** Makes this key active and the previous active key verify-only, in one step. */
const withActive = <Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): readonly Key[] =>
  keys.map((key) => {
    if (key.kid === kid) return { ...key, state: 'active', sinceMs: nowMs };
    return key.state === 'active' ? { ...key, state: 'verify-only', sinceMs: nowMs } : key;
  });

/** Makes this key revoked: it is refused from now on, and never signs again. */
const withRevoked = <Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): readonly Key[] =>
  keys.map((key) => (key.kid === kid ? { ...withoutPrivatePart(key), state: 'revoked', sinceMs: nowMs } : key));

/**
 * Removes keys whose tokens have all expired, and private parts that are no longer needed. A revoked key stays listed as long
 * as other keys: if it were removed earlier, a replica could take it for a lost key and go on accepting it.
 */
function tidy<Key extends KeyRecord>(keys: readonly Key[], nowMs: number, rules: RotationRules): readonly Key[] {
  const isRetired = ({ state }: KeyRecord): boolean => state === 'verify-only' || state === 'revoked';
  return keys
    .filter((key) => !isRetired(key) || nowMs - key.sinceMs < rules.tokenLifeMs + MARGIN_MS)
    .map((key) => {
      const isNeeded = !isRetired(key) || nowMs - key.sinceMs < PRIVATE_PART_MS;
      return isNeeded || key.privateKey === undefined ? key : withoutPrivatePart(key);
    });
}

function withoutPrivatePart<Key extends KeyRecord>(key: Key): Key {
  const { privateKey: _, ...rest } = key;
  return rest as Key;
}

/**
 * Each of the following functions returns the keys to store instead of the given ones, or `undefined` when nothing needs to
 * change. So each may be repeated.
 */

/** What a change needs in addition to the keys. */
export interface ChangeMeans<Key> {
  readonly nowMs: number;
  /** Makes a new key in this state, which it enters now. */
  newKey(state: 'next' | 'active', nowMs: number): Promise<Key>;
}

type Changed<Key> = readonly Key[] | undefined;

/** The keys after the change that the rotation schedule requires now. */
export async function rotated<Key extends KeyRecord>(
  keys: readonly Key[],
  rules: RotationRules,
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  const plan = planRotation(keys, nowMs, rules);
  return plan?.publish ? [...plan.keys, await newKey('next', nowMs)] : plan?.keys;
}

/** The keys with a next key. */
export async function published<Key extends KeyRecord>(
  keys: readonly Key[],
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  return nextKey(keys) ? undefined : [...keys, await newKey('next', nowMs)];
}

/** The keys with this key active, if it is still in state `next`. */
export function activated<Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): Changed<Key> {
  const isWaiting = keys.some((key) => key.kid === kid && key.state === 'next');
  return isWaiting ? withActive(keys, kid, nowMs) : undefined;
}

/** The keys with this key revoked. If it is the active key, the next key becomes active at once, or a new key if there is none. */
export async function revoked<Key extends KeyRecord>(
  keys: readonly Key[],
  kid: string,
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  const key = keys.find((candidate) => candidate.kid === kid);
  if (!key || key.state === 'revoked') return undefined;
  const left = withRevoked(keys, kid, nowMs);
  if (key.state !== 'active') return left;
  const next = nextKey(left);
  return next ? withActive(left, next.kid, nowMs) : [...left, await newKey('active', nowMs)];
}
