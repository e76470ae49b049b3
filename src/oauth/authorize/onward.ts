import type { OAuthOptions } from '../options.ts';
import type { Act } from '../tokens/act.ts';
import type { BrowserAnswer, ConsentPage } from './browser-answer.ts';
import type { BrowserSession, BrowserSessions } from './browser-session.ts';
import type { ClientAnswers } from './client-answers.ts';
import type { IssueCode } from './code-issue.ts';
import { consentTo } from './consent.ts';
import {
  PAGE_SECONDS,
  type PendingRequest,
  type PendingRequests,
  type PendingSignIn,
  type PendingVisit,
} from './pending-request.ts';
import { toTarget } from './to-target.ts';

/** What comes after the sign-in: a question, the way back to the client, or a page of ours. */
export interface Onward {
  /** Whether the person has to agree before the client gets a code (B-17). */
  mustAsk(pending: PendingRequest, session: BrowserSession): boolean;
  goOn(pending: PendingSignIn, session: BrowserSession, act: Act): Promise<BrowserAnswer>;
  /** Sends the browser back with a code. */
  toClient(pending: PendingRequest, session: BrowserSession, act: Act): Promise<BrowserAnswer>;
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
  const mustAsk: Onward['mustAsk'] = ({ request, asksConsent }, { consents }) =>
    asksConsent || (asking.has(request.clientId) && !consents.includes(consentTo(request)));
  const toClient: Onward['toClient'] = async ({ request }, session, act) => ({
    ...answers.code(request, await issue(request, session, act)),
    session: await browserSessions.seal(session),
  });
  const consentPage = async (pending: PendingRequest, session: BrowserSession): Promise<ConsentPage> => ({
    ...{ kind: 'consent', clientId: pending.request.clientId, redirectURI: pending.request.redirectURI },
    ...{ signedIn: session.user, scopes: pending.request.scope?.split(' ') ?? [], locales: pending.locales },
    request: await requests.seal({ ...pending, sid: session.sid }, PAGE_SECONDS),
    otherAccount: toTarget(pending, 'select_account'),
  });
  const toVisit = async ({ visit }: PendingVisit, session: BrowserSession): Promise<BrowserAnswer> => ({
    ...{ kind: 'redirect', location: visit },
    session: await browserSessions.seal(session),
  });
  const goOn: Onward['goOn'] = async (pending, session, act) => {
    if ('visit' in pending) return toVisit(pending, session);
    return mustAsk(pending, session)
      ? { ...(await consentPage(pending, session)), session: await browserSessions.seal(session) }
      : toClient(pending, session, act);
  };
  return { mustAsk, goOn, toClient };
}
