import { AUTHORIZE_PATH } from '../../oauth/authorize/authorization-endpoint.ts';
import type { AuthorizationEndpoint, BrowserAnswer } from '../../oauth/authorize/browser-answer.ts';
import { checkFormHead } from '../../oauth/endpoints/form.ts';
import { invalidRequest, refused } from '../../oauth/endpoints/refusals.ts';
import type { Random } from '../../runtime/random.ts';
import { type AnswerWriter, NO_BODY, UNCACHED, wholeBody } from '../answer/answer.ts';
import type { BodyReader } from '../answer/read-body.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { type RefusalThrottle, throttleRefusals } from '../limits/refusal-throttle.ts';
import { originOf } from '../request-origin.ts';
import { type BrowserCookie, createBrowserCookie } from './browser-cookie.ts';
import { isNavigation, isOwnForm } from './browser-demands.ts';
import { faultPage, type HtmlPage, returnPage, SIGN_IN_PATH, signInPage } from './pages.ts';
import { chooseLanguage, type Language } from './texts.ts';

export interface SignInRouteParts {
  readonly platform: string;
  readonly issuer: string;
  readonly endpoint: AuthorizationEndpoint;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
  readonly random: Random;
  readonly throttle: RefusalThrottle;
}

/** A sealed request has 16 KiB at most; the rest is for a name and a password. Not a setting: a smaller one would shut people out. */
const FORM_BYTES = 24 * 1024;

/** The browser sends it again in the address, for which the guard allows 16 KiB with all headers. */
const REPEATED_BYTES = 8 * 1024;
/** What a form-encoded text consists of, and nothing else: it becomes a header. */
const AS_QUERY = /^[\w.~!$'()*+,;=:@/?%&-]*$/;

/** The authorization endpoint and the form of its page. A browser's `Accept` is not looked at: both answer with pages. */
export function signInRoutes(parts: SignInRouteParts): Route[] {
  const cookie = createBrowserCookie(parts, parts.random);
  const common = { access: 'public', admission: 'other', produces: 'any', crossOrigin: 'never' } as const;
  const GET = authorizeHandler(parts, cookie);
  const POST = throttleRefusals(parts.throttle, signInHandler(parts, cookie));
  return [
    { ...common, template: AUTHORIZE_PATH, readsForm: true, methods: { GET, HEAD: GET, POST: repeatAsGet(parts) } },
    { ...common, template: SIGN_IN_PATH, readsForm: true, admission: 'sign-in', methods: { POST } },
  ];
}

function authorizeHandler(parts: SignInRouteParts, cookie: BrowserCookie): Handler {
  return async (exchange) => {
    if (!isNavigation(exchange.request)) throw refused('crossSiteForm');
    const sent = cookie.read(exchange.request);
    const browser = sent ?? cookie.create();
    const answer = await parts.endpoint.authorize(exchange.target.query, browser);
    const isNew = sent === undefined && answer.kind === 'sign-in';
    send(parts, exchange, answer, isNew ? { 'Set-Cookie': cookie.header(browser) } : {});
  };
}

/**
 * OpenID Connect Core 3.1.2.1 allows a POST. Another site's form brings no cookie of ours (`SameSite=Lax`), so the browser comes
 * again by GET (B-16).
 */
function repeatAsGet({ bodies, writer }: SignInRouteParts): Handler {
  return async (exchange) => {
    if (!isNavigation(exchange.request)) throw refused('crossSiteForm');
    checkFormHead(exchange.request.headers['content-type'], exchange.target.query);
    const body = await bodies.read(exchange, REPEATED_BYTES);
    exchange.admit();
    const query = body.toString('latin1');
    if (!AS_QUERY.test(query)) throw invalidRequest('a parameter is not form-encoded UTF-8');
    writer.send(exchange, 303, { Location: `${AUTHORIZE_PATH}?${query}`, ...UNCACHED }, NO_BODY);
  };
}

function signInHandler(parts: SignInRouteParts, cookie: BrowserCookie): Handler {
  const { bodies, endpoint, throttle } = parts;
  return async (exchange) => {
    const { request } = exchange;
    if (!isOwnForm(request)) throw refused('crossSiteForm');
    checkFormHead(request.headers['content-type'], exchange.target.query);
    const body = await bodies.read(exchange, FORM_BYTES);
    exchange.admit();
    const { address, signal } = exchange;
    const userAgent = request.headers['user-agent'];
    const browser = cookie.read(request);
    const answer = await endpoint.signIn({ ...originOf(exchange), body, browser, address, userAgent, signal });
    const isThrottled = answer.kind === 'sign-in' && answer.retryAfterSeconds !== undefined;
    if (isThrottled) await throttle.turn(exchange);
    send(parts, exchange, answer, {});
  };
}

function send(
  { platform, writer }: SignInRouteParts,
  exchange: Exchange,
  answer: BrowserAnswer,
  headers: Readonly<Record<string, string>>,
): void {
  if (answer.kind === 'redirect') {
    writer.send(exchange, 303, { Location: answer.location, ...UNCACHED, ...headers }, NO_BODY);
    return;
  }
  const locales = answer.kind === 'sign-in' ? answer.locales : [];
  const language = chooseLanguage(locales, exchange.request.headers['accept-language']);
  const page = toPage(answer, language, platform);
  const body = Buffer.from(page.body);
  const all = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Language': language.tag, ...page.headers };
  writer.send(exchange, page.status, { ...all, ...UNCACHED, ...headers }, wholeBody(body));
}

function toPage(answer: Exclude<BrowserAnswer, { kind: 'redirect' }>, language: Language, product: string): HtmlPage {
  switch (answer.kind) {
    case 'sign-in':
      return signInPage(answer, language, product);
    case 'post':
      return returnPage(answer, language, product);
    case 'fault':
      return faultPage(answer, language, product);
    default:
      return answer satisfies never;
  }
}
