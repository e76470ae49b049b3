import type { Clock } from '../../runtime/clock.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { isDead } from '../sessions/session-rules.ts';
import type { Act } from '../tokens/act.ts';
import { ACCESS, REFRESH, type TokenClaims } from '../tokens/claims.ts';
import { createTokenCheck } from '../tokens/token-check.ts';
import { createFormEndpoint, type FormEndpoint, type FormEndpointParts } from './form-endpoint.ts';
import { notAvailable, tokenOfAnotherClient } from './refusals.ts';

/** The client that asks is that of the token, or is refused. */
const NAMES = { endpoint: 'revoke', begin: (act: Act) => act.is('revocation') } as const;

export interface RevocationParts extends FormEndpointParts {
  readonly ends: SessionEnds;
  readonly clock: Clock;
}

/**
 * RFC 7009. Either token ends the session that it belongs to, with all of its tokens. The generation of a refresh token does
 * not matter: a client may have lost the newest one, and whoever wants a session ended gets it ended. Nor does the state of
 * the user: who is disabled today may be enabled tomorrow.
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
    if (claims && claims.client_id !== client.name) throw tokenOfAnotherClient();
    // What is no good any more needs no end (RFC 7009 2.2), and no write.
    const isOver = !claims || isDead(parts.sessions.read(claims.sub), claims);
    if (isOver) return { result: 'nothing_to_end', answer: undefined };
    await parts.ends.session(claims.sub, claims.sid).catch((error: unknown) => {
      throw notAvailable(error);
    });
    return { result: 'ended', answer: undefined };
  });
}
