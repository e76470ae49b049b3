import { parseAuthorization } from './authorization-header.ts';
import type { FormRequest, TokenResponse } from './authorization-server.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { checkFormHead, type Form, parameter, parseForm } from './form.ts';
import type { Grant } from './grant.ts';
import type { TokenMetrics } from './metrics.ts';
import type { OAuthError } from './oauth-error.ts';
import type { Client } from './options.ts';
import {
  invalidRequest,
  notAvailable,
  refreshTokenNotValidBesideBearer,
  toOAuthError,
  unauthorizedClient,
  unsupportedGrantType,
} from './refusals.ts';
import { requestedScope } from './scope.ts';
import type { SessionStore } from './sessions.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface TokenEndpointParts {
  readonly platform: string;
  readonly clients: ClientAuthentication;
  /** By `grant_type`. */
  readonly grants: ReadonlyMap<string, Grant>;
  readonly keys: SigningKeys;
  readonly sessions: SessionStore;
  /** Why not every user is known: then nobody may be told that the password is incorrect. */
  usersFault(): string | undefined;
  readonly metrics: TokenMetrics;
}

export interface TokenEndpoint {
  checkHead(contentType: string | undefined, queryString: string): void;
  token(request: FormRequest): Promise<TokenResponse>;
}

/** POST /oauth/token (RFC 6749 3.2). Every refusal is an `OAuthError`; what else goes wrong is one as well, code 500. */
export function createTokenEndpoint(parts: TokenEndpointParts): TokenEndpoint {
  const checkHead: TokenEndpoint['checkHead'] = (contentType, queryString) => {
    try {
      checkFormHead(contentType, queryString);
    } catch (error) {
      parts.metrics.requests.inc({ grant_type: 'none', result: 'invalid_request' });
      throw error;
    }
  };
  const token: TokenEndpoint['token'] = async (request) => {
    const labels = { grant_type: 'none', result: 'ok' };
    try {
      return await answer(request, parts, labels);
    } catch (error) {
      const refusal = toRefusal(error, { authorization: request.authorization, platform: parts.platform, ...labels });
      labels.result = refusal.refusal.code;
      throw refusal;
    } finally {
      parts.metrics.requests.inc(labels);
    }
  };
  return { checkHead, token };
}

/** The order is the contract's; nothing is hashed before the grant. */
async function answer(
  request: FormRequest,
  parts: TokenEndpointParts,
  labels: { grant_type: string },
): Promise<TokenResponse> {
  checkFormHead(request.contentType, request.queryString);
  const form = parseForm(request.body);
  const client = parts.clients.authenticate(form, request.authorization);
  const { grant, type } = selectGrant(form, client, parts.grants);
  labels.grant_type = type;
  const scope = requestedScope(form);
  const notReady = parts.keys.ready() ?? parts.sessions.fault() ?? parts.usersFault();
  if (notReady !== undefined) throw notAvailable(new Error(notReady));
  return grant({ form, client, scope, http: request });
}

function selectGrant(
  form: Form,
  client: Client,
  grants: ReadonlyMap<string, Grant>,
): { readonly grant: Grant; readonly type: string } {
  const type = parameter(form, 'grant_type');
  if (type === undefined) throw invalidRequest('the parameter grant_type is missing');
  const grant = grants.get(type);
  if (!grant) throw unsupportedGrantType();
  if (!client.grantTypes.includes(type)) throw unauthorizedClient();
  return { grant, type };
}

/** A refused refresh is a 401 for clients that sent a bearer beside the form: they wait for it (T-01). */
function toRefusal(
  error: unknown,
  context: { readonly authorization: string | undefined; readonly platform: string; readonly grant_type: string },
): OAuthError {
  const known = toOAuthError(error);
  const isRefusedRefresh = context.grant_type === 'refresh_token' && known.refusal.code === 'invalid_grant';
  const hasBearer = parseAuthorization(context.authorization)?.scheme === 'bearer';
  return isRefusedRefresh && hasBearer ? refreshTokenNotValidBesideBearer(context.platform) : known;
}
