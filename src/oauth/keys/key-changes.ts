import { type KeyRecord, nextKey, planRotation, type RotationRules, withActive, withRevoked } from './key-plan.ts';

/** Each says which keys to store instead of the given ones, or nothing when all is as it should be: so each may be repeated. */

/** What a change is made with. */
export interface ChangeMeans<Key> {
  readonly nowMs: number;
  /** A new key that is in this state from now on. */
  newKey(state: 'next' | 'active', nowMs: number): Promise<Key>;
}

type Changed<Key> = readonly Key[] | undefined;

/** What the clock asks for. */
export async function rotated<Key extends KeyRecord>(
  keys: readonly Key[],
  rules: RotationRules,
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  const plan = planRotation(keys, nowMs, rules);
  return plan?.publish ? [...plan.keys, await newKey('next', nowMs)] : plan?.keys;
}

/** There is a next key. */
export async function published<Key extends KeyRecord>(
  keys: readonly Key[],
  { nowMs, newKey }: ChangeMeans<Key>,
): Promise<Changed<Key>> {
  return nextKey(keys) ? undefined : [...keys, await newKey('next', nowMs)];
}

/** This key signs, if it is still waiting to. */
export function activated<Key extends KeyRecord>(keys: readonly Key[], kid: string, nowMs: number): Changed<Key> {
  const isWaiting = keys.some((key) => key.kid === kid && key.state === 'next');
  return isWaiting ? withActive(keys, kid, nowMs) : undefined;
}

/** This key is refused. Was it the active one, then the next one is active at once, or else a new one. */
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
