import { type KeyRecord, nextKey, planRotation, type RotationRules, withActive, withRevoked } from './key-plan.ts';

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
