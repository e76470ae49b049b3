import type { KeyState } from './signing-key-data.ts';

/** What the rules need to know of a key. Instants and durations are milliseconds. */
export interface KeyRecord {
  readonly kid: string;
  readonly state: KeyState;
  readonly sinceMs: number;
  readonly privateKey?: unknown;
}

export interface RotationRules {
  /** Time from one activation to the next; 0: keys are rotated by hand only. */
  readonly periodMs: number;
  /** The longest time after its issue for which a token can be accepted. */
  readonly tokenLifeMs: number;
}

/** The keys to store next. */
interface KeyPlan<Key> {
  readonly keys: readonly Key[];
  /** Whether to add a new key in state `next`. */
  readonly publish: boolean;
}

/** Verifiers cache the JWKS for 300 s, and proxies in front of them may do so once more: three times that. */
const PUBLISHED_MS = 15 * 60_000;

/** The longest time between two looks of a rotator, which looks about once a minute, with jitter. */
export const LONGEST_CHECK_MS = 75_000;

/**
 * A key is published early by two looks, because one look finds that it is due for publication and another that it is
 * due for use. So it is in use on time.
 */
const PUBLISH_EARLY_MS = PUBLISHED_MS + 2 * LONGEST_CHECK_MS;

/**
 * A refresh token that is sent again within the replay window (at most 60 s) is answered with the same pair, and only
 * the same key can sign that. Another 30 s are for replicas that learn late that the key has retired, and 30 s for
 * clocks that differ.
 */
const PRIVATE_PART_MS = 120_000;

/** A replica may sign for a moment after the key has retired. */
const MARGIN_MS = 60_000;

/**
 * What the schedule requires now, or `undefined`. A key in state `next` becomes active 15 minutes after its
 * publication, by any replica or administrator; the schedule decides when one is published. Exactly one key is active before and
 * after. If the clock is set back, changes come late, never early.
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

/** When another key becomes active; `undefined` when that is left to an operator. */
export function rotationDueAt(keys: readonly KeyRecord[], { periodMs }: RotationRules): number | undefined {
  const next = nextKey(keys);
  if (next) return activationDueAt(next);
  const active = keys.find((key) => key.state === 'active');
  return active && periodMs > 0 ? active.sinceMs + periodMs : undefined;
}

const publishAt = (keys: readonly KeyRecord[], rules: RotationRules): number =>
  (rotationDueAt(keys, rules) ?? Number.POSITIVE_INFINITY) - PUBLISH_EARLY_MS;

/** Makes this key the active one, and the one before it verify-only, in one step. */
const withActive = <Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): readonly Key[] =>
  keys.map((key) => {
    if (key.kid === kid) return { ...key, state: 'active', sinceMs: nowMs };
    return key.state === 'active' ? { ...key, state: 'verify-only', sinceMs: nowMs } : key;
  });

/** Makes this key revoked: it is refused from now on, and never signs again. */
const withRevoked = <Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): readonly Key[] =>
  keys.map((key) => (key.kid === kid ? { ...withoutPrivatePart(key), state: 'revoked', sinceMs: nowMs } : key));

/**
 * Removes keys whose tokens have all expired, and private parts that are no longer needed. A revoked key stays listed
 * as long as other keys: a replica that does not see it any more could take it for a lost one.
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
 * Each of these functions returns the keys to store instead of the given ones, or `undefined` when nothing needs to
 * change. So each may be repeated.
 */

/** What a change needs besides the keys. */
export interface ChangeMeans<Key> {
  readonly nowMs: number;
  /** Makes a new key, which is in this state from now on. */
  newKey(state: 'next' | 'active', nowMs: number): Promise<Key>;
}

type Changed<Key> = readonly Key[] | undefined;

/** Does what the rotation schedule requires now. */
export async function rotated<Key extends KeyRecord>(
  keys: readonly Key[],
  rules: RotationRules,
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  const plan = planRotation(keys, nowMs, rules);
  return plan?.publish ? [...plan.keys, await newKey('next', nowMs)] : plan?.keys;
}

/** Makes sure that there is a next key. */
export async function published<Key extends KeyRecord>(
  keys: readonly Key[],
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  return nextKey(keys) ? undefined : [...keys, await newKey('next', nowMs)];
}

/** Makes this key the active one, if it is still waiting. */
export function activated<Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): Changed<Key> {
  const isWaiting = keys.some((key) => key.kid === kid && key.state === 'next');
  return isWaiting ? withActive(keys, kid, nowMs) : undefined;
}

/** Revokes this key. Revoking the active key activates the next key at once, or a new one when there is none. */
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
