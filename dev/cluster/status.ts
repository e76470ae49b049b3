import { apiVersionOf, qualifiedName, type ResourceKind } from './kinds.ts';

/** One cause in `metav1.StatusDetails`. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** `metav1.Status` of a failure; members are written in this order, as a real server does. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Failure';
  readonly message: string;
  readonly reason?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
  readonly code: number;
}

type StatusParts = Pick<Status, 'code' | 'message'> & Partial<Pick<Status, 'reason' | 'details' | 'metadata'>>;

export const statusOf = ({ code, message, reason, details, metadata }: StatusParts): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: metadata ?? {},
  status: 'Failure',
  message,
  ...(reason === undefined ? {} : { reason }),
  ...(details === undefined ? {} : { details }),
  code,
});

/** A refusal of the API server, thrown where it is known and written by the server in one place. */
export class ApiError extends Error {
  readonly status: Status;

  constructor(parts: StatusParts) {
    super(parts.message);
    this.name = 'ApiError';
    this.status = statusOf(parts);
  }
}

/** A refusal in plain text, thrown like an `ApiError`. */
export class TextError extends Error {
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.name = 'TextError';
    this.code = code;
  }
}

const about = (kind: ResourceKind, name: string) => ({
  ...(name === '' ? {} : { name }),
  ...(kind.group === '' ? {} : { group: kind.group }),
  kind: kind.plural,
});

export const badRequest = (message: string): ApiError => new ApiError({ code: 400, reason: 'BadRequest', message });

export const unauthorized = (): ApiError =>
  new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });

export const notFound = (kind: ResourceKind, name: string): ApiError =>
  new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${qualifiedName(kind)} "${name}" not found`,
    details: about(kind, name),
  });

/** The 404 for a path below a known API version that names no resource there. */
export const unknownResource = (): ApiError =>
  new ApiError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });

export const methodNotAllowed = (): ApiError =>
  new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });

/** `isLeaving`: the object that exists is marked as deleted. */
export const alreadyExists = (kind: ResourceKind, name: string, isLeaving: boolean): ApiError =>
  new ApiError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${isLeaving ? 'object is being deleted: ' : ''}${qualifiedName(kind)} "${name}" already exists`,
    details: about(kind, name),
  });

export const OUTDATED = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (kind: ResourceKind, name: string, why: string): ApiError =>
  new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualifiedName(kind)} "${name}": ${why}`,
    details: about(kind, name),
  });

/** Here a real server names the kind of the object; in other messages it names the resource. */
export const preconditionFailed = (kind: ResourceKind, name: string, why: string): ApiError =>
  new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${kind.kind}${kind.group === '' ? '' : `.${kind.group}`} "${name}": ${why}`,
    details: { ...about(kind, name), kind: kind.kind },
  });

/** 410 Expired. With the token `continueAt` a client may continue the list, without consistency. */
export const expired = (message: string, continueAt?: string): ApiError =>
  new ApiError({
    code: 410,
    reason: 'Expired',
    message,
    ...(continueAt === undefined ? {} : { metadata: { continue: continueAt } }),
  });

export const unsupportedMediaType = (): ApiError =>
  new ApiError({ code: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} });

/** 415 for a body that is not a patch. */
export const unknownFormat = (): ApiError =>
  new ApiError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  });

/** Validation refuses a field: 422 with the field as cause. */
export interface InvalidField {
  readonly field: string;
  readonly reason: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueNotSupported';
  readonly message: string;
}

interface Subject {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

export const invalid = ({ group, kind, name }: Subject, fields: readonly InvalidField[]): ApiError => {
  const problems = [...new Set(fields.map(({ field, message }) => `${field}: ${message}`))];
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${group === '' ? kind : `${kind}.${group}`} "${name}" is invalid: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      ...(kind === '' ? {} : { kind }),
      causes: fields.map(({ field, reason, message }) => ({ reason, message, field })),
    },
  });
};

/** The 501 for something that a real server does and this one does not. */
export const notSimulated = (what: string): ApiError =>
  new ApiError({ code: 501, reason: 'NotImplemented', message: `the simulated cluster does not ${what}`, details: {} });

/** 504 for a version that the server has not reached. A real server waits about 3 s for it first; this one does not. */
export const tooLargeResourceVersion = (wanted: string, current: string): ApiError =>
  new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });

/** The Status of a finished deletion. */
export const deleted = (kind: ResourceKind, name: string, uid: string): string =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...about(kind, name), uid },
  });

/** The Status for a body whose `apiVersion` and `kind` are not those of the path. */
export const wrongType = (kind: ResourceKind): ApiError =>
  badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): expected ${apiVersionOf(kind)}`);
