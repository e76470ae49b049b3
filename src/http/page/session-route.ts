import type { PageSessions } from '../../oauth/authorize/page-sessions.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import type { Random } from '../../runtime/random.ts';
import { StatusError, serviceUnavailable } from '../../status-error.ts';
import { type AnswerHeaders, type AnswerWriter, CLEARED, NO_BODY, UNCACHED, wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import { unauthorized } from '../answer/refusals.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { originOf } from '../request-origin.ts';
import { createBrowserCookies } from '../sign-in/browser-cookie.ts';
import { PAGE_HEADERS } from './page-headers.ts';
import { createPageRequestTest } from './page-request.ts';

interface SessionRouteParts {
  readonly platform: string;
  readonly issuer: string;
  readonly sessions: Pick<PageSessions, 'renew' | 'signOut'>;
  readonly random: Random;
  readonly writer: AnswerWriter;
}

const HEADERS: AnswerHeaders = { ...PAGE_HEADERS, ...UNCACHED };

/**
 * The session of the page that asks: a POST tells whose it is and makes it last, a DELETE ends it. The chain has judged the request by then,
 * as it judges all requests of the page (W-01, W-02); a caller with a bearer has no such session.
 */
export function sessionRoute({ platform, issuer, sessions, random, writer }: SessionRouteParts): Route {
  const isOfPage = createPageRequestTest(platform, { issuer });
  const cookies = createBrowserCookies({ platform, issuer }, random);
  const challenge = `Bearer realm="${platform}"`;
  const cookieOf = ({ request }: Exchange): string => {
    const cookie = isOfPage(request) ? cookies.session.read(request) : undefined;
    if (cookie === undefined) throw unauthorized('this is no request of the page in a browser', challenge);
    return cookie;
  };
  const renew: Handler = (exchange) => {
    const renewed = sessions.renew(cookieOf(exchange));
    if (!renewed) throw unauthorized('the session of this browser has ended', challenge);
    const { name, groups } = exchange.signedIn.identity;
    const { startedAt, endsAt, idleEndsAt } = renewed;
    const times = { sessionStarted: toText(startedAt), endsAt: toText(endsAt), idleEndsAt: toText(idleEndsAt) };
    const headers = { 'Content-Type': 'application/json', 'Set-Cookie': cookies.session.header(renewed.cookie) };
    writer.send(exchange, 200, { ...HEADERS, ...headers }, wholeBody(toJsonBytes({ user: name, groups, ...times })));
  };
  const signOut: Handler = async (exchange) => {
    const session = cookieOf(exchange);
    const everywhere = readAll(exchange.target.query);
    await sessions.signOut({ ...originOf(exchange), session, everywhere }).catch(asStatus);
    const removed = [cookies.session.header(''), cookies.browser.header('')];
    writer.send(exchange, 204, { ...HEADERS, ...CLEARED, 'Set-Cookie': removed }, NO_BODY);
  };
  return {
    ...{ template: '/ui/session', access: 'signed-in', admission: 'other', produces: 'json', crossOrigin: 'never' },
    methods: { POST: renew, DELETE: signOut },
  };
}

/** Whether `all` asks for the end of every session, as at `/oauth/logout` (T-36). */
function readAll(query: string): boolean {
  const all = new URLSearchParams(query).get('all') ?? 'false';
  if (all !== 'true' && all !== 'false')
    throw new StatusError('BadRequest', { message: 'the parameter all is not a boolean' });
  return all === 'true';
}

const toText = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace('.000', '');

/** The page gets the words of the cluster's API, as from every path outside /oauth. */
function asStatus(error: unknown): never {
  if (!(error instanceof OAuthError) || error.refusal.status !== 503) throw error;
  throw serviceUnavailable(error.refusal.description, 1, error);
}
