import { fitsHeader } from '../../runtime/text/header-text.ts';
import { cut, quoted } from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import { isClusterOwn, isEmail, isUserName } from '../../users/user.ts';
import { LONGEST_GROUP, LONGEST_NAME, LONGEST_TEXT, MOST_GROUPS } from '../schema/limits.ts';

/** The rules for the fields of a User (docs/contract/accounts.md, sections 3 and 5). Each finds every fault of its field. */

export const required = (field: string, what = 'Required value'): StatusCause => ({
  reason: 'FieldValueRequired',
  message: what,
  field,
});

/** The message quotes `value`; leave it out for a secret. */
export const bad = (field: string, what: string, value?: string): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: value === undefined ? `Invalid value: ${what}` : `Invalid value: ${quoted(value)}: ${what}`,
  field,
});

const duplicate = (field: string, value: string): StatusCause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${quoted(value)}`,
  field,
});

export const ofAnotherType = (field: string, expected: string): StatusCause => ({
  reason: 'FieldValueTypeInvalid',
  message: `Invalid value: must be ${expected}`,
  field,
});

/** `reserved` are the configured names, besides those that are Kubernetes' own. */
export function nameFaults(name: string | undefined, reserved: ReadonlySet<string>): StatusCause[] {
  const field = 'metadata.name';
  if (name === undefined || name === '') return [required(field, 'Required value: a user has a name')];
  if (reserved.has(name) || isClusterOwn(name))
    return [bad(field, 'the name is reserved for the cluster’s own users', name)];
  if (name.length > LONGEST_NAME) return [bad(field, `must have at most ${LONGEST_NAME} characters`, name)];
  if (isUserName(name)) return [];
  return [bad(field, 'must be lower-case letters, digits, "-" and "." (a DNS subdomain of RFC 1123)', name)];
}

/** Finds text that is not an e-mail address. Other checks find an address that is missing or taken. */
export const emailFaults = (email: string): StatusCause[] =>
  email === '' || isEmail(email) ? [] : [bad('spec.email', 'must be one e-mail address in ASCII, or empty', email)];

/** Nobody would see control characters in logs and terminals. */
const CONTROL = /\p{Cc}/u;

export function textFaults(field: string, text: string): StatusCause[] {
  const long = [...text].length > LONGEST_TEXT ? [bad(field, `must have at most ${LONGEST_TEXT} characters`)] : [];
  const control = CONTROL.test(text) ? [bad(field, 'must have no control characters')] : [];
  return [...long, ...control];
}

export function groupsFaults(groups: readonly string[]): StatusCause[] {
  const field = 'spec.groups';
  if (groups.length > MOST_GROUPS) return [bad(field, `must have at most ${MOST_GROUPS} groups`)];
  return groups.flatMap((group, at) => [
    ...groupFaults(`${field}[${at}]`, group),
    ...(groups.indexOf(group) < at ? [duplicate(`${field}[${at}]`, group)] : []),
  ]);
}

function groupFaults(field: string, group: string): StatusCause[] {
  if (group === '') return [required(field, 'Required value: a group has a name')];
  if (isClusterOwn(group)) return [bad(field, 'groups of the cluster itself are not given to users', group)];
  if ([...group].length > LONGEST_GROUP)
    return [bad(field, `must have at most ${LONGEST_GROUP} characters`, cut(group))];
  if (CONTROL.test(group)) return [bad(field, 'must have no control characters')];
  // A header carries the group to the cluster in every call through the gateway.
  return fitsHeader(group) ? [] : [bad(field, 'must not begin or end with a blank', group)];
}
