import assert from 'node:assert/strict';
import type { TokenResponse } from '../../../src/oauth/authorization-server.ts';
import { parameter } from '../../../src/oauth/endpoints/form.ts';
import type { Grant } from '../../../src/oauth/endpoints/grant.ts';
import { OAuthError } from '../../../src/oauth/oauth-error.ts';
import { grantRequest } from '../../support/grant-request.ts';

const createTicketGrant = (users: Map<string, string>, issue: (user: string) => TokenResponse): Grant => {
  return async ({ form, act }) => {
    const user = users.get(parameter(form, 'ticket') ?? '');
    if (!user) throw new OAuthError({ ids: [], status: 400, code: 'invalid_grant', description: 'no such ticket' });
    act.involves({ user });
    return issue(user);
  };
};

const tokens: TokenResponse = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 7_200 };
const grant = createTicketGrant(new Map([['t-1', 'ada']]), () => tokens);
assert.equal(await grant(grantRequest({ ticket: 't-1' })), tokens); // test/support/grant-request.ts
await assert.rejects(grant(grantRequest({ ticket: 't-2' })), OAuthError);
