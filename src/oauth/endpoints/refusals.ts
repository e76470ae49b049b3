import { DataTooOld } from '../../data-age.ts';
import { lastingRefusalIn, StatusError } from '../../status-error.ts';
import { OAuthError, type OAuthErrorCode, type OAuthRefusal } from '../oauth-error.ts';

/**
 * A malformed request (400 `invalid_request`, RFC 6749 5.2): its description, and the rows of docs/contract/tokens.md and signin.md that have
 * it.
 */
export const INVALID_REQUESTS = {
  'the body must be application/x-www-form-urlencoded in UTF-8': ['N-02'],
  'parameters belong in the body, not in the address': ['N-03'],
  'a parameter is given more than once': ['N-04', 'T-36'],
  'a parameter is not form-encoded UTF-8': ['N-06'],
  'there are more than 64 parameters': ['N-07'],
  'the client authenticates in the header and in the body': ['N-08', 'N-09'],
  'the header and the body name different clients': ['N-08', 'N-09'],
  'the parameter grant_type is missing': ['N-12'],
  'the parameter username is missing': ['N-13'],
  'the parameter password is missing': ['N-13'],
  'the parameter refresh_token is missing': ['N-20'],
  'the parameter code is missing': ['B-43'],
  'the parameter device_code is missing': ['D-04'],
  'the parameter token is missing': ['T-23'],
  'the parameter post_logout_redirect_uri is not registered for the client': ['T-35'],
  'the parameter all is not a boolean': ['T-36'],
  'the parameter client_id names another client than the token': ['T-36'],
  'the body must be application/json in UTF-8': ['N-61'],
  'the body is not one JSON object without repeated names': ['N-61'],
  'the body is not a TokenReview of authentication.k8s.io/v1 or v1beta1': ['N-61'],
  'the member spec is not an object': ['N-61'],
  'the member spec.token is not a text': ['N-61'],
  'the member spec.audiences is not a list of texts': ['N-61'],
} as const satisfies Record<string, OAuthRefusal['ids']>;

export const invalidRequest = (description: keyof typeof INVALID_REQUESTS): OAuthError =>
  new OAuthError({ ids: INVALID_REQUESTS[description], status: 400, code: 'invalid_request', description });

type Row = readonly [ids: OAuthRefusal['ids'], status: number, code: OAuthErrorCode, description: string];

/** All other refusals under /oauth. Cases that must not be told apart are rows of one refusal. */
export const OAUTH_REFUSALS = {
  clientAuthenticationFailed: [['N-10', 'T-23'], 401, 'invalid_client', 'client authentication failed'],
  tooManyClientFailures: [['N-10'], 429, 'temporarily_unavailable', 'too many failed client authentications'],
  callerAuthenticationFailed: [['N-61'], 401, 'invalid_client', 'caller authentication failed'],
  unauthorizedClient: [['N-11', 'D-06'], 400, 'unauthorized_client', 'the client may not use this grant type'],
  /** A public client cannot authenticate, so it gets no information about tokens. */
  mayNotIntrospect: [['T-26'], 400, 'unauthorized_client', 'a public client may not introspect tokens'],
  unsupportedGrantType: [['N-12'], 400, 'unsupported_grant_type', 'the grant type is not supported'],
  unknownScope: [['N-18', 'N-22'], 400, 'invalid_scope', 'a word of the scope is not known'],
  widerScope: [['N-18', 'N-22'], 400, 'invalid_scope', 'the scope is wider than that of the session'],
  incorrectPassword: [['N-14'], 400, 'invalid_grant', 'incorrect password'],
  /** The throttle has refused the sign-in, or the queue of password hashing was full. */
  signInThrottled: [['N-15'], 429, 'invalid_grant', 'auth rate limit exceeded'],
  signInFull: [['T-02'], 429, 'temporarily_unavailable', 'too many sign-ins at once, please try again later'],
  refreshTokenNotValid: [
    ['N-20', 'N-21', 'N-23', 'T-14', 'T-17', 'T-18'],
    400,
    'invalid_grant',
    'the refresh token is not valid',
  ],
  /** For a client that sent a bearer token with the form: it shows its sign-in page only after a 401. */
  refreshTokenNotValidBesideBearer: [['T-01'], 401, 'invalid_grant', 'the refresh token is not valid'],
  codeNotValid: [['B-42', 'B-43'], 400, 'invalid_grant', 'the authorization code is not valid'],
  deviceCodeNotValid: [['D-04'], 400, 'invalid_grant', 'the device code is not valid'],
  authorizationPending: [['D-04'], 400, 'authorization_pending', 'nobody has allowed the device yet'],
  slowDown: [['D-04'], 400, 'slow_down', 'wait five seconds more between two requests'],
  deviceRefused: [['D-04'], 400, 'access_denied', 'the person has refused'],
  deviceCodeExpired: [['D-04'], 400, 'expired_token', 'the device code has expired'],
  tooManyDevices: [['D-05'], 429, 'temporarily_unavailable', 'too many device codes were issued'],
  /** So many people are about to allow devices that no further decision is kept. */
  tooManyDecisions: [['D-03'], 429, 'temporarily_unavailable', 'too many people are allowing devices'],
  /** No browser opened the page by a navigation, or another site posted its form. */
  crossSiteForm: [['B-24'], 403, 'invalid_request', 'another site may not send this request'],
  tooManyRotations: [['T-02'], 429, 'temporarily_unavailable', 'the session was refreshed too often'],
  /** The token of another client is not revoked (RFC 7009 2.1). */
  tokenOfAnotherClient: [['T-25'], 400, 'invalid_grant', 'the token was issued to another client'],
  /** There is no bearer token: the error code is that of KubeSphere 3.4. */
  loginRequired: [['T-21'], 401, 'login_required', 'no bearer token was sent'],
  invalidToken: [['T-22', 'T-33'], 401, 'invalid_token', 'the access token is not valid'],
  malformedBearer: [['T-22', 'T-33'], 400, 'invalid_request', 'the Authorization header is malformed'],
  /** Keys or session records are not available. Nothing has changed, and the client may send the request again. */
  notAvailable: [
    ['N-24', 'N-60', 'T-12', 'T-25', 'T-36', 'B-45', 'D-04'],
    503,
    'server_error',
    'the server cannot answer now; try again',
  ],
  serverError: [['T-02'], 500, 'server_error', 'the server failed'],
} as const satisfies Record<string, Row>;

