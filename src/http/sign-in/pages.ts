import { createHash } from 'node:crypto';
import type {
  BrowserAnswer,
  ConsentPage,
  NewPasswordPage,
  NewPasswordProblem,
  SignInPage,
  SignOutPage,
} from '../../oauth/authorize/browser-answer.ts';
import { placeOf } from '../../oauth/authorize/consent.ts';
import { deviceCodePage, deviceDonePage, devicePage } from './device-pages.ts';
import { Html, html } from './html.ts';
import { type PageContent, scopeList, signedInAs } from './page-content.ts';
import { ICON, MARK, STYLE } from './style.ts';
import { type Language, toWait } from './texts.ts';

/** A page as it is sent. */
export interface HtmlPage {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The paths that the forms of the pages are posted to. They are fixed, so nothing of a request is in them. */
export const SIGN_IN_PATH = '/oauth/sign-in';
export const NEW_PASSWORD_PATH = '/oauth/new-password';
export const CONSENT_PATH = '/oauth/consent';
export const SIGN_OUT_PATH = '/oauth/sign-out';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * No script, no frame, no style but ours, and no image but the icon, which is in the page: without it Firefox would ask for
 * `/favicon.ico` and complain that the policy forbids that. Chromium checks `form-action` again at each redirect that follows a
 * form, so the address that the person goes on to has to be listed (B-23).
 */
const contentPolicy = (formTargets: readonly string[]): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    'img-src data:',
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The source expression of an address (CSP Level 3, 2.3.1). It cannot name an IPv6 host, nor a host of a private scheme. */
function sourceOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  const hasOrigin = protocol === 'https:' || protocol === 'http:';
  return hasOrigin && !hostname.startsWith('[') ? origin : protocol;
}

/** Where the form leads in the end, if not to a page of ours. */
const targetsOf = ({ redirectURI }: { readonly redirectURI?: string }): readonly string[] =>
  redirectURI === undefined ? [] : [sourceOf(redirectURI)];

/** The page of an answer. `product` is its heading. */
export function toHtmlPage(
  answer: Exclude<BrowserAnswer, { kind: 'redirect' }>,
  language: Language,
  product: string,
): HtmlPage {
  const { tag } = language;
  const { status = 200, headers = {}, formTargets = [], ...content } = contentOf(answer, language);
  const body = toDocument(content, { tag, product });
  return { status, body, headers: { 'Content-Security-Policy': contentPolicy(formTargets), ...headers } };
}

function contentOf(answer: Exclude<BrowserAnswer, { kind: 'redirect' }>, language: Language): PageContent {
  switch (answer.kind) {
    case 'sign-in':
      return signInPage(answer, language);
    case 'new-password':
      return newPasswordPage(answer, language);
    case 'consent':
      return consentPage(answer, language);
    case 'device-code':
      return deviceCodePage(answer, language);
    case 'device':
      return devicePage(answer, language);
    case 'device-done':
      return deviceDonePage(answer, language);
    case 'sign-out':
      return signOutPage(answer, language);
    case 'signed-out':
      return signedOutPage(language);
    case 'post':
      return returnPage(answer, language);
    case 'fault':
      return faultPage(answer, language);
    default:
      return answer satisfies never;
  }
}

/** The sign-in page; a refused attempt shows it again with the reason. */
function signInPage(page: SignInPage, { texts }: Language): PageContent {
  const { problem, retryAfterSeconds, signedIn } = page;
  const wait = retryAfterSeconds === undefined ? undefined : waitOf(retryAfterSeconds, texts);
  const told = problem && html`<p id="problem" role="alert">${texts.problems[problem]}${wait}</p>`;
  const described = problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined;
  const [first, second] = page.username === '' ? [html` autofocus`, undefined] : [undefined, html` autofocus`];
  const main = html`<h1>${texts.title}</h1>
${page.clientId === undefined ? undefined : html`<p>${texts.continueTo} <strong>${page.clientId}</strong></p>`}
${signedIn === undefined ? undefined : signedInAs(signedIn, texts)}
<form method="post" action="${SIGN_IN_PATH}">
${told}
<input type="hidden" name="request" value="${page.request}">
<label for="username">${texts.username}</label>
<input id="username" name="username" value="${page.username}" autocomplete="username" autocapitalize="none" spellcheck="false" required${described}${first}>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${described}${second}>
<button>${texts.submit}</button>
</form>`;
  return {
    ...{ title: texts.title, main, status: statusOf(page), formTargets: targetsOf(page) },
    headers: retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  };
}

/** Says how long to wait, in a line of its own. */
const waitOf = (seconds: number, texts: Language['texts']): Html => html`<br>${texts.retryAfter(toWait(seconds))}`;

function statusOf({ problem }: SignInPage): number {
  if (problem === undefined) return 200;
  return problem === 'throttled' || problem === 'busy' ? 429 : 400;
}

