import { createHash } from 'node:crypto';
import type { User } from './user.ts';

/** One place that users come from. The list that `users()` returns never changes; a change makes a new list. */
export interface UserSource {
  /** For log lines, e.g. `users file`. */
  readonly label: string;
  users(): readonly User[];
  /** Calls `changed` each time `users()` has become a new list. */
  onChange(changed: () => void): void;
}

/**
 * A uid for a user whose source gives none. It is the same on every replica and after each restart. It follows from the
 * name, so a later user of the same name gets the same one; a source that can tell them apart must give uids.
 */
export function derivedUid(scope: string, name: string): string {
  const hex = createHash('sha256').update(`${scope}/${name}`).digest('hex');
  // Version 8, variant 1: the layout that RFC 9562 5.8 leaves to the application.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
