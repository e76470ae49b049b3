import type { OAuthOptions } from '../options.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { BrowserAnswer, ConsentPage } from './browser-answer.ts';
import type { BrowserSession, BrowserSessions } from './browser-session.ts';
import type { ClientAnswers } from './client-answers.ts';
import type { IssueCode, SignedIn } from './code-issue.ts';
import { consentTo } from './consent.ts';
import {
  PAGE_SECONDS,
  type PendingRequest,
  type PendingRequests,
  type PendingSignIn,
  type PendingVisit,
} from './pending-request.ts';
import { toOtherAccount } from './to-target.ts';

/** What comes after the sign-in: a question, the way back to the client, or a page of ours. */
export interface Onward {
  /** Whether a person who is signed in already has to agree before the client gets a code (B-17). */
  mustAsk(pending: PendingRequest, session: BrowserSession): boolean;
  /** What comes for a person who is signed in already. */
  goOn(pending: PendingSignIn, session: BrowserSession, how: SignedIn): BrowserAnswer;
  /** What comes after the password. */
  afterPassword(pending: PendingSignIn, session: BrowserSession, how: SignedIn): BrowserAnswer;
  /** Sends the browser back with a code. */
  toClient(pending: PendingRequest, session: BrowserSession, how: SignedIn): BrowserAnswer;
}

export interface OnwardParts {
  readonly requests: Pick<PendingRequests, 'seal'>;
  readonly browserSessions: Pick<BrowserSessions, 'seal'>;
  readonly answers: ClientAnswers;
  readonly issue: IssueCode;
}

export function createOnward(
  { clients }: Pick<OAuthOptions, 'clients'>,
  { requests, browserSessions, answers, issue }: OnwardParts,
): Onward {
  const asking = new Set(clients.filter(({ grantMethod }) => grantMethod === 'prompt').map(({ name }) => name));
  const publicClients = new Set(clients.filter((client) => client.public).map(({ name }) => name));
  const wantsConsent: Onward['mustAsk'] = ({ request, asksConsent }, { consents }) =>
    asksConsent || (asking.has(request.clientId) && !consents.includes(consentTo(request)));
  // Any program on the person's machine can listen on a loopback port or register a private scheme, and prove by a PKCE of its own that
  // it began. So a person who need not type a password has to agree each time (RFC 8252 8.6, RFC 6749 10.2).
  const mayBeAnyProgram = ({ clientId, redirectURI }: AuthorizationRequest): boolean =>
    publicClients.has(clientId) && !redirectURI.startsWith('https:');
  const mustAsk: Onward['mustAsk'] = (pending, session) =>
    mayBeAnyProgram(pending.request) || wantsConsent(pending, session);
  const toClient: Onward['toClient'] = ({ request }, session, how) => ({
    ...answers.code(request, issue(request, session, how)),
    session: browserSessions.seal(session),
  });
  const consentPage = (pending: PendingRequest, session: BrowserSession, { by }: SignedIn): ConsentPage => ({
    ...{ kind: 'consent', clientId: pending.request.clientId, redirectURI: pending.request.redirectURI },
    ...{ signedIn: session.user, scopes: pending.request.scope?.split(' ') ?? [], locales: pending.locales },
    request: requests.seal({ ...pending, by, sid: session.sid }, PAGE_SECONDS),
    ...(pending.expectedUser === undefined ? { otherAccount: toOtherAccount(pending) } : {}),
  });
  const toVisit = ({ visit }: PendingVisit, session: BrowserSession): BrowserAnswer => ({
    ...{ kind: 'redirect', location: visit },
    session: browserSessions.seal(session),
  });
  const unless =
    (asks: Onward['mustAsk']): Onward['goOn'] =>
    (pending, session, how) => {
      if ('visit' in pending) return toVisit(pending, session);
      return asks(pending, session)
        ? { ...consentPage(pending, session, how), session: browserSessions.seal(session) }
        : toClient(pending, session, how);
    };
  return { mustAsk, goOn: unless(mustAsk), afterPassword: unless(wantsConsent), toClient };
}
