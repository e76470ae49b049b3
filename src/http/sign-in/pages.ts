import { createHash } from 'node:crypto';
import type { BrowserAnswer, SignInPage } from '../../oauth/authorize/browser-answer.ts';
import { Html, html } from './html.ts';
import { ICON, MARK, STYLE } from './style.ts';
import { type Language, toWait } from './texts.ts';

/** A page, and what else its form may lead to. */
export interface HtmlPage {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The path that the form of the page is posted to. It is fixed, so nothing of a request is in it. */
export const SIGN_IN_PATH = '/oauth/sign-in';

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

/** The sign-in page; a refused attempt shows it again with the reason. */
export function signInPage(page: SignInPage, { texts, tag }: Language, product: string): HtmlPage {
  const { problem, retryAfterSeconds } = page;
  const wait = retryAfterSeconds === undefined ? undefined : html`<br>${texts.retryAfter(toWait(retryAfterSeconds))}`;
  const told = problem && html`<p id="problem" role="alert">${texts.problems[problem]}${wait}</p>`;
  const described = problem ? html` aria-describedby="problem" aria-invalid="true"` : undefined;
  const [first, second] = page.username === '' ? [html` autofocus`, undefined] : [undefined, html` autofocus`];
  const main = html`<h1>${texts.title}</h1>
<p>${texts.continueTo} <strong>${page.clientId}</strong></p>
<form method="post" action="${SIGN_IN_PATH}">
${told}
<input type="hidden" name="request" value="${page.request}">
<label for="username">${texts.username}</label>
<input id="username" name="username" value="${page.username}" autocomplete="username" autocapitalize="none" spellcheck="false" required${described}${first}>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${described}${second}>
<button>${texts.submit}</button>
</form>`;
  return toPage(
    statusOf(page),
    { title: texts.title, main, tag, product },
    {
      'Content-Security-Policy': contentPolicy([sourceOf(page.redirectURI)]),
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    },
  );
}

function statusOf({ problem }: SignInPage): number {
  if (problem === undefined) return 200;
  return problem === 'throttled' || problem === 'busy' ? 429 : 400;
}

/** Why nobody can sign in here. */
export function faultPage(
  { fault, again }: Extract<BrowserAnswer, { kind: 'fault' }>,
  { texts, tag }: Language,
  product: string,
): HtmlPage {
  const link = again === undefined ? undefined : html`<p class="action"><a href="${again}">${texts.again}</a></p>`;
  const main = html`<h1>${texts.faultTitle}</h1>
<p role="alert">${texts.faults[fault]}</p>
${link}`;
  return toPage(400, { title: texts.faultTitle, main, tag, product }, { 'Content-Security-Policy': contentPolicy([]) });
}

/** The result as a form for the client, which the person posts, because the page has no script. */
export function returnPage(
  { action, fields }: Extract<BrowserAnswer, { kind: 'post' }>,
  { texts, tag }: Language,
  product: string,
): HtmlPage {
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
  return toPage(
    200,
    { title, main, tag, product },
    {
      'Content-Security-Policy': contentPolicy([sourceOf(action)]),
    },
  );
}

function toPage(
  status: number,
  {
    title,
    main,
    tag,
    product,
  }: { readonly title: string; readonly main: Html; readonly tag: string; readonly product: string },
  headers: HtmlPage['headers'],
): HtmlPage {
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
  return { status, headers, body: `<!doctype html>\n${text}<style>${STYLE}</style>\n${body}` };
}
