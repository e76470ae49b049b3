import type { Counter } from 'prom-client';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { User } from '../../users/user.ts';
import type { TokenData } from '../token-data.ts';
import type { Identity } from '../tokens/identity.ts';
import { identityOf, type UserStandings } from '../tokens/user-standing.ts';
import type { BrowserSessions } from './browser-session.ts';

/** The client of calls that come from a page of ours, as logs name it. No client of the configuration has a colon in its name. */
export const pageClient = (platform: string): string => `${platform}${PAGE}`;

/** Whether a caller came with the session of our own page. No client that is configured has such a name. */
export const isPageClient = (client: string | undefined): boolean => client?.endsWith(PAGE) === true;

const PAGE = ':page';

/** Who calls when a page of ours calls. */
export interface PageCallers {
  /**
   * The person of the session in this cookie; `undefined` if it no longer counts. Throws a 503 while keys, session records or users are
   * missing or too old, as the verification of a token does.
   */
  of(cookie: string): Identity | undefined;
}

interface PageCallersParts {
  readonly browserSessions: Pick<BrowserSessions, 'live'>;
  readonly standing: UserStandings;
  readonly data: Pick<TokenData, 'check'>;
  readonly verifications: Counter<'result'>;
}

/** How many sessions have their identity kept, so that other code can cache by it: about 300 bytes each. */
const MOST_KEPT = 4_096;

export function createPageCallers(
  { platform }: { readonly platform: string },
  { browserSessions, standing, data, verifications }: PageCallersParts,
): PageCallers {
  const kept = new BoundedMap<{ readonly user: User; readonly identity: Identity }>(MOST_KEPT);
  const clientId = pageClient(platform);
  return {
    of(cookie) {
      data.check();
      const live = browserSessions.live(cookie);
      verifications.inc({ result: live ? 'page' : 'page_ended' });
      if (!live) return undefined;
      const { user, session } = live;
      const before = kept.get(session.sid);
      if (before?.user === user) return before.identity;
      const identity = identityOf(user, standing(user), { clientId, sid: session.sid });
      kept.set(session.sid, { user, identity });
      return identity;
    },
  };
}
