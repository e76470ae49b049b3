import { AUTHORIZE_PATH } from '../../oauth/authorize/authorization-endpoint.ts';
import type { AuthorizationEndpoint, BrowserAnswer } from '../../oauth/authorize/browser-answer.ts';
import { checkFormHead } from '../../oauth/endpoints/form.ts';
import { refused } from '../../oauth/endpoints/refusals.ts';
import type { Random } from '../../runtime/random.ts';
import { type AnswerWriter, NO_BODY, wholeBody } from '../answer/answer.ts';
import type { BodyReader } from '../answer/read-body.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import { originOf } from '../request-origin.ts';
import { type BrowserCookie, createBrowserCookie } from './browser-cookie.ts';
import { isNavigation, isOwnForm } from './browser-demands.ts';
import { faultPage, type HtmlPage, returnPage, SIGN_IN_PATH, signInPage } from './pages.ts';
import { chooseLanguage, type Language } from './texts.ts';

export interface SignInRouteParts {
  readonly platform: string;
  readonly issuer: string;
  readonly endpoint: AuthorizationEndpoint;
  readonly limits: HttpLimits;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
  readonly random: Random;
}

const UNCACHED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** The authorization endpoint and the form of its page. A browser's `Accept` is not looked at: both answer with pages. */
export function signInRoutes(parts: SignInRouteParts): Route[] {
  const cookie = createBrowserCookie(parts, parts.random);
  const common = { access: 'public', admission: 'other', produces: 'any' } as const;
  const GET = authorizeHandler(parts, cookie);
  const POST = signInHandler(parts, cookie);
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
function repeatAsGet({ bodies, limits, writer }: SignInRouteParts): Handler {
  return async (exchange) => {
    if (!isNavigation(exchange.request)) throw refused('crossSiteForm');
    checkFormHead(exchange.request.headers['content-type'], exchange.target.query);
    const body = await bodies.read(exchange, limits.maxFormBytes);
    exchange.admit();
    const query = body.toString('latin1');
    const isSafe = /^[\w.~!$'()*+,;=:@/?%&-]*$/.test(query);
    if (!isSafe) throw refused('crossSiteForm');
    writer.send(exchange, 303, { Location: `${AUTHORIZE_PATH}?${query}`, ...UNCACHED }, NO_BODY);
  };
}

function signInHandler(parts: SignInRouteParts, cookie: BrowserCookie): Handler {
  const { bodies, limits, endpoint } = parts;
  return async (exchange) => {
    const { request } = exchange;
    if (!isOwnForm(request)) throw refused('crossSiteForm');
    checkFormHead(request.headers['content-type'], exchange.target.query);
    const body = await bodies.read(exchange, limits.maxFormBytes);
    exchange.admit();
    const { address, signal } = exchange;
    const userAgent = request.headers['user-agent'];
    const browser = cookie.read(request);
    const answer = await endpoint.signIn({ ...originOf(exchange), body, browser, address, userAgent, signal });
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
