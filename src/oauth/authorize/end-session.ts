import type { SecurityEvents } from '../../security-events.ts';
import { type Form, parameter, parseForm, parseQuery } from '../endpoints/form.ts';
import { notAvailable } from '../endpoints/refusals.ts';
import { withParameters } from '../endpoints/with-parameters.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { browserSessionOf } from '../sessions/session-id.ts';
import type { TokenData } from '../token-data.ts';
import type { Act } from '../tokens/act.ts';
import { digestOf } from './authorization-code.ts';
import { asAct } from './browser-act.ts';
import type { BrowserAnswer, BrowserEndpoints, SignOutPage } from './browser-answer.ts';
import type { BrowserSession, BrowserSessions } from './browser-session.ts';
import type { IdTokenHint, IdTokenHints } from './id-token-hint.ts';
import { pageClient } from './page-callers.ts';
import type { PageSessions } from './page-sessions.ts';
import { PAGE_SECONDS } from './pending-request.ts';
import type { SealedValues } from './sealed-values.ts';
import { readLocales } from './ui-locales.ts';

/** The end session endpoint, and the path at which programs sign out. */
export const LOGOUT_PATH = '/oauth/logout';

/** A sign-out on its way through the page that asks for it. */
export interface PendingSignOut extends Destination {
  /** The session that the page asks about. */
  readonly sid: string;
  /** `digestOf` the value of the browser's cookie. */
  readonly browser: string;
}

/** Where the person goes afterwards, in which language. */
interface Destination {
  /** Registered for the client, with the client's state; absent: our own page. */
  readonly target?: string;
  readonly locales: readonly string[];
}

export interface EndSessionParts {
  readonly pendingSignOuts: SealedValues<PendingSignOut>;
  readonly browserSessions: Pick<BrowserSessions, 'known' | 'hasEnded'>;
  readonly hints: IdTokenHints;
  readonly ends: Pick<SessionEnds, 'session' | 'user'>;
  /** The data that an end needs; users are no part of it. */
  readonly data: Pick<TokenData, 'check'>;
  readonly events: SecurityEvents;
}

/**
 * The end session endpoint (OpenID Connect RP-Initiated Logout 1.0). A visit ends a session only if its ID token proves that the
 * person's own client sent it; any other site can send the browser here as well, so then a page asks first (B-50, B-51).
 */
export function createEndSession(
  options: OAuthOptions,
  parts: EndSessionParts,
): Pick<BrowserEndpoints, 'endSession' | 'signOut'> {
  const endSession: BrowserEndpoints['endSession'] = (visit) =>
    asAct(parts.events, visit, async (act) => {
      const parameters = parseQuery(visit.query);
      if (!parameters) return { kind: 'fault', fault: 'malformed' };
      const hint = parts.hints(parameter(parameters, 'id_token_hint'));
      const destination = destinationOf(parameters, hint, options);
      const session = parts.browserSessions.known(visit.session);
      if (!session) return goTo(destination);
      if (!hint || !isOf(hint, session)) return askFirst(session, visit.browser, destination, parts);
      act.involves({ clientId: hint.clientId });
      return end(session, { destination, everywhere: false, act }, parts);
    });
  const signOut: BrowserEndpoints['signOut'] = (form) =>
    asAct(parts.events, form, async (act) => {
      const fields = parseForm(form.body);
      const pending = parts.pendingSignOuts.open(parameter(fields, 'request') ?? '');
      if (!pending) return { kind: 'fault', fault: 'expired' };
      const session = parts.browserSessions.known(form.session);
      if (!session || form.browser === undefined || digestOf(form.browser) !== pending.browser)
        return { kind: 'fault', fault: 'lost_cookie', again: LOGOUT_PATH };
      if (session.sid !== pending.sid) return { kind: 'fault', fault: 'expired' };
      const everywhere = parameter(fields, 'all') === 'true';
      // A copy of the cookie may be in other hands, and the end of all sessions may have been the answer to that.
      if (everywhere && parts.browserSessions.hasEnded(session)) return { kind: 'fault', fault: 'expired' };
      return end(session, { destination: pending, everywhere, act }, parts);
    });
  return { endSession, signOut };
}

/** An address that is not registered for the client is left out, so that nobody can send people elsewhere through us (B-52). */
function destinationOf(
  parameters: Form,
  hint: IdTokenHint | undefined,
  { clients }: Pick<OAuthOptions, 'clients'>,
): Destination {
  const named = parameter(parameters, 'client_id');
  const isClear = !hint || named === undefined || named === hint.clientId;
  const client = isClear ? clients.find(({ name }) => name === (hint?.clientId ?? named)) : undefined;
  const address = parameter(parameters, 'post_logout_redirect_uri');
  const isRegistered = address !== undefined && client?.postLogoutRedirectURIs.includes(address);
  const state = parameter(parameters, 'state');
  return {
    ...(isRegistered ? { target: state === undefined ? address : withParameters(address, { state }) } : {}),
    locales: readLocales(parameter(parameters, 'ui_locales')),
  };
}

const isOf = ({ sid }: IdTokenHint, session: BrowserSession): boolean =>
  [session.sid, ...session.earlier].includes(browserSessionOf(sid));

function askFirst(
  { sid, user }: BrowserSession,
  browser: string,
  { target, locales }: Destination,
  { pendingSignOuts }: Pick<EndSessionParts, 'pendingSignOuts'>,
): SignOutPage {
  const to = target === undefined ? {} : { target };
  const request = pendingSignOuts.seal({ sid, locales, browser: digestOf(browser), ...to }, PAGE_SECONDS);
  return {
    ...{ kind: 'sign-out', signedIn: user, request, locales },
    ...(target === undefined ? {} : { redirectURI: target }),
  };
}

async function end(
  session: BrowserSession,
  { destination, ...how }: Ending & { readonly destination: Destination },
  parts: Pick<EndSessionParts, 'ends' | 'data'>,
): Promise<BrowserAnswer> {
  await endSessions(session, how, parts);
  return { ...goTo(destination), session: '' };
}

interface Ending {
  /** Whether all sessions of the user end. */
  readonly everywhere: boolean;
  readonly act: Act;
}

async function endSessions(
  { user, sid, earlier, authTime }: BrowserSession,
  { everywhere, act }: Ending,
  { ends, data }: Pick<EndSessionParts, 'ends' | 'data'>,
): Promise<void> {
  act.is('sign_out');
  act.involves({ user, sid });
  act.says({ scope: everywhere ? 'user' : 'session' });
  data.check();
  const all = everywhere ? [ends.user(user, authTime)] : [sid, ...earlier].map((one) => ends.session(user, one));
  await Promise.all(all).catch((error: unknown) => {
    throw error instanceof OAuthError ? error : notAvailable(error);
  });
}

/** The sign-out that the page asks for itself (W-05). The person must still be signed in, as for every call of the page. */
export function createPageSignOut(
  { platform }: Pick<OAuthOptions, 'platform'>,
  { browserSessions, events, ...parts }: Omit<EndSessionParts, 'pendingSignOuts' | 'hints'>,
): PageSessions['signOut'] {
  return ({ session: cookie, everywhere, ...origin }) =>
    asAct(events, origin, async (act) => {
      const session = browserSessions.known(cookie);
      if (!session || browserSessions.hasEnded(session)) return;
      act.involves({ clientId: pageClient(platform) });
      await endSessions(session, { everywhere, act }, parts);
    });
}

const goTo = ({ target, locales }: Destination): BrowserAnswer =>
  target === undefined ? { kind: 'signed-out', locales } : { kind: 'redirect', location: target };