type WordOf<Status extends number> = {
  [Word in keyof typeof OAUTH_REFUSALS]: (typeof OAUTH_REFUSALS)[Word][1] extends Status ? Word : never;
}[keyof typeof OAUTH_REFUSALS];

function refusalOf(word: keyof typeof OAUTH_REFUSALS, headers?: OAuthRefusal['headers']): OAuthRefusal {
  const [ids, status, code, description] = OAUTH_REFUSALS[word];
  return { ids, status, code, description, ...(headers ? { headers } : {}) };
}

/** The refusals that need no header. */
export const refused = (word: Exclude<WordOf<400 | 403>, 'malformedBearer'>): OAuthError =>
  new OAuthError(refusalOf(word));

/** Every 429 says after how many seconds the client may try again. */
export const throttled = (word: WordOf<429>, retryAfterSeconds: number): OAuthError =>
  new OAuthError(refusalOf(word, { 'Retry-After': String(retryAfterSeconds) }));

/** Every 401 has a challenge (RFC 9110 15.5.2). That of a missing bearer token has no error code (RFC 6750 3.1). */
const challenged =
  (word: WordOf<400 | 401>, scheme: 'Basic' | 'Bearer', error?: string) =>
  (platform: string): OAuthError => {
    const challenge = `${scheme} realm="${platform}"${error === undefined ? '' : `, error="${error}"`}`;
    return new OAuthError(refusalOf(word, { 'WWW-Authenticate': challenge }));
  };

export const clientAuthenticationFailed = challenged('clientAuthenticationFailed', 'Basic');
export const callerAuthenticationFailed = challenged('callerAuthenticationFailed', 'Bearer');
export const loginRequired = challenged('loginRequired', 'Bearer');
export const invalidToken = challenged('invalidToken', 'Bearer', 'invalid_token');
export const malformedBearer = challenged('malformedBearer', 'Bearer', 'invalid_request');
export const refreshTokenNotValidBesideBearer = challenged(
  'refreshTokenNotValidBesideBearer',
  'Bearer',
  'invalid_token',
);

/**
 * If the cluster permanently refuses something that the server needs, the description says what it refuses, and there is no
 * `Retry-After`.
 */
export function notAvailable(cause: unknown): OAuthError {
  const refusal = lastingRefusalIn(cause);
  if (refusal === undefined) return new OAuthError(refusalOf('notAvailable', { 'Retry-After': '1' }), cause);
  // RFC 6749 5.2: a description has no double quotes and no backslash.
  const description = `the server cannot answer: ${refusal.replaceAll(/["\\]/g, "'")}`;
  return new OAuthError({ ...refusalOf('notAvailable'), description }, cause);
}

/** The data for the answer is older than allowed. The message of the error names the data and the limit. */
function tooOld(error: DataTooOld): OAuthError {
  const headers = { 'Retry-After': String(error.retryAfterSeconds) };
  return new OAuthError({ ...refusalOf('notAvailable', headers), description: error.message }, error);
}

/**
 * Turns any error into an answer under /oauth. Missing data is not a bug: it becomes a 503, after which the client may try again.
 */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof DataTooOld) return tooOld(error);
  const isMissing = error instanceof StatusError && error.answer.code === 503;
  return isMissing ? notAvailable(error) : new OAuthError(refusalOf('serverError'), error);
}
