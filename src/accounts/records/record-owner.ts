import type { KubernetesObject } from '../../kubernetes/object.ts';

/** 253 characters for a name, less the dash and ten hex digits. */
const LONGEST_PREFIX = 242;
/** The label has the name itself up to this length, and the digest of a longer one. */
const LONGEST_IN_LABEL = 63;

/** What the names of a user's login records begin with, before the last dash. */
export const recordPrefix = (user: string): string => user.slice(0, LONGEST_PREFIX);

/** The part of a record's name that names its user. */
export const prefixOf = (record: string): string => record.slice(0, Math.max(0, record.lastIndexOf('-')));

/**
 * Whether a record with the label of this user is this user's. The label of a long name is a digest, which may be the
 * name of somebody else. Another tool may name a record as it likes, so the label alone decides if the user's name and the one
 * in the record's name are short.
 */
export function isRecordOf(user: string, { metadata: { name } }: KubernetesObject): boolean {
  const prefix = prefixOf(name);
  return prefix === recordPrefix(user) || (user.length <= LONGEST_IN_LABEL && prefix.length <= LONGEST_IN_LABEL);
}
