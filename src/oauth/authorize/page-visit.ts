import type { SecurityEvents } from '../../security-events.ts';
import { parameter, parseQuery } from '../endpoints/form.ts';
import type { TokenData } from '../token-data.ts';
import { digestOf } from './authorization-code.ts';
import { asAct } from './browser-act.ts';
import type { BrowserEndpoints } from './browser-answer.ts';
import type { BrowserSessions } from './browser-session.ts';
import type { PageSignIn } from './page-sign-in.ts';
import { readLocales } from './ui-locales.ts';

interface PageVisitParts {
  readonly signIn: PageSignIn;
  readonly browserSessions: Pick<BrowserSessions, 'seal'>;
  readonly data: Pick<TokenData, 'check'>;
  readonly events: SecurityEvents;
}

/** The sign-in for the page of this server: it begins a session of the browser, or uses the one that is there, and needs no client. */
export const createPageVisit =
  ({ signIn, browserSessions, data, events }: PageVisitParts): NonNullable<BrowserEndpoints['visit']> =>
  (visit) =>
    asAct(events, visit, async () => {
      data.check();
      const query = parseQuery(visit.query);
      if (!query) return { kind: 'fault', fault: 'malformed' };
      const to = toOwnPath(parameter(query, 'to'));
      const live = signIn.live(visit.session);
      if (live) return { kind: 'redirect', location: to, session: browserSessions.seal(live.session) };
      const locales = readLocales(parameter(query, 'ui_locales'));
      return signIn.page({ visit: to, browser: digestOf(visit.browser), locales }, undefined);
    });

/** The state of a table in the address of the page; the sealed request that carries it has 16 KiB. */
const LONGEST_PATH = 2_048;

/** A path with query and fragment. It is never that of another host, as `//host` is and, in browsers, `/\host`. */
const PATH = /^(\/(?!\/)[\w.~!$&'()*+,;=:@%/-]*)(?:[?#][\w.~!$&'()*+,;=:@%/?#-]*)?$/;
/** A segment that browsers follow up, or leave out, before they ask for a path (https://url.spec.whatwg.org/#double-dot-path-segment). */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
/** The root of the authorization server, however it is encoded. */
const OAUTH = /^\/(?:o|%6f)(?:a|%61)(?:u|%75)(?:t|%74)(?:h|%68)(?:\/|$)/i;

/** Where a sign-in leads. Anything that is no path of the page, as those of the authorization server, becomes its first page. */
export function toOwnPath(text = ''): string {
  const [, path] = (text.length <= LONGEST_PATH && PATH.exec(text)) || [];
  return path === undefined || DOTS.test(path) || OAUTH.test(path) ? '/' : text;
}
