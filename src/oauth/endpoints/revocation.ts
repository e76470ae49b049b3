import type { Clock } from '../../runtime/clock.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { isDead } from '../sessions/session-rules.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { Act } from '../tokens/act.ts';
import { ACCESS, REFRESH, type TokenClaims } from '../tokens/claims.ts';
import { createTokenCheck } from '../tokens/token-verifier.ts';
import { createFormEndpoint, type FormEndpoint, type FormEndpointParts } from './form-endpoint.ts';
import { notAvailable, refused } from './refusals.ts';

/** The audit trail needs only one client, because a client may revoke only its own tokens. */
const NAMES = { endpoint: 'revoke', begin: (act: Act) => act.is('revocation') } as const;

export interface RevocationParts extends FormEndpointParts {
  readonly keys: Pick<SigningKeys, 'verificationKey'>;
  readonly sessions: Pick<SessionStore, 'read'>;
  readonly ends: Pick<SessionEnds, 'session'>;
  readonly clock: Clock;
}

/**
 * Revocation (RFC 7009). Both an access token and a refresh token end their session, with all of its tokens. The generation of a
 * refresh token does not matter: a client may have lost the newest one, and the session must end all the same. The state of the user
 * does not matter either: a user who is disabled today may be enabled tomorrow.
 */
export function createRevocation(options: OAuthOptions, parts: RevocationParts): FormEndpoint<void> {
  const checks = [ACCESS, REFRESH].map((type) => createTokenCheck(type, options, parts));
  const claimsOf = (text: string): TokenClaims | undefined => {
    for (const check of checks) {
      const checked = check(text);
      if ('claims' in checked) return checked.claims;
    }
    return undefined;
  };
  return createFormEndpoint(NAMES, parts, async ({ token, client, act }) => {
    const claims = claimsOf(token);
    if (claims) act.involves({ user: claims.sub, sid: claims.sid });
    if (claims && claims.client_id !== client.name) throw refused('tokenOfAnotherClient');
    // A token that is not valid has no session to end (RFC 7009 2.2), so nothing is written.
    const isOver = !claims || isDead(parts.sessions.read(claims.sub), claims);
    if (isOver) return { result: 'nothing_to_end', answer: undefined };
    await parts.ends.session(claims.sub, claims.sid).catch((error: unknown) => {
      throw notAvailable(error);
    });
    return { result: 'ended', answer: undefined };
  });
}
