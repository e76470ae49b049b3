import { ClusterError, isAlreadyExists, isConflict } from '../kubernetes/client/api-client.ts';
import { cut } from '../resources/query/parameters.ts';
import {
  badRequest,
  lastingRefusalIn,
  type StatusCause,
  StatusError,
  serviceUnavailable,
  tooManyRequests,
} from '../status-error.ts';
import type { AccountNames } from './names.ts';

/** The refusals of the account API, in the words of Kubernetes (apimachinery, `pkg/api/errors`). */

/** 404 of a user, a role: `users.iam.<platform>.io "x" not found`. */
export const notFoundIn = (names: AccountNames, resource: string, name: string): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${resource}.${names.group} "${name}" not found`,
    details: { name, group: names.group, kind: resource },
  });

export const alreadyExists = (names: AccountNames, name: string, why?: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `users.${names.group} "${name}" already exists${why === undefined ? '' : `: ${why}`}`,
    details: { name, group: names.group, kind: 'users' },
  });

/** AC-15: somebody else has the address. */
export const emailTaken = (names: AccountNames, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `users.${names.group} "${name}" cannot be saved: spec.email: another user has this address`,
    details: {
      name,
      group: names.group,
      kind: 'users',
      causes: [{ reason: 'FieldValueDuplicate', message: 'another user has this address', field: 'spec.email' }],
    },
  });

export const conflict = (names: AccountNames, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on users.${names.group} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    details: { name, group: names.group, kind: 'users' },
  });

/** The ClusterRoleBinding that would give the role exists and is somebody else's. */
export const roleNameTaken = (names: AccountNames, name: string, binding: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `users.${names.group} "${name}" cannot be given the role: the ClusterRoleBinding "${binding}" is there and gives something else`,
    details: { name, group: names.group, kind: 'users' },
  });

/** The user is no object: it is changed where it is kept. */
export const keptElsewhere = (names: AccountNames, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `users.${names.group} "${name}" is kept in the users file or in the first administrator's Secret: change it there, or make it an object with "gatehouse users import"`,
    details: { name, group: names.group, kind: 'users' },
  });

/** 422 with one cause for each bad field, all of them in the message. */
export function invalidUser(names: AccountNames, sent: string, causes: readonly StatusCause[]): StatusError {
  const name = cut(sent);
  const told = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const all = told.length === 1 ? told[0] : `[${told.join(', ')}]`;
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `User.${names.group} "${name}" is invalid: ${all}`,
    details: { name, group: names.group, kind: 'User', causes },
  });
}

/** 400 that names the field. */
export const badField = (field: string, message: string, reason = 'FieldValueInvalid'): StatusError =>
  badRequest(`${field}: ${message}`, [{ reason, message, field }]);

/** 403 for a part of a request that this caller may not ask for; nothing was saved. */
export const forbiddenChange = (names: AccountNames, name: string, why: string, field?: string): StatusError =>
  new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `users.${names.group} "${name}" is forbidden: ${why}`,
    details: {
      name,
      group: names.group,
      kind: 'users',
      ...(field === undefined ? {} : { causes: [{ reason: 'FieldValueForbidden', message: why, field }] }),
    },
  });

/** The cluster's message about a password, or about the whole `spec`, may quote the password. */
const withoutSecret = (cause: StatusCause): StatusCause =>
  cause.field !== undefined && /^spec(?:\.password.*)?$/.test(cause.field)
    ? { ...cause, message: 'the cluster takes it for invalid' }
    : cause;

/** The cluster could not be asked, or something of ours is missing there: the same request may succeed later. */
const RETRY_SECONDS = 5;

/** A 503. What the cluster refuses us for good is named instead of "try again" (AC-84). */
export const notSaved = (what: string, cause: unknown): StatusError =>
  lastingRefusalIn(cause) === undefined
    ? serviceUnavailable(`${what}, please try again later`, RETRY_SECONDS, cause)
    : serviceUnavailable(what, undefined, cause);

/** The hash gate is full, or a bucket of failed attempts is (AC-67). */
export const attemptsTurnedAway = (retryAfterSeconds: number): StatusError =>
  tooManyRequests('Too many attempts, please try again later.', retryAfterSeconds);

/**
 * What the cluster's refusal of a write means to our caller. An answer about the object is passed on; what the cluster
 * says about us (401, 403, a limit) or fails to say is ours, and a 503.
 */
export function toWriteFailure(error: unknown, names: AccountNames, name: string): unknown {
  if (error instanceof StatusError) return error;
  if (!(error instanceof ClusterError)) return notSaved('the cluster did not answer', error);
  const { code, reason, message } = error.status;
  // A 404 about another object means that users are not served, or that an object of the user is missing.
  if (code === 404 && message.includes(`"${name}" not found`)) return notFoundIn(names, 'users', name);
  if (isConflict(error)) return isAlreadyExists(error) ? alreadyExists(names, name) : conflict(names, name);
  if (code === 422 || code === 400) {
    return invalidUser(
      names,
      name,
      error.causes.length > 0
        ? error.causes.map(withoutSecret)
        : [{ reason, message: error.lastingRefusal ?? 'the cluster takes it for invalid' }],
    );
  }
  return notSaved('the cluster did not save the user', error);
}
