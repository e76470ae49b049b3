import { ClusterError, isAlreadyExists, isConflict } from '../kubernetes/client/api-client.ts';
import { cut } from '../runtime/text/parameters.ts';
import {
  badRequest,
  lastingRefusalIn,
  type StatusCause,
  StatusError,
  type StatusRefusal,
  serviceUnavailable,
  tooManyRequests,
} from '../status-error.ts';
import type { AccountNames } from './names.ts';

/** The refusals of the account API that name a user or a role, in the words of Kubernetes (apimachinery, `pkg/api/errors`). */
export class AccountRefusals {
  readonly #group: string;

  constructor({ group }: Pick<AccountNames, 'group'>) {
    this.#group = group;
  }

  /** 404 for a user or a role: `users.iam.<platform>.io "x" not found`. */
  notFound(resource: string, name: string): StatusError {
    const message = `${resource}.${this.#group} "${name}" not found`;
    return this.#about(name, 'NotFound', { message, kind: resource });
  }

  alreadyExists(name: string): StatusError {
    return this.#ofUser(name, 'AlreadyExists', { what: 'already exists' });
  }

  /** AC-15: somebody else has the address. */
  emailTaken(name: string): StatusError {
    const message = 'another user has this address';
    const field = 'spec.email';
    const causes = [{ reason: 'FieldValueDuplicate', message, field }];
    const what = `cannot be saved: ${field}: ${message}`;
    return this.#ofUser(name, 'AlreadyExists', { what, causes });
  }

  conflict(name: string): StatusError {
    const message = `Operation cannot be fulfilled on users.${this.#group} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
    return this.#about(name, 'Conflict', { message });
  }

  /** The ClusterRoleBinding that would give the role exists, but gives something else. */
  roleNameTaken(name: string, binding: string): StatusError {
    const what = `cannot be given the role: the ClusterRoleBinding "${binding}" is there and gives something else`;
    return this.#ofUser(name, 'Conflict', { what });
  }

  /** The user has no User object, and can only be changed in the users file or the Secret. */
  keptElsewhere(name: string): StatusError {
    const what = `is kept in the users file or in the first administrator's Secret: change it there, or make it an object with "gatehouse users import"`;
    return this.#ofUser(name, 'Conflict', { what });
  }

  /** 422 with one cause for each bad field, all of them in the message. */
  invalidUser(sent: string, causes: readonly StatusCause[]): StatusError {
    const name = cut(sent);
    const told = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
    const all = told.length === 1 ? told[0] : `[${told.join(', ')}]`;
    const message = `User.${this.#group} "${name}" is invalid: ${all}`;
    return this.#about(name, 'Invalid', { message, kind: 'User', causes });
  }

  /** 403 for a part of a request that this caller may not ask for; nothing was saved. */
  forbiddenChange(name: string, why: string, field?: string): StatusError {
    const causes = field === undefined ? undefined : [{ reason: 'FieldValueForbidden', message: why, field }];
    return this.#ofUser(name, 'Forbidden', { what: `is forbidden: ${why}`, causes });
  }

  /**
   * What our caller gets when the cluster does not save a write. An answer about the object is passed on. If the cluster refuses us
   * (401, 403, a limit) or gives no answer, our caller gets a 503.
   */
  toWriteFailure(error: unknown, name: string): unknown {
    if (error instanceof StatusError) return error;
    if (!(error instanceof ClusterError)) return notSaved('the cluster did not answer', error);
    const { code, reason, message } = error.status;
    // A 404 about another object means that users are not served, or that an object of the user is missing.
    if (code === 404 && message.includes(`"${name}" not found`)) return this.notFound('users', name);
    if (isConflict(error)) return isAlreadyExists(error) ? this.alreadyExists(name) : this.conflict(name);
    if (code === 422 || code === 400) {
      return this.invalidUser(
        name,
        error.causes.length > 0
          ? error.causes.map(withoutSecret)
          : [{ reason, message: error.lastingRefusal ?? 'the cluster takes it for invalid' }],
      );
    }
    return notSaved('the cluster did not save the user', error);
  }

  /** For `catch`: throws what a failed write of this user means to our caller. */
  throwWriteFailure(name: string): (error: unknown) => never {
    return (error) => {
      throw this.toWriteFailure(error, name);
    };
  }

  #ofUser(
    name: string,
    refusal: StatusRefusal,
    { what, causes }: Omit<About, 'message'> & { readonly what: string },
  ): StatusError {
    return this.#about(name, refusal, { message: `users.${this.#group} "${name}" ${what}`, causes });
  }

  #about(name: string, refusal: StatusRefusal, { message, kind = 'users', causes }: About): StatusError {
    const details = { name, group: this.#group, kind, ...(causes ? { causes } : {}) };
    return new StatusError(refusal, { message, details });
  }
}

interface About extends Pick<StatusError['answer'], 'message'> {
  /** Default: `users`. */
  readonly kind?: string;
  readonly causes?: readonly StatusCause[] | undefined;
}

/** 400 that names the field. */
export const badField = (field: string, message: string, reason = 'FieldValueInvalid'): StatusError =>
  badRequest(`${field}: ${message}`, [{ reason, message, field }]);

/** The cluster's message about a password, or about the whole `spec`, may quote the password. */
const withoutSecret = (cause: StatusCause): StatusCause =>
  cause.field !== undefined && /^spec(?:\.password.*)?$/.test(cause.field)
    ? { ...cause, message: 'the cluster takes it for invalid' }
    : cause;

/** The cluster did not answer, or something of ours is missing there. A repeated request may succeed. */
const RETRY_SECONDS = 5;

/** A 503. If the cluster refuses us permanently, the message says what refuses, and not "try again" (AC-84). */
export const notSaved = (what: string, cause: unknown): StatusError =>
  lastingRefusalIn(cause) === undefined
    ? serviceUnavailable(`${what}, please try again later`, RETRY_SECONDS, cause)
    : serviceUnavailable(what, undefined, cause);

/** For `catch`: throws the 503 that says what failed. */
export const throwNotSaved =
  (what: string) =>
  (error: unknown): never => {
    throw notSaved(what, error);
  };

/** The queue of password hashing, or a bucket of failed attempts, is full (AC-67). */
export const attemptsTurnedAway = (retryAfterSeconds: number): StatusError =>
  tooManyRequests('Too many attempts, please try again later.', retryAfterSeconds);
