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

/** What is sent to a caller. All of it is public. */
export interface Answer {
  /** The HTTP status. */
  readonly code: number;
  /** The machine word of the Kubernetes API (`metav1.StatusReason`). */
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
  readonly answer: Answer;

  constructor(answer: Answer, cause?: unknown) {
    super(answer.message, { cause });
    this.name = 'StatusError';
    this.answer = answer;
  }
}

export const badRequest = (message: string, causes?: readonly StatusCause[]): StatusError =>
  new StatusError({ code: 400, reason: 'BadRequest', message, ...(causes ? { details: { causes } } : {}) });

/** `kind` is the plural. With a group, both are named, as Kubernetes does. */
export function notFound(kind: string, name: string, group = ''): StatusError {
  const what = group === '' ? kind : `${kind}.${group}`;
  const details = { name, ...(group && { group }), kind };
  return new StatusError({ code: 404, reason: 'NotFound', message: `${what} "${name}" not found`, details });
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
  const answer = { code: 503, reason: 'ServiceUnavailable', message };
  if (refusal !== undefined) return new StatusError({ ...answer, message: `${message}: ${refusal}` }, cause);
  if (retryAfterSeconds === undefined) return new StatusError(answer, cause);
  return new StatusError({ ...answer, details: { retryAfterSeconds } }, cause);
}

/** A limit of ours is reached (RFC 6585 4): the same request may be sent again after `retryAfterSeconds`, which is 1 or more. */
export const tooManyRequests = (
  message = 'Too many requests, please try again later.',
  retryAfterSeconds = 1,
  cause?: unknown,
): StatusError =>
  new StatusError({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } }, cause);
