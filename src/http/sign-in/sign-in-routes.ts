import type {
  BrowserAnswer,
  BrowserCookies,
  BrowserEndpoints,
  BrowserForm,
  DevicePages,
} from '../../oauth/authorize/browser-answer.ts';
import { LOGOUT_PATH } from '../../oauth/authorize/end-session.ts';
import { AUTHORIZE_PATH } from '../../oauth/authorize/to-target.ts';
import { DEVICE_PATH } from '../../oauth/device/device-page.ts';
import { checkFormHead } from '../../oauth/endpoints/form.ts';
import { invalidRequest, refused } from '../../oauth/endpoints/refusals.ts';
import type { Random } from '../../runtime/random.ts';
import { type AnswerHeaders, type AnswerWriter, CLEARED, NO_BODY, UNCACHED, wholeBody } from '../answer/answer.ts';
import type { BodyReader } from '../answer/read-body.ts';
import type { Exchange, Handler, Methods, Route } from '../exchange.ts';
import { type RefusalThrottle, throttleRefusals } from '../limits/refusal-throttle.ts';
import { originOf } from '../request-origin.ts';
import { type BrowserCookieJar, createBrowserCookies } from './browser-cookie.ts';
import { isNavigation, isOwnForm } from './browser-demands.ts';
import { DEVICE_DECISION_PATH } from './device-pages.ts';
import { CONSENT_PATH, NEW_PASSWORD_PATH, SIGN_IN_PATH, SIGN_OUT_PATH, toHtmlPage } from './pages.ts';
import { chooseLanguage } from './texts.ts';

export interface SignInRouteParts {
  readonly platform: string;
  readonly issuer: string;
  readonly endpoints: BrowserEndpoints;
  /** Absent if no client has the device grant. */
  readonly devices: DevicePages | undefined;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
  readonly random: Random;
  readonly throttle: RefusalThrottle;
}

/** What browsers reach: routes of their own, and the sign-out, whose path has another use as well. */
export interface SignInRoutes {
  readonly routes: readonly Route[];
  /** Answers a browser at `LOGOUT_PATH`. */
  readonly endSession: Handler;
}

/**
 * A sealed request has 16 KiB at most; the rest is for a name and a password. This is no setting: with a smaller limit nobody could
 * sign in.
 */
const FORM_BYTES = 24 * 1024;

