import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser opens this page as the target of a navigation, and not for a script or an image (Fetch Metadata, W3C). Programs
 * that are no browsers do not send `Sec-Fetch-Dest`.
 */
export function isNavigation({ headers }: IncomingMessage): boolean {
  const { 'sec-fetch-dest': target, 'sec-fetch-mode': mode } = headers;
  return target === undefined || (mode === 'navigate' && isOneOf(target, ['document', 'iframe', 'frame']));
}

/**
 * Whether a person's browser comes to a path that programs use as well. On plain http browsers send no `Sec-Fetch-Mode`, but all of
 * them accept HTML. A program that sends a bearer is no browser.
 */
export function isForBrowser({ headers }: IncomingMessage): boolean {
  if (headers.authorization !== undefined) return false;
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate';
}

/**
 * Whether a form was posted by a page of ours. With `Referrer-Policy: no-referrer` browsers send `Origin: null` with the form of
 * a page (Fetch Standard 3.2), and on plain http they send no `Sec-Fetch-Site`. So each header that is there has to agree, and
 * the cookie of the page has to match in any case.
 */
export function isOwnForm(request: IncomingMessage): boolean {
  const { origin, host } = request.headers;
  const isOwnOrigin = origin === undefined || origin === 'null' || origin.replace(/^https?:\/\//, '') === host;
  return isNavigation(request) && isOneOf(request.headers['sec-fetch-site'], ['same-origin']) && isOwnOrigin;
}

const isOneOf = (value: string | string[] | undefined, allowed: readonly string[]): boolean =>
  value === undefined || (typeof value === 'string' && allowed.includes(value));
