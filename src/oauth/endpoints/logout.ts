import { parseBooleanWord } from '../../runtime/text/boolean-word.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { EndSessionRequest, LogoutResponse } from '../authorization-server.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { Act } from '../tokens/act.ts';
import type { AccessToken } from '../tokens/token-verifier.ts';
import { type BearerTokens, parseAuthorization } from './authorization-header.ts';
import { checkFormType, type Form, parameter, parseForm, parseParameters } from './form.ts';
import { invalidRequest, notAvailable, toOAuthError } from './refusals.ts';
import { withParameters } from './with-parameters.ts';

export interface LogoutParts {
  readonly bearerToken: BearerTokens;
  readonly ends: Pick<SessionEnds, 'session' | 'user'>;
  readonly events: SecurityEvents;
}

/**
 * RP-initiated logout (T-31 to T-36). Everything is checked before a session is ended. A logout without a bearer token leaves no line
 * in the audit trail.
 */
export function createLogout(
  options: OAuthOptions,
  parts: LogoutParts,
): (request: EndSessionRequest) => Promise<LogoutResponse> {
  const answer = async (request: EndSessionRequest, act: Act): Promise<LogoutResponse> => {
    const parameters = readParameters(request);
    const all = parseBooleanWord(parameter(parameters, 'all') ?? 'false');
    if (all === undefined) throw invalidRequest('the parameter all is not a boolean');
    if (parseAuthorization(request.authorization)?.scheme === 'bearer') act.is('sign_out');
    const token = parts.bearerToken(request.authorization);
    if (token) act.involves({ user: token.user.name, clientId: token.claims.client_id, sid: token.claims.sid });
    const location = redirectTarget(parameters, token, options);
    if (token) await end(token, all, parts.ends);
    act.says({ scope: all ? 'user' : 'session' });
    return location === undefined ? {} : { location };
  };
  return async (request) => {
    const act = new Act(parts.events, request, 'logout');
    try {
      return await answer(request, act);
    } catch (error) {
      act.refused(toOAuthError(error).refusal);
      throw error;
    } finally {
      act.end();
    }
  };
}

/** Reads the parameters of the query and, with a POST, of the form. A parameter in both is refused like one that is given twice. */
function readParameters({ queryString, form }: EndSessionRequest): Form {
  const query = parseParameters(queryString);
  if (!form) return query;
  checkFormType(form.contentType);
  const body = parseForm(form.body);
  for (const name of body.keys()) if (query.has(name)) throw invalidRequest('a parameter is given more than once');
  return new Map([...query, ...body]);
}

/**
 * The URL to redirect to. It must be registered, byte for byte, for the client of the token or, without a token, for `client_id`
 * (N-26).
 */
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
  return state === undefined ? target : withParameters(target, { state });
}

async function end({ claims }: AccessToken, all: boolean, ends: LogoutParts['ends']): Promise<void> {
  try {
    await (all ? ends.user(claims.sub, claims.iat) : ends.session(claims.sub, claims.sid));
  } catch (error) {
    throw error instanceof OAuthError ? error : notAvailable(error);
  }
}
