import { withParameters } from '../endpoints/with-parameters.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

export const AUTHORIZE_PATH = '/oauth/authorize';

interface Wanted {
  readonly request: AuthorizationRequest;
  readonly locales: readonly string[];
  readonly asksConsent: boolean;
  readonly asksPassword: boolean;
  readonly maxAgeSeconds?: number;
  readonly loginHint?: string;
}

/** A path that begins the request again. The person is still asked for the password and the consent that the client wants. */
export const toTarget = (
  { request, locales, loginHint, maxAgeSeconds, ...asked }: Wanted,
  prompt: readonly string[] = promptOf(asked),
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
    prompt: prompt.length > 0 ? prompt.join(' ') : undefined,
    max_age: maxAgeSeconds?.toString(),
    login_hint: loginHint,
  });

/** The request for another account than the one that is signed in. */
export const toOtherAccount = ({ loginHint: _, ...wanted }: Wanted): string =>
  toTarget(wanted, ['select_account', ...promptOf({ ...wanted, asksPassword: false })]);

const promptOf = ({ asksPassword, asksConsent }: Pick<Wanted, 'asksPassword' | 'asksConsent'>): readonly string[] => [
  ...(asksPassword ? ['login'] : []),
  ...(asksConsent ? ['consent'] : []),
];