/** Asks for a password of the person's own (B-26). */
function newPasswordPage(page: NewPasswordPage, { texts }: Language): PageContent {
  const { problem } = page;
  const title = texts.newPasswordTitle;
  const told = problem && html`<div id="problem" role="alert">${problemOf(problem, texts)}</div>`;
  const described = html` aria-describedby="${problem ? 'problem ' : ''}rules"${problem ? html` aria-invalid="true"` : undefined}`;
  const main = html`<h1>${title}</h1>
${signedInAs(page.signedIn, texts)}
<p id="rules">${texts.passwordRules}</p>
<form method="post" action="${NEW_PASSWORD_PATH}">
${told}
<input type="hidden" name="request" value="${page.request}">
<input name="username" value="${page.signedIn}" autocomplete="username" hidden>
<label for="password">${texts.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required${described} autofocus>
<label for="repeated">${texts.repeatedPassword}</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required${described}>
<button>${texts.setPassword}</button>
</form>`;
  const busy = problem?.kind === 'busy' ? problem.retryAfterSeconds : undefined;
  return {
    ...{ title, main, formTargets: targetsOf(page) },
    status: problem === undefined ? 200 : busy === undefined ? 400 : 429,
    headers: busy === undefined ? {} : { 'Retry-After': String(busy) },
  };
}

function problemOf(problem: NewPasswordProblem, texts: Language['texts']): Html {
  switch (problem.kind) {
    case 'different':
      return html`<p>${texts.differentPasswords}</p>`;
    case 'busy':
      return html`<p>${texts.problems.busy}${waitOf(problem.retryAfterSeconds, texts)}</p>`;
    case 'refused':
      return html`${problem.broken.map((rule) => html`<p>${texts.brokenRules[rule]}</p>`)}`;
    default:
      return problem satisfies never;
  }
}

/** Asks whether a client may have what it requests (B-17). */
function consentPage(page: ConsentPage, { texts }: Language): PageContent {
  const title = texts.consentTitle;
  const main = html`<h1>${title}</h1>
<p><strong>${page.clientId}</strong> ${texts.wantsAccess}</p>
${scopeList(page.scopes, texts)}
<p>${texts.goesOnTo} <strong>${placeOf(page.redirectURI)}</strong></p>
${signedInAs(page.signedIn, texts)}
${page.otherAccount === undefined ? undefined : html`<p><a href="${page.otherAccount}">${texts.otherAccount}</a></p>`}
<form method="post" action="${CONSENT_PATH}">
<input type="hidden" name="request" value="${page.request}">
<button name="decision" value="allow">${texts.allow}</button>
<button name="decision" value="deny" class="second">${texts.refuse}</button>
</form>`;
  return { title, main, formTargets: targetsOf(page) };
}

/** Asks whether the person wants to sign out, because any site can send a browser here (B-51). */
function signOutPage(page: SignOutPage, { texts }: Language): PageContent {
  const title = texts.signOutTitle;
  const main = html`<h1>${title}</h1>
${signedInAs(page.signedIn, texts)}
<form method="post" action="${SIGN_OUT_PATH}">
<input type="hidden" name="request" value="${page.request}">
<label class="choice"><input type="checkbox" name="all" value="true"> ${texts.everywhere}</label>
<button autofocus>${texts.signOut}</button>
</form>`;
  return { title, main, formTargets: targetsOf(page) };
}

function signedOutPage({ texts }: Language): PageContent {
  const title = texts.signedOutTitle;
  return {
    title,
    main: html`<h1>${title}</h1>
<p role="status">${texts.signedOutText}</p>`,
  };
}

/** Why the person cannot go on. */
function faultPage({ fault, again }: Extract<BrowserAnswer, { kind: 'fault' }>, { texts }: Language): PageContent {
  const link = again === undefined ? undefined : html`<p class="action"><a href="${again}">${texts.again}</a></p>`;
  const main = html`<h1>${texts.faultTitle}</h1>
<p role="alert">${texts.faults[fault]}</p>
${link}`;
  return { title: texts.faultTitle, main, status: 400 };
}

/** The result as a form for the client, which the person posts, because the page has no script. */
function returnPage({ action, fields }: Extract<BrowserAnswer, { kind: 'post' }>, { texts }: Language): PageContent {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">
`,
  );
  const title = 'error' in fields ? texts.failedTitle : texts.returnTitle;
  const main = html`<h1>${title}</h1>
<p>${texts.returnText}</p>
<form method="post" action="${action}">
${inputs}<button autofocus>${texts.goOn}</button>
</form>`;
  return { title, main, formTargets: [sourceOf(action)] };
}

function toDocument(
  { title, main }: Pick<PageContent, 'title' | 'main'>,
  { tag, product }: { readonly tag: string; readonly product: string },
): string {
  const { text } = html`<html lang="${tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<title>${title} – ${product}</title>
`;
  const body = html`</head>
<body>
<main>
<p class="product">${new Html(MARK)}${product}</p>
${main}
</main>
</body>
</html>
`.text;
  return `<!doctype html>\n${text}<style>${STYLE}</style>\n${body}`;
}
