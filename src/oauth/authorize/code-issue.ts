import type { Clock } from '../../runtime/clock.ts';
import { sessionIdWithin } from '../sessions/session-id.ts';
import type { SessionReads } from '../sessions/session-reads.ts';
import type { Act } from '../tokens/act.ts';
import { type AuthorizationCodes, CODE_SECONDS, digestOf } from './authorization-code.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { BrowserSession } from './browser-session.ts';

export interface CodeIssueParts {
  readonly codes: Pick<AuthorizationCodes, 'seal'>;
  readonly sessions: Pick<SessionReads, 'newId'>;
  readonly clock: Clock;
}

/** Makes a code for this request, and records it in the audit trail. The person of the session has agreed. */
export type IssueCode = (request: AuthorizationRequest, session: BrowserSession, act: Act) => string;

export const createCodeIssue =
  ({ codes, sessions, clock }: CodeIssueParts): IssueCode =>
  (request, { user, authTime, standing, ...browser }, act) => {
    const { clientId, redirectURI, isRedirectNamed, scope, nonce, codeChallenge } = request;
    const sid = sessionIdWithin(browser.sid, sessions.newId());
    // The clock of the replica that the password was entered at may be ahead of ours.
    const issuedAt = Math.max(Math.floor(clock.now() / 1000), authTime);
    act.is('code_issued');
    act.involves({ user, clientId, sid });
    const code = {
      ...{ clientId, isRedirectNamed, redirect: digestOf(redirectURI), user, sid, issuedAt, authTime, standing },
      ...(scope === undefined ? {} : { scope }),
      ...(nonce === undefined ? {} : { nonce }),
      ...(codeChallenge === undefined ? {} : { codeChallenge }),
    };
    return codes.seal(code, CODE_SECONDS);
  };
