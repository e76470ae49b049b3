import { createHash, randomBytes } from 'node:crypto';
import { request } from 'undici';
import type { Person, Replica } from './replica.ts';

const CALLBACK = 'http://127.0.0.1:9/callback';

/** A confidential client for browsers. `Replica.token` authenticates as it, so that codes and refresh tokens belong to it. */
export const BROWSER_CLIENT = {
  name: 'gatehouse',
  secret: 'gatehouse',
  grantTypes: ['authorization_code', 'password', 'refresh_token'],
  redirectURIs: [CALLBACK],
};

/** What a browser sends when a person opens an address, and with the form of a page that sends no referrer. */
const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Site': 'cross-site' };
const OWN_FORM = { ...NAVIGATION, 'Sec-Fetch-Site': 'same-origin', Origin: 'null' };

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** A code, and what its redemption needs besides. */
export interface IssuedCode {
  readonly grant_type: 'authorization_code';
  readonly code: string;
  readonly redirect_uri: string;
  readonly code_verifier: string;
}

/**
 * One sign-in by a browser without scripts: it keeps the cookie of the page, and posts its form. Each step may go to another replica, as
 * behind a balancer. `fetch` cannot do it: it has a `Sec-Fetch-Mode` of its own.
 */
export class SignInBrowser {
  readonly #verifier = randomBytes(32).toString('base64url');
  #cookie = '';
  #sealed = '';

  /** Opens the sign-in page, and answers its status. */
  async open({ url }: Replica): Promise<number> {
    const query = new URLSearchParams({
      ...{ client_id: BROWSER_CLIENT.name, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid groups' },
      ...{ state: 's', code_challenge: digestOf(this.#verifier), code_challenge_method: 'S256' },
    });
    const headers = { ...NAVIGATION, ...(this.#cookie === '' ? {} : { Cookie: this.#cookie }) };
    const answer = await request(`${url}/oauth/authorize?${query}`, { headers });
    const page = await answer.body.text();
    this.#cookie = [answer.headers['set-cookie'] ?? []].flat()[0]?.split(';')[0] ?? this.#cookie;
    this.#sealed = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? '';
    return answer.statusCode;
  }

  /** Posts the form of the page, and answers the code with which the browser is sent back. */
  async submit({ url }: Replica, { name: username, password }: Person): Promise<IssuedCode> {
    const form = new URLSearchParams({ request: this.#sealed, username, password });
    const headers = { ...OWN_FORM, Cookie: this.#cookie, 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await request(`${url}/oauth/sign-in`, { method: 'POST', headers, body: form.toString() });
    const text = await answer.body.text();
    const location = `${answer.headers['location'] ?? ''}`;
    const code = location.startsWith(CALLBACK) ? new URL(location).searchParams.get('code') : null;
    if (code === null) throw new Error(`the form of ${username} was answered ${answer.statusCode} ${location} ${text}`);
    const redemption = { code, redirect_uri: CALLBACK, code_verifier: this.#verifier };
    return { grant_type: 'authorization_code', ...redemption };
  }
}

/** A code by the page and the form of these replicas. */
export async function newCode(page: Replica, form: Replica, person: Person): Promise<IssuedCode> {
  const browser = new SignInBrowser();
  await browser.open(page);
  return browser.submit(form, person);
}
