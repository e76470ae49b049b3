import { DataTooOld } from '../../data-age.ts';
import { lastingRefusalIn, StatusError } from '../../status-error.ts';
import { OAuthError } from '../oauth-error.ts';

/** A malformed request (RFC 6749 5.2). The description is one of our own texts, which may name a known parameter. */
export const invalidRequest = (description: string): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_request', description });

/** The same answer for an unknown client, a wrong secret and a missing one (N-10). RFC 9110 15.5.2 requires the challenge. */
export const clientAuthenticationFailed = (platform: string): OAuthError =>
  new OAuthError({
    status: 401,
    code: 'invalid_client',
    description: 'client authentication failed',
    headers: { 'WWW-Authenticate': `Basic realm="${platform}"` },
  });

/** The client is throttled. The answer does not depend on whether the client exists or its secret is right (N-10). */
export const tooManyClientFailures = (retryAfterSeconds: number): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'temporarily_unavailable',
    description: 'too many failed client authentications',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** The caller of the TokenReview webhook could not be authenticated (N-61). */
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

/** A page was not opened by a browser's navigation, or its form was posted by another site (B-24). */
export const crossSiteForm = (): OAuthError =>
  new OAuthError({ status: 403, code: 'invalid_request', description: 'another site may not send this request' });

/** A public client cannot authenticate, so it gets no information about tokens (T-26). */
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

/** The same answer for every reason for which a sign-in is refused (N-14). */
export const incorrectPassword = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'incorrect password' });

/** The throttle has refused the sign-in, or the queue of password hashing was full (N-15). */
export const signInThrottled = (retryAfterSeconds: number): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'invalid_grant',
    description: 'auth rate limit exceeded',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** The same answer for every reason for which a refresh token is refused (N-20, N-21, N-23). */
export const refreshTokenNotValid = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'the refresh token is not valid' });

/** The same answer for every reason for which an authorization code is refused (B-43). */
export const codeNotValid = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'the authorization code is not valid' });

/**
 * The same refusal with status 401, for a client that sent a bearer token with the form: it shows its sign-in page only after a 401
 * (T-01).
 */
export const refreshTokenNotValidBesideBearer = (platform: string): OAuthError =>
  new OAuthError({
    ...refreshTokenNotValid().refusal,
    status: 401,
    headers: bearerChallenge(platform, 'invalid_token'),
  });

/** The token of another client is not revoked (RFC 7009 2.1, T-25). */
export const tokenOfAnotherClient = (): OAuthError =>
  new OAuthError({ status: 400, code: 'invalid_grant', description: 'the token was issued to another client' });

export const tooManyRotations = (retryAfterSeconds: number): OAuthError =>
  new OAuthError({
    status: 429,
    code: 'temporarily_unavailable',
    description: 'the session was refreshed too often',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** There is no bearer token: a challenge without an error (RFC 6750 3.1), and the error code of KubeSphere 3.4 (T-21). */
export const loginRequired = (platform: string): OAuthError =>
  new OAuthError({
    status: 401,
    code: 'login_required',
    description: 'no bearer token was sent',
    headers: { 'WWW-Authenticate': `Bearer realm="${platform}"` },
  });

/** The bearer token is not valid (RFC 6750 3.1). */
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
 * Keys or session records are not available. Nothing has changed, and the client may send the request again. If the cluster permanently
 * refuses something that the server needs, the description says what it refuses, and there is no `Retry-After`.
 */
export function notAvailable(cause: unknown): OAuthError {
  const refusal = lastingRefusalIn(cause);
  if (refusal === undefined)
    return unavailable({ description: 'the server cannot answer now; try again', retryAfterSeconds: 1 }, cause);
  // RFC 6749 5.2: a description has no double quotes and no backslash.
  const description = `the server cannot answer: ${refusal.replaceAll(/["\\]/g, "'")}`;
  return new OAuthError({ status: 503, code: 'server_error', description }, cause);
}

/** The data for the answer is older than allowed. The message of the error names the data and the limit. */
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
 * Turns any error into an answer under /oauth. Missing data is not a bug: it becomes a 503, after which the client may try again.
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
