import { type Dispatcher, request } from 'undici';
import type { Pair } from '../../integration/service/stand.ts';

export const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

// biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
type Body = any;

type Headers = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly body: Body;
}

/** Somebody who calls a Gatehouse at this address, with a connection of its own for each request. */
export class Caller {
  readonly url: string;
  readonly #dispatcher: Dispatcher | undefined;

  /** `dispatcher` trusts the certificate, where there is one. */
  constructor(url: string, dispatcher?: Dispatcher) {
    this.url = url;
    this.#dispatcher = dispatcher;
  }

  async signIn(password: string, username = 'admin', headers: Headers = {}): Promise<Pair> {
    const { status, body } = await this.token({ grant_type: 'password', username, password }, headers);
    if (status !== 200) throw new Error(`sign-in was answered ${status}: ${JSON.stringify(body)}`);
    return body as Pair;
  }

  refresh(token: string): Promise<Answer> {
    return this.token({ grant_type: 'refresh_token', refresh_token: token });
  }

  token(form: Readonly<Record<string, string>>, headers: Headers = {}): Promise<Answer> {
    const { headers: own, ...options } = tokenForm(form);
    return this.#send('/oauth/token', { ...options, headers: { ...own, ...headers } });
  }

  /** Sends these bytes. */
  post(path: string, body: Buffer, headers: Headers): Promise<Answer> {
    return this.#send(path, { method: 'POST', body, headers });
  }

  list(token: string, query = ''): Promise<Answer> {
    return this.get(`${NODES}${query}`, token);
  }

  get(path: string, token?: string): Promise<Answer> {
    return this.#send(path, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  }

  /** A request that may change something; the body is sent as JSON. */
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, token: string, body?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return this.#send(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  async #send(path: string, options: object): Promise<Answer> {
    const tls = this.#dispatcher && { dispatcher: this.#dispatcher };
    const answer = await request(this.url + path, { ...options, ...tls, reset: true });
    const text = await answer.body.text();
    const isJson = answer.headers['content-type']?.includes('json');
    return { status: answer.statusCode, body: isJson ? JSON.parse(text) : text };
  }
}

/** A token request of the default client. */
export const tokenForm = (form: Readonly<Record<string, string>>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ client_id: 'gatehouse', client_secret: 'gatehouse', ...form }).toString(),
});
