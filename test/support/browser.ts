import { type Dispatcher, request } from 'undici';

/** What Chromium sends when a person opens an address. */
export const NAVIGATION = {
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Site': 'cross-site',
};
/** What it sends with the form of a page that has `Referrer-Policy: no-referrer`. */
export const OWN_FORM = { ...NAVIGATION, 'Sec-Fetch-Site': 'same-origin', Origin: 'null' };

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends a request with exactly these headers, as `fetch` does not: it has a `Sec-Fetch-Mode` of its own. */
export async function send(
  url: URL,
  options: Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> & { method?: 'POST' },
) {
  const { statusCode, headers, body } = await request(url, options);
  return { url, status: statusCode, headers: headers as Record<string, string>, text: await body.text() };
}

export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** A browser without scripts: it keeps cookies, and sends what was typed into the form of a page. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  async open(url: URL, headers: Record<string, string> = NAVIGATION): Promise<Page> {
    return this.#keep(await send(url, { headers: { ...headers, ...this.#sent() } }));
  }

  /** Posts the form of the page with these fields. */
  async submit(page: Page, fields: Record<string, string>, headers: Record<string, string> = OWN_FORM): Promise<Page> {
    const inputs = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
    const hidden = inputs.map(([, name = '', value = '']): [string, string] => [name, value]);
    const action = /<form method="post" action="([^"]*)">/.exec(page.text)?.[1] ?? '';
    const body = new URLSearchParams([...hidden, ...Object.entries(fields)]).toString();
    const all = { ...FORM, ...headers, ...this.#sent() };
    return this.#keep(await send(new URL(action, page.url), { method: 'POST', body, headers: all }));
  }

  /** The value of a cookie. */
  cookie(name: string): string | undefined {
    return this.#cookies.get(name);
  }

  forget(): void {
    this.#cookies.clear();
  }

  #sent(): Record<string, string> {
    const pairs = [...this.#cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? { Cookie: pairs.join('; ') } : {};
  }

  #keep(answer: Page): Page {
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}
