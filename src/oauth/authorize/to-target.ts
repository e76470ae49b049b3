import { withParameters } from '../endpoints/with-parameters.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

export const AUTHORIZE_PATH = '/oauth/authorize';

interface Wanted {
  readonly request: AuthorizationRequest;
  readonly locales: readonly string[];
  readonly asksConsent: boolean;
  readonly asksPassword?: 'login' | 'select_account';
  readonly loginHint?: string;
}

/** The request as a target of ours, so that it can begin again and ask for the same. */
export const toTarget = ({ request, locales, asksConsent, asksPassword, loginHint }: Wanted): string =>
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
    prompt: [asksPassword, asksConsent ? 'consent' : undefined].filter(Boolean).join(' ') || undefined,
    login_hint: loginHint,
  });

/** The same for another account. */
export const toOtherAccount = ({ request, locales }: Pick<Wanted, 'request' | 'locales'>): string =>
  toTarget({ request, locales, asksConsent: false, asksPassword: 'select_account' });
