import type { ServerProcess } from '../support/control-plane/server-process.ts';
import { isReady, startProgram } from './program.ts';

const CLIENT = { client_id: 'gatehouse', client_secret: 'gatehouse' };
const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

export interface Person {
  readonly name: string;
  readonly password: string;
}

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The body as JSON; `undefined` for any other. */
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
}

interface Call {
  readonly token?: string;
  readonly form?: Readonly<Record<string, string>>;
  /** Default: POST with a form or an object, else GET. */
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly json?: object;
}

export interface ReplicaParts {
  readonly config: string;
  readonly log: string;
  readonly url: string;
  readonly metricsUrl: string;
  /** How far its wall clock is ahead of the machine's. */
  readonly aheadMs?: number;
  /** Called with every token that was answered. */
  onToken(token: string): void;
}

/** One Gatehouse process: how it ends, and how clients see it. */
export class Replica {
  readonly #parts: ReplicaParts;
  #process: ServerProcess | undefined;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** Resolves when it is ready; the ports and the configuration stay the same. */
  async start(): Promise<void> {
    this.#process = await startProgram(this.#parts);
  }

  get url(): string {
    return this.#parts.url;
  }

  kill = async (): Promise<void> => this.#process?.kill();
  terminate = async (): Promise<void> => this.#process?.terminate();
  isReady = (): Promise<boolean> => isReady(this.#parts.url);

  async call(path: string, { token, form, json, method }: Call = {}): Promise<Answer> {
    const answer = await fetch(this.#parts.url + path, {
      method: method ?? (form || json ? 'POST' : 'GET'),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json && { 'content-type': 'application/json' }),
      },
      ...(form && { body: new URLSearchParams(form) }),
      ...(json && { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    const body = text.startsWith('{') ? JSON.parse(text) : undefined;
    for (const given of [body?.access_token, body?.refresh_token]) if (given) this.#parts.onToken(given);
    return { status: answer.status, text, body };
  }

  token = (form: Readonly<Record<string, string>>): Promise<Answer> =>
    this.call('/oauth/token', { form: { ...CLIENT, ...form } });

  refresh = (token: string): Promise<Answer> => this.token({ grant_type: 'refresh_token', refresh_token: token });

  signInAnswer = ({ name, password }: Person): Promise<Answer> =>
    this.token({ grant_type: 'password', username: name, password });

  async signIn(person: Person): Promise<Pair> {
    const answer = await this.signInAnswer(person);
    if (answer.status !== 200) throw new Error(`sign-in of ${person.name}: ${answer.status} ${answer.text}`);
    return answer.body as Pair;
  }

  revoke = (token: string): Promise<Answer> => this.call('/oauth/revoke', { form: { ...CLIENT, token } });
  logout = (token: string, query = ''): Promise<Answer> => this.call(`/oauth/logout${query}`, { token });

  /** The status of the cheapest answer that needs a good access token. */
  judge = async (token: string): Promise<number> => (await this.call('/oauth/userinfo', { token })).status;
  list = async (token: string): Promise<number> => (await this.call(NODES, { token })).status;

  /** The value of one series, written as on the page; 0 when it is not there. */
  async metric(series: string): Promise<number> {
    const text = await (await fetch(`${this.#parts.metricsUrl}/metrics`)).text();
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  }

  kids = async (): Promise<string[]> =>
    (await this.call('/oauth/keys')).body.keys.map(({ kid }: { kid: string }) => kid);
}
