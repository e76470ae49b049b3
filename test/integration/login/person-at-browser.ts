import { Browser, NAVIGATION, type Page, send } from '../../support/browser.ts';

/** Opens an address in a browser that knows nothing yet. */
export const open = (url: URL): Promise<Page> => send(url, { headers: NAVIGATION });

interface Person {
  readonly username: string;
  readonly password: string;
}

/**
 * Signs in on the page at this address, and allows what the next page asks for. Resolves to the page to which the browser comes back at
 * last. A browser that has signed in before asks for no password.
 */
export async function signInOnPage(address: string, person: Person, browser = new Browser()): Promise<Page> {
  let page = await browser.open(new URL(address));
  if (page.text.includes('name="password"')) page = await browser.submit(page, { ...person });
  if (page.headers['location'] === undefined) page = await browser.submit(page, { decision: 'allow' });
  const { location } = page.headers;
  if (location === undefined) throw new Error(`the page does not lead back: ${page.status} ${page.text}`);
  return browser.open(new URL(location));
}

/** Signs in on the page for devices, and allows the one whose code is in the address. */
export async function allowDevice(address: string, person: Person): Promise<Page> {
  const browser = new Browser();
  let page = await browser.submit(await browser.open(new URL(address)), { ...person });
  const { location } = page.headers;
  if (location !== undefined) page = await browser.open(new URL(location, page.url));
  return browser.submit(page, { decision: 'allow' });
}
