import { parseAuthorization } from './authorization-header.ts';
import type { LogoutRequest, LogoutResponse } from './authorization-server.ts';
import { checkFormType, type Form, parameter, parseForm, parseParameters } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import type { OAuthOptions } from './options.ts';
import { invalidRequest, invalidToken, malformedBearer, notAvailable } from './refusals.ts';
import type { SessionEnds } from './session-ends.ts';
import type { AccessToken, AccessTokens } from './token-verifier.ts';

export interface LogoutParts {
  readonly verifier: AccessTokens;
  readonly ends: SessionEnds;
}

/** What Go's ParseBool takes, as 3.4 does. */
const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** RP-initiated logout (T-31 to T-36). Everything is checked before anything is ended. */
export function createLogout(
  options: OAuthOptions,
  parts: LogoutParts,
): (request: LogoutRequest) => Promise<LogoutResponse> {
  return async (request) => {
    const parameters = readParameters(request);
    const all = toBoolean(parameter(parameters, 'all') ?? 'false');
    const token = bearer(request.authorization, options.platform, parts.verifier);
    const location = redirectTarget(parameters, token, options);
    if (token) await end(token, all, parts.ends);
    return location === undefined ? {} : { location };
  };
}

/** From the query and, for a POST, from the form; a parameter of both is given twice. */
function readParameters({ queryString, form }: LogoutRequest): Form {
  const query = parseParameters(queryString);
  if (!form) return query;
  checkFormType(form.contentType);
  const body = parseForm(form.body);
  for (const name of body.keys()) if (query.has(name)) throw invalidRequest('a parameter is given more than once');
  return new Map([...query, ...body]);
}

function toBoolean(word: string): boolean {
  if (TRUE.includes(word)) return true;
  if (FALSE.includes(word)) return false;
  throw invalidRequest('the parameter all is not a boolean');
}

/** The token of the request, if it has one. Other schemes count as none, as on every other path (N-27, N-29). */
function bearer(authorization: string | undefined, platform: string, verifier: AccessTokens): AccessToken | undefined {
  const credentials = parseAuthorization(authorization);
  if (credentials?.scheme !== 'bearer') return undefined;
  if (credentials.text === '' || /\s/.test(credentials.text)) throw malformedBearer(platform);
  const token = inspect(credentials.text, verifier);
  if ('fault' in token) throw invalidToken(platform);
  return token;
}

function inspect(text: string, verifier: AccessTokens): ReturnType<AccessTokens['inspect']> {
  try {
    return verifier.inspect(text);
  } catch (error) {
    throw notAvailable(error);
  }
}

/** Only to an address that the client of the token, or the one named, has registered, byte by byte (N-26). */
function redirectTarget(form: Form, token: AccessToken | undefined, options: OAuthOptions): string | undefined {
  const named = parameter(form, 'client_id');
  if (token && named !== undefined && named !== token.claims.client_id)
    throw invalidRequest('the parameter client_id names another client than the token');
  const target = parameter(form, 'post_logout_redirect_uri');
  if (target === undefined) return undefined;
  const name = token?.claims.client_id ?? named;
  const client = options.clients.find((one) => one.name === name);
  if (!client?.postLogoutRedirectURIs.includes(target))
    throw invalidRequest('the parameter post_logout_redirect_uri is not registered for the client');
  const state = parameter(form, 'state');
  return state === undefined
    ? target
    : `${target}${target.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}

async function end({ claims }: AccessToken, all: boolean, ends: SessionEnds): Promise<void> {
  try {
    await (all ? ends.user(claims.sub, claims.iat) : ends.session(claims.sub, claims.sid));
  } catch (error) {
    throw error instanceof OAuthError ? error : notAvailable(error);
  }
}
