import type { FormRequest, TokenResponse } from '../authorization-server.ts';
import type { Client } from '../options.ts';
import type { Act } from '../tokens/act.ts';
import { type Form, parameter } from './form.ts';
import { refused } from './refusals.ts';

/** A token request that has passed the checks that all grants share. */
export interface GrantRequest {
  readonly form: Form;
  readonly client: Client;
  /** Only known scopes, separated by spaces; `undefined` if none was requested. */
  readonly scope: string | undefined;
  readonly http: FormRequest;
  /** Records the user and the result for the audit trail. */
  readonly act: Act;
}

/**
 * One way to obtain tokens (RFC 6749 1.3). Refusals are thrown as `OAuthError`.
 * @example
 * ```ts
 * const createTicketGrant = (users: Map<string, string>, issue: (user: string) => TokenResponse): Grant => {
 *   return async ({ form, act }) => {
 *     const user = users.get(parameter(form, 'ticket') ?? '');
 *     if (!user) throw new OAuthError({ ids: [], status: 400, code: 'invalid_grant', description: 'no such ticket' });
 *     act.involves({ user });
 *     return issue(user);
 *   };
 * };
 *
 * const tokens: TokenResponse = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 7_200 };
 * const grant = createTicketGrant(new Map([['t-1', 'ada']]), () => tokens);
 * assert.equal(await grant(grantRequest({ ticket: 't-1' })), tokens); // test/support/grant-request.ts
 * await assert.rejects(grant(grantRequest({ ticket: 't-2' })), OAuthError);
 * ```
 */
export type Grant = (request: GrantRequest) => Promise<TokenResponse>;

/**
 * The supported scopes, in the order of the metadata document. They choose the claims of ID tokens and userinfo, and grant no
 * rights: the cluster authorizes requests.
 */
export const SCOPES: readonly string[] = ['openid', 'profile', 'email', 'groups', 'offline_access'];

/** The requested scopes without duplicates; `undefined` if there are none. Unknown scopes are refused (N-18). */
export function requestedScope(form: Form): string | undefined {
  const words = new Set((parameter(form, 'scope') ?? '').split(' ').filter((word) => word !== ''));
  for (const word of words) if (!SCOPES.includes(word)) throw refused('unknownScope');
  return words.size === 0 ? undefined : [...words].join(' ');
}

/** The known words of a scope without duplicates; `undefined` if there are none. Others are ignored (OpenID Connect Core 3.1.2.1). */
export function knownScope(scope: string | undefined): string | undefined {
  const words = new Set((scope ?? '').split(' ').filter((word) => SCOPES.includes(word)));
  return words.size === 0 ? undefined : [...words].join(' ');
}

/**
 * Refuses a refresh that requests more scope than was granted (RFC 6749 6, N-22). A refresh may request less, but the new token
 * still has the scope of the session.
 */
export function checkNotWidened(asked: string | undefined, granted: string | undefined): void {
  const words = (granted ?? '').split(' ');
  if (asked?.split(' ').some((word) => !words.includes(word))) throw refused('widerScope');
}
