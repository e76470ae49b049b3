import { request } from 'undici';

/** What Chromium sends when a person opens an address. */
const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Site': 'none' };
const OWN_FORM = { ...NAVIGATION, 'Sec-Fetch-Site': 'same-origin', Origin: 'null' };

interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Opens an address in a browser without scripts, as a person does who types nothing into it. */
export async function open(url: URL, headers: Record<string, string> = NAVIGATION, body?: string): Promise<Page> {
  const answer = await request(url, { method: body === undefined ? 'GET' : 'POST', headers, body: body ?? null });
  return { url, status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

/** Signs in on the page at this address. Resolves to the page to which the browser comes back at last. */
export async function signInOnPage(address: string, person: { username: string; password: string }): Promise<Page> {
  const page = await open(new URL(address));
  const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  const body = new URLSearchParams([
    ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
    ...Object.entries(person),
  ]);
  const action = /<form method="post" action="([^"]*)">/.exec(page.text)?.[1] ?? '';
  const cookie = [page.headers['set-cookie'] ?? []].flat()[0]?.split(';')[0] ?? '';
  const headers = { ...OWN_FORM, 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookie };
  const answer = await open(new URL(action, page.url), headers, body.toString());
  const location = [answer.headers['location'] ?? []].flat()[0];
  if (location === undefined) throw new Error(`the page does not lead back: ${answer.status} ${answer.text}`);
  return open(new URL(location));
}
