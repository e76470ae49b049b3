import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type buildConnector, request } from 'undici';
import type { Pair } from '../../integration/service/stand.ts';
import { type Caller, NODES, tokenForm } from './caller.ts';
import { connectTellingPort } from './refusals.ts';

const TIME_LIMIT_MS = 15_000;
/** For each of the four readers, about 60 requests a second. */
const READ_PAUSE_MS = 12;
const SECOND_MS = 1_000;
/** One of them is refreshed each second, so each of them 5 times a minute, of the 10 that are allowed. */
const SESSIONS = 12;
const REFUSED_PAUSE_MS = 20;

/** A request without an answer of 200. */
export interface Lost {
  readonly what: string;
  readonly why: string;
  /** On the clock of `performance.now()`. */
  readonly beganAt: number;
  readonly endedAt: number;
  /** What `tellMore` said of it. */
  readonly more: unknown;
}

export interface Outcome {
  readonly requests: number;
  readonly lost: readonly Lost[];
  /** Connections that nobody accepted: nothing was sent, so the client tried again. */
  readonly refused: number;
  /** Answers of 503 with `Retry-After` that the client obeyed. */
  readonly deferred: number;
  readonly longestMs: number;
}

interface Options {
  /**
   * Whether a request is sent again instead of being lost: at once when its connection was refused, and after `Retry-After` when
   * the answer is 503 with that header, as client-go does.
   */
  readonly tryAgain: boolean;
  /** What the report shall say besides of a request that was lost just now. */
  tellMore(error: unknown): Promise<unknown>;
  /** Who signs in; default: the first administrator. */
  readonly username?: string;
  /** How connections are made; default: so that the error of one that was refused tells its local port. */
  readonly connect?: buildConnector.BuildOptions;
}

/**
 * Clients of one address: two readers that keep their connection, two that make one for each request, one that
 * refreshes a session each second and one that signs in each second.
 */
export class Load {
  readonly #caller: Caller;
  readonly #password: string;
  readonly #options: Options;
  readonly #agent: Agent;
  readonly #username: string;
  readonly #lost: Lost[] = [];
  #requests = 0;
  #refused = 0;
  #deferred = 0;
  #longestMs = 0;

  constructor(caller: Caller, password: string, options: Options) {
    this.#caller = caller;
    this.#password = password;
    this.#options = options;
    this.#username = options.username ?? 'admin';
    this.#agent = new Agent(this.#usual);
  }

  get #usual(): Agent.Options {
    return { allowH2: false, connect: this.#options.connect ?? connectTellingPort };
  }

  /** Runs until `work` has ended. Rejects when `work` does. */
  async during(work: () => Promise<void>): Promise<Outcome> {
    const sessions: Pair[] = [];
    for (let count = 0; count < SESSIONS; count++)
      sessions.push(await this.#caller.signIn(this.#password, this.#username));
    const stop = new AbortController();
    const token = sessions[0]!.access_token;
    const running = Promise.all([
      ...[true, true, false, false].map((keep) => this.#read(token, keep, stop.signal)),
      this.#refresh(sessions, stop.signal),
      this.#signIn(stop.signal),
    ]);
    try {
      await work();
    } finally {
      stop.abort();
      await running;
      await this.#agent.destroy();
    }
    return {
      requests: this.#requests,
      lost: this.#lost,
      refused: this.#refused,
      deferred: this.#deferred,
      longestMs: this.#longestMs,
    };
  }

  async #read(token: string, keep: boolean, signal: AbortSignal): Promise<void> {
    const dispatcher = new Agent({ ...this.#usual, connections: 1, keepAliveTimeout: TIME_LIMIT_MS });
    const what = keep ? 'list on a kept connection' : 'list on a new connection';
    const options = { dispatcher, reset: !keep, headers: { authorization: `Bearer ${token}` } };
    while (!signal.aborted) {
      await this.#send(what, `${NODES}?limit=5`, options);
      await sleep(READ_PAUSE_MS);
    }
    await dispatcher.destroy();
  }

  async #refresh(sessions: Pair[], signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn++) {
      const index = turn % sessions.length;
      const form = { grant_type: 'refresh_token', refresh_token: sessions[index]!.refresh_token };
      const text = await this.#send('refresh', '/oauth/token', { ...tokenForm(form), reset: true });
      // After a lost answer the same token is sent again, within the 30 s in which its successor is given again.
      if (text) sessions[index] = JSON.parse(text) as Pair;
      await sleep(SECOND_MS);
    }
  }

  async #signIn(signal: AbortSignal): Promise<void> {
    const form = { grant_type: 'password', username: this.#username, password: this.#password };
    while (!signal.aborted) {
      await this.#send('sign-in', '/oauth/token', { ...tokenForm(form), reset: true });
      await sleep(SECOND_MS);
    }
  }

  /** The body of an answer of 200. */
  async #send(what: string, path: string, options: object): Promise<string | undefined> {
    const beganAt = performance.now();
    this.#requests++;
    try {
      const { status, text } = await this.#answer(path, options);
      if (status === 200) return text;
      await this.#lose({ what, why: `${status} ${text.slice(0, 200)}`, beganAt });
    } catch (error) {
      await this.#lose({ what, why: String(error), beganAt }, error);
    } finally {
      this.#longestMs = Math.max(this.#longestMs, performance.now() - beganAt);
    }
    return undefined;
  }

  async #lose(lost: Pick<Lost, 'what' | 'why' | 'beganAt'>, error?: unknown): Promise<void> {
    const endedAt = performance.now();
    this.#lost.push({ ...lost, endedAt, more: await this.#options.tellMore(error).catch(String) });
  }

  async #answer(path: string, options: object): Promise<{ readonly status: number; readonly text: string }> {
    const giveUpAt = performance.now() + TIME_LIMIT_MS;
    const mayTryAgain = (): boolean => this.#options.tryAgain && performance.now() < giveUpAt;
    while (true) {
      try {
        const { status, text, retryAfterMs } = await this.#once(path, options);
        if (status !== 503 || retryAfterMs === undefined || !mayTryAgain()) return { status, text };
        this.#deferred++;
        await sleep(retryAfterMs);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || !mayTryAgain()) throw error;
        this.#refused++;
        await sleep(REFUSED_PAUSE_MS);
      }
    }
  }

  async #once(path: string, options: object) {
    const usual = { dispatcher: this.#agent, headersTimeout: TIME_LIMIT_MS, bodyTimeout: TIME_LIMIT_MS };
    const { statusCode, headers, body } = await request(this.#caller.url + path, { ...usual, ...options });
    const retryAfter = headers['retry-after'];
    const retryAfterMs = retryAfter === undefined ? undefined : Number(retryAfter) * SECOND_MS;
    return { status: statusCode, text: await body.text(), retryAfterMs };
  }
}
