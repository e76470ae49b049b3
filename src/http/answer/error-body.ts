import { OAuthError, type OAuthErrorCode, type OAuthRefusal } from '../../oauth/oauth-error.ts';
import type { Answer } from '../../status-error.ts';
import { StatusError } from '../../status-error.ts';
import { internalError } from './refusals.ts';

/** An error as it is sent. Everything in it is public. */
export interface ErrorAnswer {
  readonly status: number;
  /** The reason of the `Status`, or the OAuth error code; always one of a few fixed words. */
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The Kubernetes `Status` of a refusal as compact JSON, with the members in the order of docs/contract/http.md, section 4. */
function statusBody(answer: Answer): string {
  const { code, reason, message, details } = answer;
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason };
  return JSON.stringify(details ? { ...head, details: orderedDetails(details), code } : { ...head, code });
}

function orderedDetails(details: NonNullable<Answer['details']>): object {
  const { name, group, kind, causes, retryAfterSeconds } = details;
  return { name, group, kind, causes, retryAfterSeconds };
}

/** Turns a refusal that did not come from the authorization server into an OAuth error (RFC 6749 5.2). */
function toRefusal({ id, answer }: StatusError): OAuthRefusal {
  const code = oauthCode(answer.code);
  const retryAfter = answer.details?.retryAfterSeconds;
  return {
    ids: [id],
    status: answer.code,
    code,
    description: describable(answer.message) ? answer.message : 'the request was refused',
    headers: { ...answer.headers, ...(retryAfter ? { 'Retry-After': String(retryAfter) } : {}) },
  };
}

function oauthCode(status: number): OAuthErrorCode {
  if (status === 429) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

/** Whether a text has only the characters of a description (RFC 6749 5.2): x20-21, x23-5B, x5D-7E. */
const describable = (text: string): boolean => /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(text);

/**
 * The answer to send for `error`: OAuth JSON under /oauth, else a `Status`. An unknown error becomes a 500 that reveals
 * nothing.
 */
export function toErrorAnswer(error: unknown, requestId: string, oauth: boolean): ErrorAnswer {
  const known = error instanceof OAuthError || error instanceof StatusError ? error : internalError(requestId, error);
  if (known instanceof OAuthError) return oauthAnswer(known.refusal);
  if (oauth) return oauthAnswer(toRefusal(known));
  const retryAfter = known.answer.details?.retryAfterSeconds;
  return {
    status: known.answer.code,
    reason: known.answer.reason,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(retryAfter ? { 'Retry-After': String(retryAfter) } : {}),
      ...known.answer.headers,
    },
    body: Buffer.from(statusBody(known.answer)),
  };
}

function oauthAnswer(refusal: OAuthRefusal): ErrorAnswer {
  return {
    status: refusal.status,
    reason: refusal.code,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      ...refusal.headers,
    },
    body: Buffer.from(JSON.stringify({ error: refusal.code, error_description: refusal.description })),
  };
}

/** The reason for a 5xx: the private cause of a known error, or the unknown error itself. `undefined` below 500. */
export function failureOf(error: unknown): unknown {
  if (error instanceof OAuthError) return error.refusal.status >= 500 ? (error.cause ?? error.message) : undefined;
  if (error instanceof StatusError) return error.answer.code >= 500 ? (error.cause ?? error.message) : undefined;
  return error ?? 'nothing was thrown';
}
