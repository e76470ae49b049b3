import { Draft } from './draft.ts';
import type { Answer, WireRequest } from './http-exchange.ts';
import { ada, consoleClient, type TestClient } from './people.ts';

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface SignInChange {
  readonly client?: TestClient;
  readonly scope?: string;
}

/** Gatehouse takes ten rotations of a session a minute (T-02). */
const MOST_USES = 8;

/** Scope of the sessions that the requests are about, unless they ask for another. */
const SESSION_SCOPE = 'profile email';

/** What was signed in at one server, so that requests can be about it. Each method leaves the others' sessions alone. */
export class Sessions {
  readonly #send: (wire: WireRequest) => Promise<Answer>;
  readonly #passReplayWindow: () => void;
  #current: { readonly pair: Pair; readonly uses: number } | undefined;
  #withOpenid: Pair | undefined;

  constructor(send: (wire: WireRequest) => Promise<Answer>, passReplayWindow: () => void) {
    this.#send = send;
    this.#passReplayWindow = passReplayWindow;
  }

  async signIn({ client = consoleClient, scope = SESSION_SCOPE }: SignInChange = {}): Promise<Pair> {
    return this.#token(client, { grant_type: 'password', username: ada.name, password: ada.password, scope });
  }

  /** A session whose refresh token is good; one and the same as long as nothing happened to it. */
  async current(): Promise<Pair> {
    if (!this.#current || this.#current.uses >= MOST_USES) this.#current = { pair: await this.signIn(), uses: 0 };
    return this.#current.pair;
  }

  /** What became of the current session, when its refresh token was used or revoked. */
  note(answer: Answer): void {
    const uses = (this.#current?.uses ?? 0) + 1;
    const isPair = answer.body?.['refresh_token'] !== undefined;
    if (isPair) this.#current = { pair: answer.body as unknown as Pair, uses };
    else if (answer.status === 200 || answer.body?.['error'] === 'invalid_grant') this.#current = undefined;
  }

  /** A session whose access token is good for userinfo at both servers. */
  async withOpenid(): Promise<Pair> {
    this.#withOpenid ??= await this.signIn({ scope: 'openid profile email' });
    return this.#withOpenid;
  }

  /** A session that was revoked by one of its tokens. */
  async revokedBy(which: keyof Pair): Promise<Pair> {
    const pair = await this.signIn();
    await this.#send(formTo('/oauth/revoke', consoleClient, { token: pair[which] }));
    return pair;
  }

  /** A token that was refreshed since, less than 30 s ago. */
  async replaced(): Promise<string> {
    const first = await this.signIn();
    await this.#refresh(first);
    return first.refresh_token;
  }

  async replacedLongAgo(): Promise<string> {
    const token = await this.replaced();
    this.#passReplayWindow();
    return token;
  }

  async replacedTwice(): Promise<{ readonly oldest: string; readonly newest: Pair }> {
    const first = await this.signIn();
    const newest = await this.#refresh(await this.#refresh(first));
    return { oldest: first.refresh_token, newest };
  }

  /** The newest tokens of a session in which an old one was used again. */
  async ofReused(): Promise<Pair> {
    const { oldest, newest } = await this.replacedTwice();
    await this.#send(formTo('/oauth/token', consoleClient, { grant_type: 'refresh_token', refresh_token: oldest }));
    return newest;
  }

  #refresh = (pair: Pair): Promise<Pair> =>
    this.#token(consoleClient, { grant_type: 'refresh_token', refresh_token: pair.refresh_token });

  async #token(client: TestClient, form: Readonly<Record<string, string>>): Promise<Pair> {
    const answer = await this.#send(formTo('/oauth/token', client, form));
    if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as unknown as Pair;
  }
}

function formTo(path: string, client: TestClient, form: Readonly<Record<string, string>>): WireRequest {
  const draft = new Draft(path);
  for (const [name, value] of Object.entries(form)) draft.add(name, value);
  draft.add('client_id', client.id);
  draft.add('client_secret', client.secret ?? '');
  return draft.toWire();
}
