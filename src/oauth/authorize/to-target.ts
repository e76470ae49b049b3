import { withParameters } from '../endpoints/with-parameters.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

export const AUTHORIZE_PATH = '/oauth/authorize';

interface Wanted {
  readonly request: AuthorizationRequest;
  readonly locales: readonly string[];
  readonly asksConsent: boolean;
}

/** The request as a target of ours, so that it can begin again. */
export const toTarget = (
  { request, locales, asksConsent }: Wanted,
  prompt = asksConsent ? 'consent' : undefined,
): string =>
  withParameters(AUTHORIZE_PATH, {
    client_id: request.clientId,
    response_type: 'code',
    redirect_uri: request.isRedirectNamed ? request.redirectURI : undefined,
    response_mode: request.responseMode,
    scope: request.scope,
    state: request.state,
    nonce: request.nonce,
    code_challenge: request.codeChallenge,
    code_challenge_method: request.codeChallenge === undefined ? undefined : 'S256',
    ui_locales: locales.length > 0 ? locales.join(' ') : undefined,
    prompt,
  });
