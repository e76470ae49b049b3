import type { KubernetesObject } from '../../kubernetes/object.ts';

/** An object's name has at most 253 characters. The dash and ten hex digits take 11 of them. */
const LONGEST_PREFIX = 242;
/** Up to this length the label has the name itself, beyond it a digest. */
const LONGEST_IN_LABEL = 63;

/** What the names of a user's login records begin with, before the last dash. */
export const recordPrefix = (user: string): string => user.slice(0, LONGEST_PREFIX);

/** The part of a record's name that names its user. */
export const prefixOf = (record: string): string => record.slice(0, Math.max(0, record.lastIndexOf('-')));

/**
 * Whether a record with this user's label belongs to this user. The label of a long name is a digest, which could also be another
 * user's name. Other tools may name records freely, so the label alone decides if both names, the user's and the one in the
 * record's name, fit into a label.
 */
export function isRecordOf(user: string, { metadata: { name } }: KubernetesObject): boolean {
  const prefix = prefixOf(name);
  return prefix === recordPrefix(user) || (user.length <= LONGEST_IN_LABEL && prefix.length <= LONGEST_IN_LABEL);
}
