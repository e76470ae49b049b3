import { Browser, type Page } from '../../support/browser.ts';
import { passwordOf, type Service, startCluster, startService } from '../service/stand.ts';

export const OF_PAGE = { 'X-Gatehouse-Page': '1' };
export const SAME_ORIGIN = { 'Sec-Fetch-Site': 'same-origin' };
export const CONFIG = { gateway: { enabled: true } };
export const COOKIE = 'gatehouse-session';
/** Another site. */
export const OTHER = 'https://evil.example.com';

export const urlOf = (service: Service, path: string): URL => new URL(path, service.gatehouse.origin);

/** The cookie of Ada's browser after she has signed in for the page. */
export async function signedIn(
  service: Service,
  to = '/',
): Promise<{ browser: Browser; cookie: string; answer: Page }> {
  const browser = new Browser();
  const page = await browser.open(urlOf(service, `/oauth/sign-in?to=${encodeURIComponent(to)}`));
  const answer = await browser.submit(page, { username: 'ada', password: passwordOf('ada') });
  return { browser, cookie: `${COOKIE}=${browser.cookie(COOKIE)}`, answer };
}

/** A running Gatehouse with Ada's session. */
export async function start() {
  const cluster = await startCluster();
  const service = await startService(cluster, { config: CONFIG });
  const { browser, cookie } = await signedIn(service);
  return {
    ...{ cluster, service, browser, cookie },
    ofPage: { Cookie: cookie, ...OF_PAGE, ...SAME_ORIGIN },
    own: service.gatehouse.origin,
  };
}
