import type { ActName, SecurityEvents } from '../../security-events.ts';
import type { FormRequest, TokenResponse } from '../authorization-server.ts';
import type { TokenMetrics } from '../metrics.ts';
import type { OAuthError } from '../oauth-error.ts';
import { type Client, DEVICE_GRANT } from '../options.ts';
import type { TokenData } from '../token-data.ts';
import { Act } from '../tokens/act.ts';
import { parseAuthorization } from './authorization-header.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { createFormHeadCheck, type Form, type FormHeadCheck, parameter, parseForm } from './form.ts';
import { type Grant, requestedScope } from './grant.ts';
import { invalidRequest, refreshTokenNotValidBesideBearer, refused, toOAuthError } from './refusals.ts';

export interface TokenEndpointParts {
  readonly platform: string;
  readonly clients: ClientAuthentication;
  /** The grants, keyed by `grant_type`. */
  readonly grants: ReadonlyMap<string, Grant>;
  /** Is checked first, so that no sign-in gets "incorrect password" while the users are not loaded. */
  readonly data: Pick<TokenData, 'check'>;
  readonly metrics: TokenMetrics;
  readonly events: SecurityEvents;
}

/** The name of each grant in the audit trail. */
const ACTS: Readonly<Record<string, ActName>> = {
  authorization_code: 'code_redeemed',
  [DEVICE_GRANT]: 'device_redeemed',
  password: 'sign_in',
  refresh_token: 'refresh',
};

export interface TokenEndpoint {
  /** To be called before the body is read. */
  readonly checkHead: FormHeadCheck;
  /** Answers a form whose head was checked. */
  token(request: FormRequest): Promise<TokenResponse>;
}

/**
 * POST /oauth/token (RFC 6749 3.2). Every refusal is an `OAuthError`; an unexpected failure becomes one with status 500.
 */
export function createTokenEndpoint(parts: TokenEndpointParts): TokenEndpoint {
  const checkHead = createFormHeadCheck((result) => parts.metrics.requests.inc({ grant_type: 'none', result }));
  const token: TokenEndpoint['token'] = async (request) => {
    const labels = { grant_type: 'none', result: 'ok' };
    const act = new Act(parts.events, request, 'token');
    try {
      return await answer(request, parts, { labels, act });
    } catch (error) {
      const refusal = toRefusal(error, { authorization: request.authorization, platform: parts.platform, ...labels });
      labels.result = refusal.refusal.code;
      act.refused(refusal.refusal);
      throw refusal;
    } finally {
      parts.metrics.requests.inc(labels);
      act.end();
    }
  };
  return { checkHead, token };
}

/** Checks in the order of docs/contract/tokens.md, section 2.3. Nothing is hashed before the grant runs. */
async function answer(
  request: FormRequest,
  parts: TokenEndpointParts,
  { labels, act }: { readonly labels: { grant_type: string }; readonly act: Act },
): Promise<TokenResponse> {
  const form = parseForm(request.body);
  const client = parts.clients.authenticate(form, request, act);
  const { grant, type } = selectGrant(form, client, { grants: parts.grants, act });
  labels.grant_type = type;
  const scope = requestedScope(form);
  parts.data.check();
  return grant({ form, client, scope, http: request, act });
}

function selectGrant(
  form: Form,
  client: Client,
  { grants, act }: { readonly grants: ReadonlyMap<string, Grant>; readonly act: Act },
): { readonly grant: Grant; readonly type: string } {
  const type = parameter(form, 'grant_type');
  if (type === undefined) throw invalidRequest('the parameter grant_type is missing');
  const grant = grants.get(type);
  if (!grant) throw refused('unsupportedGrantType');
  act.is(ACTS[type] as ActName);
  if (!client.grantTypes.includes(type)) throw refused('unauthorizedClient');
  return { grant, type };
}

/** A refused refresh is a 401 for clients that sent a bearer token with the form: they sign in again only after a 401 (T-01). */
function toRefusal(
  error: unknown,
  context: { readonly authorization: string | undefined; readonly platform: string; readonly grant_type: string },
): OAuthError {
  const known = toOAuthError(error);
  const isRefusedRefresh = context.grant_type === 'refresh_token' && known.refusal.code === 'invalid_grant';
  const hasBearer = parseAuthorization(context.authorization)?.scheme === 'bearer';
  return isRefusedRefresh && hasBearer ? refreshTokenNotValidBesideBearer(context.platform) : known;
}
