/** One cause of a refusal (`metav1.StatusCause`). */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** The part of `metav1.StatusDetails` that we use; members are written in this order. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/**
 * Every refusal and failure outside /oauth: its row of docs/contract/http.md, section 4, its HTTP status, and its machine word of the
 * Kubernetes API (`metav1.StatusReason`), which is its key too. Only for a slow request the key differs, because both 408 and 504 are
 * a `Timeout`.
 */
export const STATUS_REFUSALS = {
  BadRequest: { id: 'HE-400', code: 400, reason: 'BadRequest' },
  Unauthorized: { id: 'HE-401', code: 401, reason: 'Unauthorized' },
  Forbidden: { id: 'HE-403', code: 403, reason: 'Forbidden' },
  NotFound: { id: 'HE-404', code: 404, reason: 'NotFound' },
  MethodNotAllowed: { id: 'HE-405', code: 405, reason: 'MethodNotAllowed' },
  NotAcceptable: { id: 'HE-406', code: 406, reason: 'NotAcceptable' },
  RequestTimeout: { id: 'HE-408', code: 408, reason: 'Timeout' },
  AlreadyExists: { id: 'HE-409', code: 409, reason: 'AlreadyExists' },
  Conflict: { id: 'HE-409', code: 409, reason: 'Conflict' },
  Gone: { id: 'HE-410', code: 410, reason: 'Gone' },
  Expired: { id: 'HE-410', code: 410, reason: 'Expired' },
  RequestEntityTooLarge: { id: 'HE-413', code: 413, reason: 'RequestEntityTooLarge' },
  UnsupportedMediaType: { id: 'HE-415', code: 415, reason: 'UnsupportedMediaType' },
  Invalid: { id: 'HE-422', code: 422, reason: 'Invalid' },
  TooManyRequests: { id: 'HE-429', code: 429, reason: 'TooManyRequests' },
  RequestHeaderFieldsTooLarge: { id: 'HE-431', code: 431, reason: 'RequestHeaderFieldsTooLarge' },
  InternalError: { id: 'HE-500', code: 500, reason: 'InternalError' },
  BadGateway: { id: 'HE-502', code: 502, reason: 'BadGateway' },
  ServiceUnavailable: { id: 'HE-503', code: 503, reason: 'ServiceUnavailable' },
  Timeout: { id: 'HE-504', code: 504, reason: 'Timeout' },
} as const satisfies Record<string, { readonly id: `HE-${number}` } & Pick<Answer, 'code' | 'reason'>>;

/** The key of a refusal or failure outside /oauth. */
export type StatusRefusal = keyof typeof STATUS_REFUSALS;

/** What is sent to a caller. All of it is public. */
export interface Answer {
  /** The HTTP status. */
  readonly code: number;
  /** The machine word of the Kubernetes API. */
  readonly reason: string;
  readonly message: string;
  /** Absent details are omitted; `{}` is written. */
  readonly details?: StatusDetails;
  /** Further response headers, e.g. `WWW-Authenticate` or `Allow`. `Retry-After` follows from `details`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A refusal or failure outside /oauth, as a value: thrown or returned where it is known, turned into bytes by the one
 * error writer. `cause` is private: logged for 5xx, never sent.
 */
export class StatusError extends Error {
  /** The row of docs/contract/http.md, section 4. It is not sent. */
  readonly id: (typeof STATUS_REFUSALS)[StatusRefusal]['id'];
  readonly answer: Answer;

  constructor(refusal: StatusRefusal, answer: Omit<Answer, 'code' | 'reason'>, cause?: unknown) {
    super(answer.message, { cause });
    this.name = 'StatusError';
    const { id, code, reason } = STATUS_REFUSALS[refusal];
    this.id = id;
    this.answer = { code, reason, ...answer };
  }
}

export const badRequest = (message: string, causes?: readonly StatusCause[]): StatusError =>
  new StatusError('BadRequest', { message, ...(causes ? { details: { causes } } : {}) });

/** `kind` is the plural. With a group, both are named, as Kubernetes does. */
export function notFound(kind: string, name: string, group = ''): StatusError {
  const what = group === '' ? kind : `${kind}.${group}`;
  const details = { name, ...(group && { group }), kind };
  return new StatusError('NotFound', { message: `${what} "${name}" not found`, details });
}

/**
 * A refusal that lasts until somebody changes something: the same request is refused again. An error that carries one may be
 * the cause of another, so the writer of the answer need not know where it came from.
 */
export interface LastingRefusal {
  /** Public: what refuses. Absent: trying again may help. */
  readonly lastingRefusal?: string | undefined;
}

/** The `lastingRefusal` of the error or of the nearest of its causes that has one. */
export function lastingRefusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return (error as LastingRefusal).lastingRefusal ?? lastingRefusalIn(error.cause);
}

/**
 * A 503. If its cause is a refusal that lasts, the message says what refuses, and there is no `Retry-After`. A caller whose
 * own message says what refuses passes `undefined` for `retryAfterSeconds`.
 */
export function serviceUnavailable(
  message: string,
  retryAfterSeconds: number | undefined,
  cause?: unknown,
): StatusError {
  const refusal = lastingRefusalIn(cause);
  if (refusal !== undefined) return new StatusError('ServiceUnavailable', { message: `${message}: ${refusal}` }, cause);
  if (retryAfterSeconds === undefined) return new StatusError('ServiceUnavailable', { message }, cause);
  return new StatusError('ServiceUnavailable', { message, details: { retryAfterSeconds } }, cause);
}

/** A limit of ours is reached (RFC 6585 4): the same request may be sent again after `retryAfterSeconds`, which is 1 or more. */
export const tooManyRequests = (
  message = 'Too many requests, please try again later.',
  retryAfterSeconds = 1,
  cause?: unknown,
): StatusError => new StatusError('TooManyRequests', { message, details: { retryAfterSeconds } }, cause);
