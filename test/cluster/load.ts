import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/runtime/random.ts';
import type { Pair, Replica } from './replica.ts';
import type { Replicas } from './replicas.ts';

const REQUESTS_PER_SECOND = 200;
/** The share of all requests; the rest are lists of nodes. */
const SIGN_INS = 0.01;
const REFRESHES = 0.02;
/** So that a machine that cannot keep up delays requests instead of piling them up. */
const MOST_OPEN = 100;
const PROBE_MS = 100;

/**
 * Sessions take turns at refreshing. Four refreshes a second among this many sessions are 6 a minute for each, of the
 * 10 that are allowed (T-02).
 */
const SESSIONS = 40;

/** What the header of a token names. */
export const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

/** Clients of several replicas behind a balancer that sends requests to the ready ones; each token is tried at all of them. */
export class Load {
  /** Each session's newest pair. */
  readonly sessions: Pair[] = [];
  /** How often each kind of request was answered with each status. */
  readonly tally = new Map<string, number>();
  readonly #replicas: Replicas;
  readonly #random: Random;
  #ready: readonly Replica[];
  #turn = 0;

  constructor(replicas: Replicas, random: Random) {
    this.#replicas = replicas;
    this.#random = random;
    this.#ready = replicas.all;
  }

  /** Those that the balancer sends requests to. */
  get ready(): readonly Replica[] {
    return this.#ready;
  }

  async signIn(): Promise<void> {
    const { people } = this.#replicas;
    const users = Array.from({ length: SESSIONS }, (_, index) => people[index % people.length]!);
    this.sessions.push(...(await Promise.all(users.map((user) => this.#any(this.#ready).signIn(user)))));
  }

  /** Runs until `work` ends, and answers the results of all requests meanwhile. Rejects when `work` does. */
  async during(work: () => Promise<void>): Promise<string[]> {
    this.tally.clear();
    const stop = new AbortController();
    const running = Promise.all([this.#send(stop.signal), this.#probe(stop.signal)]);
    try {
      await work();
    } finally {
      stop.abort();
      await running;
    }
    return [...this.tally].map(([what, count]) => `${count} ${what}`).toSorted();
  }

  async #send(signal: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>();
    const began = performance.now();
    let due = 0;
    while (!signal.aborted) {
      for (const now = performance.now(); due < ((now - began) / 1000) * REQUESTS_PER_SECOND; due++) {
        if (open.size >= MOST_OPEN) continue;
        const one = this.#request().finally(() => open.delete(one));
        open.add(one);
      }
      await sleep(5);
    }
    await Promise.all(open);
  }

  async #probe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { all } = this.#replicas;
      const states = await Promise.all(all.map((replica) => replica.isReady()));
      this.#ready = all.filter((_, index) => states[index]);
      await sleep(PROBE_MS);
    }
  }

  async #request(): Promise<void> {
    const kind = this.#random.fraction();
    if (kind < SIGN_INS) return this.#signInOnce();
    if (kind < SIGN_INS + REFRESHES) return this.#refreshOnce();
    const { access_token: token } = this.#any(this.sessions);
    await this.#note('list', this.#any(this.#ready).list(token));
  }

  async #signInOnce(): Promise<void> {
    const answer = this.#any(this.#ready).signInAnswer(this.#any(this.#replicas.people));
    if ((await this.#note('sign-in', status(answer))) === 200) await this.#tryEverywhere((await answer).body);
  }

  async #refreshOnce(): Promise<void> {
    const index = this.#turn++ % this.sessions.length;
    const answer = this.#any(this.#ready).refresh(this.sessions[index]!.refresh_token);
    if ((await this.#note('refresh', status(answer))) !== 200) return;
    this.sessions[index] = (await answer).body;
    await this.#tryEverywhere(this.sessions[index]!);
  }

  /** A new token is good at every replica as soon as it is issued, and every replica publishes its key. */
  async #tryEverywhere({ access_token: token }: Pair): Promise<void> {
    const tries = this.#ready.map(async (replica) => {
      await this.#note('new token', replica.judge(token));
      const known = replica.kids().then((kids) => (kids.includes(kidOf(token)) ? 200 : 404));
      await this.#note('key of a new token', known);
    });
    await Promise.all(tries);
  }

  async #note(what: string, answer: Promise<number>): Promise<number> {
    const outcome = await answer.catch((error: Error) => `no answer (${String(error.cause ?? error)})`);
    const entry = `${what}: ${outcome}`;
    this.tally.set(entry, (this.tally.get(entry) ?? 0) + 1);
    return Number(outcome);
  }

  #any = <T>(list: readonly T[]): T => list[Math.floor(this.#random.fraction() * list.length)]!;
}

const status = async (answer: Promise<{ readonly status: number }>): Promise<number> => (await answer).status;
