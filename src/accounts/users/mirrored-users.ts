import type { Freshness } from '../../kubernetes/reflector/store.ts';
import type { AllObjects } from '../../resources/entries/all-objects.ts';
import { userOwnOf } from './user-entry.ts';
import type { UserRecord, UserRecords } from './user-record.ts';

/** The records of the User objects that a reflector mirrors. */
export function createUserRecords(objects: AllObjects, { hasSynced, proof }: Freshness): UserRecords {
  return {
    get(name) {
      const entry = objects.get(name);
      return entry && userOwnOf(entry).record;
    },
    *all(): Iterable<UserRecord> {
      for (const entry of objects.entries()) yield userOwnOf(entry).record;
    },
    onChange: (changed) => objects.onChange(changed),
    hasSynced,
    proof,
  };
}
