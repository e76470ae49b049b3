import type { Entry } from '../../resources/entries/entry.ts';
import type { Shape } from '../../resources/query/filter.ts';
import type { UserRecord } from './user-record.ts';

/** What the store keeps of a User object, in addition to what it keeps of every object. */
export interface UserOwn {
  readonly record: UserRecord;
  /** The platform role that the answer shows. */
  readonly role: string | undefined;
}

export const userOwnOf = ({ own }: Pick<Shape, 'own'>): UserOwn => own as UserOwn;

/** The entry with this role in its annotations, or without one. Returns the same entry if it shows that role already. */
export function withRole(user: Entry, key: string, role: string | undefined): Entry {
  const own = userOwnOf(user);
  if (own.role === role) return user;
  const added = role === undefined ? '' : `"${key}":${toAscii(JSON.stringify(role))}`;
  return { ...user, own: { ...own, role }, encoded: user.encoded.withAdded(added) };
}

/** The name of a ClusterRole may have any letters (`apimachinery` `path.IsValidPathSegmentName`). */
const toAscii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
