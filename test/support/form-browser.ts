import { Agent, type buildConnector, request } from 'undici';
import { atEnd } from './at-end.ts';

/** A page that a browser shows. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface BrowserOptions {
  /** The certificate to trust, in PEM. */
  readonly ca?: string;
  /** Redirects that the browser does not follow: the address of a client where nobody listens. */
  readonly stopsAt?: (url: URL) => boolean;
  /** How it connects, if not to the address that the name has. */
  readonly connect?: buildConnector.BuildOptions;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly isSecure: boolean;
}

/** More redirects than any sign-in has. */
const MOST_REDIRECTS = 20;

/**
 * A browser without scripts, which sends what Chromium does: it keeps cookies, follows redirects and posts forms. As in a browser, the
 * ports of a host share their cookies. It does not know `SameSite`: all servers of a test are on one site.
 */
export class FormBrowser {
  readonly #agent: Agent;
  readonly #stopsAt: (url: URL) => boolean;
  #cookies: readonly Cookie[] = [];

  constructor({ ca, stopsAt = () => false, connect = ca === undefined ? {} : { ca } }: BrowserOptions = {}) {
    this.#agent = new Agent({ connect });
    this.#stopsAt = stopsAt;
    atEnd(() => this.#agent.destroy());
  }

  /** Loses the cookies of this name. */
  forget(lost: string): void {
    this.#cookies = this.#cookies.filter(({ name }) => name !== lost);
  }

  /** Opens an address as a person types it, or follows a link of `from`. Answers the page at the end of all redirects. */
  open(url: URL | string, from?: Pick<Page, 'url'>): Promise<Page> {
    return this.#follow({ method: 'GET', url: new URL(url, from?.url), from });
  }

  /** Posts the form of the page, with its hidden fields and these. */
  submit(page: Page, fields: Readonly<Record<string, string>>): Promise<Page> {
    const { action, hidden } = formOf(page);
    const body = new URLSearchParams({ ...hidden, ...fields }).toString();
    return this.#follow({ method: 'POST', url: new URL(action, page.url), from: page, body });
  }

  async #follow(first: Step): Promise<Page> {
    let step = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const page = await this.#send(step);
      const location = page.headers['location'];
      if (typeof location !== 'string') return page;
      const url = new URL(location, page.url);
      if (this.#stopsAt(url)) return { ...page, url };
      step = { method: 'GET', url, from: step.from };
    }
    throw new Error(`the browser was redirected ${MOST_REDIRECTS} times, at last to ${step.url}`);
  }

  async #send({ method, url, from, body }: Step): Promise<Page> {
    const headers = { ...navigation(url, from), ...this.#cookiesFor(url) };
    const form = { ...headers, Origin: 'null', 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await request(url, {
      dispatcher: this.#agent,
      method,
      ...(body === undefined ? { headers } : { headers: form, body }),
    });
    const page = { url, status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) this.#keep(line, url);
    return page;
  }

  #cookiesFor({ hostname, pathname, protocol }: URL): { Cookie?: string } {
    const sent = this.#cookies.filter(
      ({ host, path, isSecure }) =>
        host === hostname && pathname.startsWith(path) && (!isSecure || protocol === 'https:'),
    );
    return sent.length === 0 ? {} : { Cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; ') };
  }

  #keep(line: string, url: URL): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const given = new Map(attributes.map((text) => [text.split('=')[0]?.toLowerCase(), text.split('=')[1] ?? '']));
    const path = given.get('path') || '/';
    const cookie = {
      ...{ name, value: pair.slice(name.length + 1), host: url.hostname, path },
      isSecure: given.has('secure'),
    };
    this.#cookies = this.#cookies.filter(
      (one) => !(one.name === name && one.host === cookie.host && one.path === path),
    );
    if (!hasEnded(given)) this.#cookies = [...this.#cookies, cookie];
  }
}

interface Step {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  /** The page that led here. */
  readonly from: Pick<Page, 'url'> | undefined;
  readonly body?: string;
}

/** The Fetch Metadata of a navigation. */
const navigation = (url: URL, from: Step['from']) => ({
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language': 'en',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-User': '?1',
  'Sec-Fetch-Site': from === undefined ? 'none' : from.url.origin === url.origin ? 'same-origin' : 'same-site',
});

function hasEnded(attributes: ReadonlyMap<string | undefined, string>): boolean {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  const expires = attributes.get('expires');
  return expires !== undefined && Date.parse(expires) <= Date.now();
}

/** The form of the page that is posted, and the values that it has already. */
function formOf({ text, url }: Page): { readonly action: string; readonly hidden: Readonly<Record<string, string>> } {
  const form = /<form\b[^>]*\bmethod="post"[^>]*>.*?<\/form>/is.exec(text)?.[0];
  if (form === undefined) throw new Error(`${url} has no form: ${text}`);
  const inputs = [...form.matchAll(/<input\b[^>]*\btype="hidden"[^>]*>/gi)].map(([tag]) => [
    attributeOf(tag, 'name'),
    attributeOf(tag, 'value'),
  ]);
  return { action: attributeOf(form, 'action'), hidden: Object.fromEntries(inputs) };
}

const attributeOf = (tag: string, name: string): string =>
  (new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(tag)?.[1] ?? '').replaceAll(/&(#\d+|amp|quot|lt|gt);/g, (_, entity) =>
    characterOf(entity),
  );

const NAMED: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>' };

const characterOf = (entity: string): string => NAMED[entity] ?? String.fromCodePoint(Number(entity.slice(1)));
