import type { SecretStore, StoredSecret } from '../../secret-store.ts';
import { readKeyData, type StoredKey, withKeys } from './signing-key-data.ts';

/** The keys as they are stored now, or why they cannot be changed. */
export type KeyOutcome =
  | { readonly keys: readonly StoredKey[]; readonly isChanged: boolean }
  | { readonly fault: string };

/**
 * Returns the keys to store instead of these, or `undefined` to leave them. It is called again with newer keys when
 * somebody else's change came first.
 */
export type KeyDecision = (
  keys: readonly StoredKey[],
) => readonly StoredKey[] | undefined | Promise<readonly StoredKey[] | undefined>;

/** Each conflict means that somebody else's change was stored. Such changes are rare, and never this many at once. */
const ATTEMPTS = 10;

/**
 * Reads the keys, decides, and stores the decision by compare-and-swap. A Secret that is not there or cannot be used is
 * left alone (C-39). Rejects when the cluster cannot be reached or refuses: then the same change may be asked for again.
 */
export async function changeKeys(secrets: SecretStore, name: string, decide: KeyDecision): Promise<KeyOutcome> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const secret = await secrets.read(name);
    if (!secret) return { fault: `there is no Secret ${name}` };
    const stored = await readKeyData(secret.data);
    if ('fault' in stored) return { fault: `the Secret ${name} cannot be used: ${stored.fault}` };
    const keys = await decide(stored.keys);
    if (!keys) return { keys: stored.keys, isChanged: false };
    const made = await store(secrets, name, { ...secret, data: await withKeys(secret.data, keys) });
    if (made !== 'conflict') return { keys, isChanged: true };
  }
  throw new Error(`the Secret ${name} was changed by others ${ATTEMPTS} times in a row`);
}

/** When the answer to a write is lost, the write may have happened, and then it must not be repeated (C-36). */
async function store(secrets: SecretStore, name: string, { data, version }: StoredSecret): Promise<unknown> {
  try {
    return await secrets.update(name, data, version);
  } catch (error) {
    const found = await secrets.read(name).catch(() => undefined);
    const stands = found && Object.entries(data).every(([key, bytes]) => found.data[key]?.equals(bytes));
    if (!stands) throw error;
    return found;
  }
}
