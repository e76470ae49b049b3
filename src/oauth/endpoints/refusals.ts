import { DataTooOld } from '../../data-age.ts';
import { lastingRefusalIn, StatusError } from '../../status-error.ts';
import { OAuthError } from '../oauth-error.ts';

/** RFC 6749 5.2. The description is a fixed text of ours, which names a known parameter at most. */
export const invalidRequest = (description: string): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_request', description });

/** One answer for an unknown client, a wrong secret and none at all (N-10); RFC 9110 15.5.2 requires the challenge. */
export const clientAuthenticationFailed = (platform: string): OAuthError =>
  new OAuthError({
    status: 401,
    code: 'invalid_client',
    description: 'client authentication failed',
    headers: { 'WWW-Authenticate': `Basic realm="${platform}"` },
  });

/** N-10: the answer does not depend on whether the client exists or its secret is right. */
export const tooManyClientFailures = (retryAfterSeconds: number): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'temporarily_unavailable',
    description: 'too many failed client authentications',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** The caller of the TokenReview webhook is not allowed to ask (N-61). */
export const callerAuthenticationFailed = (platform: string): OAuthError =>
  new OAuthError({
    status: 401,
    code: 'invalid_client',
    description: 'caller authentication failed',
    headers: { 'WWW-Authenticate': `Bearer realm="${platform}"` },
  });

export const unauthorizedClient = (): OAuthError =>
  new OAuthError({
    status: 400,
    code: 'unauthorized_client',
    description: 'the client may not use this grant type',
  });

/** A client that cannot prove who it is learns nothing about tokens (T-26). */
export const mayNotIntrospect = (): OAuthError =>
  new OAuthError({
    status: 400,
    code: 'unauthorized_client',
    description: 'a public client may not introspect tokens',
  });

export const unsupportedGrantType = (): OAuthError =>
  new OAuthError({ status: 400, code: 'unsupported_grant_type', description: 'the grant type is not supported' });

export const invalidScope = (description: string): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_scope', description });

/** One answer for every reason why a sign-in fails (N-14). */
export const incorrectPassword = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'incorrect password' });

/** A full bucket or a full gate (N-15). */
export const signInThrottled = (retryAfterSeconds: number): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'invalid_grant',
    description: 'auth rate limit exceeded',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** One answer for every reason why a refresh token is refused (N-20, N-21, N-23). */
export const refreshTokenNotValid = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'the refresh token is not valid' });

/**
 * The same refusal for a client that sent a bearer beside the form: it shows its sign-in page only after a 401 (T-01).
 */
export const refreshTokenNotValidBesideBearer = (platform: string): OAuthError =>
  new OAuthError({
    ...refreshTokenNotValid().refusal,
    status: 401,
    headers: bearerChallenge(platform, 'invalid_token'),
  });

/** RFC 7009 2.1: the token remains valid (T-25). */
export const tokenOfAnotherClient = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'the token was issued to another client' });

export const tooManyRotations = (retryAfterSeconds: number): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'temporarily_unavailable',
    description: 'the session was refreshed too often',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** No bearer where one is needed: a challenge without an error (RFC 6750 3.1), and the code of KubeSphere 3.4 (T-21). */
export const loginRequired = (platform: string): OAuthError =>
  new OAuthError({
    status: 401,
    code: 'login_required',
    description: 'no bearer token was sent',
    headers: { 'WWW-Authenticate': `Bearer realm="${platform}"` },
  });

/** RFC 6750 3.1. */
export const invalidToken = (platform: string): OAuthError =>
  new OAuthError({
    status: 401,
    code: 'invalid_token',
    description: 'the access token is not valid',
    headers: bearerChallenge(platform, 'invalid_token'),
  });

export const malformedBearer = (platform: string): OAuthError =>
  new OAuthError({
    status: 400,
    code: 'invalid_request',
    description: 'the Authorization header is malformed',
    headers: bearerChallenge(platform, 'invalid_request'),
  });

/**
 * Keys or session records cannot be reached. Nothing has changed, and the request may be sent again, unless what the server
 * needs of the cluster is refused for good: then it says what refuses.
 */
export function notAvailable(cause: unknown): OAuthError {
  const refusal = lastingRefusalIn(cause);
  if (refusal === undefined)
    return unavailable({ description: 'the server cannot answer now; try again', retryAfterSeconds: 1 }, cause);
  // RFC 6749 5.2: a description has no double quotes and no backslash.
  const description = `the server cannot answer: ${refusal.replaceAll(/["\\]/g, "'")}`;
  return new OAuthError({ status: 503, code: 'server_error', description }, cause);
}

/** Refuses because data is older than allowed. The error's own sentence names the data and the limit. */
const tooOld = (error: DataTooOld): OAuthError =>
  unavailable({ description: error.message, retryAfterSeconds: error.retryAfterSeconds }, error);

const unavailable = (
  { description, retryAfterSeconds }: { readonly description: string; readonly retryAfterSeconds: number },
  cause: unknown,
): OAuthError =>
  new OAuthError(
    { status: 503, code: 'server_error', description, headers: { 'Retry-After': String(retryAfterSeconds) } },
    cause,
  );

const serverError = (cause: unknown): OAuthError =>
  new OAuthError({ status: 500, code: 'server_error', description: 'the server failed' }, cause);

/**
 * Turns any error into an answer under /oauth. Missing data of ours is no failure of the server: it is a 503, and the
 * client may ask again.
 */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof DataTooOld) return tooOld(error);
  const isMissing = error instanceof StatusError && error.answer.code === 503;
  return isMissing ? notAvailable(error) : serverError(error);
}

const bearerChallenge = (platform: string, error: string): Readonly<Record<string, string>> => ({
  'WWW-Authenticate': `Bearer realm="${platform}", error="${error}"`,
});