/** The longest form that the browser sends again in an address: the guard allows 16 KiB for the address and all headers. */
const REPEATED_BYTES = 8 * 1024;
/** What a form-encoded text consists of, and nothing else: it becomes a header. */
const AS_QUERY = /^[\w.~!$'()*+,;=:@/?%&-]*$/;

/** A browser's `Accept` is not looked at: all of these answer with pages. */
export function createSignInRoutes(parts: SignInRouteParts): SignInRoutes {
  const { endpoints, devices, throttle } = parts;
  const cookies = createBrowserCookies(parts, parts.random);
  const page = { access: 'public', admission: 'other', produces: 'any', crossOrigin: 'never' } as const;
  const common = { ...page, readsForm: true } as const;
  const visit = visitHandler(parts, cookies);
  const form = (answer: (form: BrowserForm) => Promise<BrowserAnswer>): Handler =>
    throttleRefusals(throttle, formHandler(answer, parts, cookies));
  const waiting = (answer: (form: BrowserForm) => Promise<BrowserAnswer>): Handler =>
    throttleRefusals(throttle, formHandler(answer, parts, cookies, { leavesSeat: true }));
  const deviceRoutes = (pages: DevicePages): Route[] => {
    const GET = visit(pages.visit);
    return [
      { ...common, template: DEVICE_PATH, methods: { GET, HEAD: GET, POST: waiting(pages.code) } },
      { ...common, template: DEVICE_DECISION_PATH, methods: { POST: form(pages.decide) } },
    ];
  };
  const GET = visit(endpoints.authorize);
  const visits = endpoints.visit ? getAndHead(visit(endpoints.visit)) : {};
  const endSession = visit(endpoints.endSession);
  const endSessionByForm = repeatAsGet(LOGOUT_PATH, parts);
  return {
    routes: [
      { ...common, template: AUTHORIZE_PATH, methods: { GET, HEAD: GET, POST: repeatAsGet(AUTHORIZE_PATH, parts) } },
      { ...common, template: SIGN_IN_PATH, admission: 'sign-in', methods: { ...visits, POST: form(endpoints.signIn) } },
      { ...common, template: NEW_PASSWORD_PATH, admission: 'sign-in', methods: { POST: form(endpoints.newPassword) } },
      { ...common, template: CONSENT_PATH, methods: { POST: form(endpoints.consent) } },
      { ...common, template: SIGN_OUT_PATH, methods: { POST: form(endpoints.signOut) } },
      ...(devices ? deviceRoutes(devices) : []),
    ],
    endSession: (exchange) => (exchange.request.method === 'POST' ? endSessionByForm : endSession)(exchange),
  };
}

const getAndHead = (GET: Handler): Methods => ({ GET, HEAD: GET });

const readCookies = ({ request }: Exchange, cookies: BrowserCookieJar): BrowserCookies => ({
  browser: cookies.browser.read(request),
  session: cookies.session.read(request),
});

type Visit = Parameters<BrowserEndpoints['authorize']>[0];

/** A browser that opens an address of ours. It gets its cookie with the first page that has a form. */
const visitHandler =
  (parts: SignInRouteParts, cookies: BrowserCookieJar) =>
  (answerTo: (visit: Visit) => Promise<BrowserAnswer>): Handler =>
  async (exchange) => {
    if (!isNavigation(exchange.request)) throw refused('crossSiteForm');
    const { browser: sent, session } = readCookies(exchange, cookies);
    const browser = sent ?? cookies.browser.create();
    const { signal, target } = exchange;
    const answer = await answerTo({ ...originOf(exchange), query: target.query, browser, session, signal });
    const isNew = sent === undefined && 'request' in answer;
    send(parts, exchange, answer, [
      ...(isNew ? [cookies.browser.header(browser)] : []),
      ...(answer.session === undefined ? [] : [cookies.session.header(answer.session)]),
    ]);
  };

/**
 * OpenID Connect Core 3.1.2.1 and RP-Initiated Logout 2 allow a POST. Another site's form brings no cookie of ours
 * (`SameSite=Lax`), so the browser comes again by GET (B-16).
 */
function repeatAsGet(path: string, { bodies, writer }: SignInRouteParts): Handler {
  return async (exchange) => {
    if (!isNavigation(exchange.request)) throw refused('crossSiteForm');
    checkFormHead(exchange.request.headers['content-type'], exchange.target.query);
    const body = await bodies.read(exchange, REPEATED_BYTES);
    exchange.admit();
    const query = body.toString('latin1');
    if (!AS_QUERY.test(query)) throw invalidRequest('a parameter is not form-encoded UTF-8');
    writer.send(exchange, 303, { Location: `${path}?${query}`, ...UNCACHED }, NO_BODY);
  };
}

function formHandler(
  answerTo: (form: BrowserForm) => Promise<BrowserAnswer>,
  parts: SignInRouteParts,
  cookies: BrowserCookieJar,
  { leavesSeat = false } = {},
): Handler {
  const { bodies, throttle } = parts;
  return async (exchange) => {
    const { request } = exchange;
    if (!isOwnForm(request)) throw refused('crossSiteForm');
    checkFormHead(request.headers['content-type'], exchange.target.query);
    const body = await bodies.read(exchange, FORM_BYTES);
    exchange.admit();
    if (leavesSeat) exchange.leaveSeat();
    const { address, signal } = exchange;
    const userAgent = request.headers['user-agent'];
    const sent = readCookies(exchange, cookies);
    const answer = await answerTo({ ...originOf(exchange), ...sent, body, address, userAgent, signal });
    const isThrottled = 'retryAfterSeconds' in answer && answer.retryAfterSeconds !== undefined;
    if (isThrottled) await throttle.turn(exchange);
    send(parts, exchange, answer, answer.session === undefined ? [] : [cookies.session.header(answer.session)]);
  };
}

function send(
  { platform, endpoints, writer }: SignInRouteParts,
  exchange: Exchange,
  answer: BrowserAnswer,
  setCookies: readonly string[],
): void {
  const leavesPage = endpoints.visit !== undefined && answer.session === '';
  const headers: AnswerHeaders = {
    ...UNCACHED,
    ...(setCookies.length > 0 ? { 'Set-Cookie': setCookies } : {}),
    ...(leavesPage ? CLEARED : {}),
  };
  if (answer.kind === 'redirect') {
    writer.send(exchange, 303, { Location: answer.location, ...headers }, NO_BODY);
    return;
  }
  const locales = 'locales' in answer ? answer.locales : [];
  const language = chooseLanguage(locales, exchange.request.headers['accept-language']);
  const page = toHtmlPage(answer, language, platform);
  const all = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Language': language.tag, ...page.headers };
  writer.send(exchange, page.status, { ...all, ...headers }, wholeBody(Buffer.from(page.body)));
}
