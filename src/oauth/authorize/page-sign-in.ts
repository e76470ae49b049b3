import type { SignInPage } from './browser-answer.ts';
import type { BrowserSessions, LiveBrowserSession } from './browser-session.ts';
import { PAGE_SECONDS, type PendingRequests, type PendingVisit } from './pending-request.ts';

/** For pages of ours that need a signed-in person. */
export interface PageSignIn extends Pick<BrowserSessions, 'live'> {
  /** The sign-in page that leads to a page of ours. `signedIn` wants to be somebody else there. */
  page(visit: PendingVisit, signedIn: LiveBrowserSession | undefined): Promise<SignInPage>;
}

export const createPageSignIn = (
  requests: Pick<PendingRequests, 'seal'>,
  { live }: Pick<BrowserSessions, 'live'>,
): PageSignIn => ({
  live,
  page: async (visit, signedIn) => ({
    ...{ kind: 'sign-in', locales: visit.locales, username: '' },
    request: await requests.seal(visit, PAGE_SECONDS),
    ...(signedIn ? { signedIn: signedIn.user.name } : {}),
  }),
});
