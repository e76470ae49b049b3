import type { SignInPage } from './browser-answer.ts';
import type { BrowserSessions, LiveBrowserSession } from './browser-session.ts';
import { PAGE_SECONDS, type PendingRequests, type PendingVisit } from './pending-request.ts';

/** What pages of ours need that only a signed-in person may see. */
export interface PageSignIn extends Pick<BrowserSessions, 'live'> {
  /** The sign-in page that leads to such a page. `signedIn` is the person who is signed in and wants another account, if any. */
  page(visit: PendingVisit, signedIn: LiveBrowserSession | undefined): SignInPage;
}

export const createPageSignIn = (
  requests: Pick<PendingRequests, 'seal'>,
  { live }: Pick<BrowserSessions, 'live'>,
): PageSignIn => ({
  live,
  page: (visit, signedIn) => ({
    ...{ kind: 'sign-in', locales: visit.locales, username: '' },
    request: requests.seal(visit, PAGE_SECONDS),
    ...(signedIn ? { signedIn: signedIn.user.name } : {}),
  }),
});
