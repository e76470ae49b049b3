import { withParameters } from '../endpoints/with-parameters.ts';
import type { OAuthOptions } from '../options.ts';
import type { AuthorizationError, Return } from './authorization-request.ts';
import type { BrowserAnswer } from './browser-answer.ts';

/** Sends the browser back to the client, with the state and the issuer (RFC 9207, B-15). */
export interface ClientAnswers {
  code(to: Return, code: string): BrowserAnswer;
  error(to: Return, error: AuthorizationError): BrowserAnswer;
}

export function createClientAnswers({ issuer }: Pick<OAuthOptions, 'issuer'>): ClientAnswers {
  const send = (
    { redirectURI, responseMode, state }: Return,
    parameters: Readonly<Record<string, string>>,
  ): BrowserAnswer => {
    const fields = { ...parameters, ...(state === undefined ? {} : { state }), iss: issuer };
    return responseMode === 'form_post'
      ? { kind: 'post', action: redirectURI, fields }
      : { kind: 'redirect', location: withParameters(redirectURI, fields) };
  };
  return {
    code: (to, code) => send(to, { code }),
    error: (to, { code, description }) => send(to, { error: code, error_description: description }),
  };
}
