import { parseForm } from '../../src/oauth/endpoints/form.ts';
import type { GrantRequest } from '../../src/oauth/endpoints/grant.ts';
import { Act } from '../../src/oauth/tokens/act.ts';

/** A token request as a grant gets it from the token endpoint, of the client `console`. Its audit event is dropped. */
export function grantRequest(parameters: Readonly<Record<string, string>>): GrantRequest {
  const body = Buffer.from(new URLSearchParams(parameters).toString());
  const origin = { source: '192.0.2.1', requestId: 'request-1' };
  return {
    form: parseForm(body),
    client: { name: 'console', public: true, grantTypes: [], redirectURIs: [], postLogoutRedirectURIs: [] },
    scope: undefined,
    http: { ...origin, authorization: undefined, body, signal: new AbortController().signal },
    act: new Act({ report: () => {} }, origin, 'token'),
  };
}
