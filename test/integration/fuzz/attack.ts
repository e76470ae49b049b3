import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { type Pair, type Person, passwordOf } from '../service/stand.ts';
import { Bodies } from './bodies.ts';
import { Canaries } from './canaries.ts';
import { Chance } from './chance.ts';
import { Headers } from './headers.ts';
import { Queries } from './queries.ts';
import { type HostileRequest, HostileRequests } from './requests.ts';
import { type Address, type Outcome, send } from './send.ts';
import { Targets } from './targets.ts';

const AT_ONCE = 16;
/** After so many the good tokens are new ones, for some request will have ended their session. */
const SESSION = 100;
/** Whoever reads more of these has seen enough. */
const MOST_WRONG = 10;
const SIGNATURE_BEGINS = 40;

/** A service with Ada and Joe. */
export interface Victim {
  readonly gatehouse: Address;
  signIn(person: Person): Promise<Pair>;
  signInAnswer(username: string, password: string): Promise<{ readonly status: number; readonly body: unknown }>;
  /** The value of a metric without labels. */
  metric(name: string): Promise<number>;
}

/** Hostile requests to this service: the same seed sends the same ones. Notes what came of them. */
export class Attack {
  readonly statuses = new Map<string, number>();
  /** Requests that were answered by 500 and more, or not at all. */
  readonly wrong: string[] = [];
  /** Resident bytes of the program at each new session. */
  readonly sizes: number[] = [];
  readonly #service: Victim;
  readonly #canaries: Canaries;
  /** How the signature of each token begins that was given out: the part that makes a token one. */
  readonly #signatures = new Set<string>();
  readonly #tokens = { access: '', powerless: '', refresh: '' };
  readonly #requests: HostileRequests;
  #sent = 0;

  constructor(service: Victim, seed: number) {
    this.#service = service;
    const chance = new Chance(seededRandom(seed));
    this.#canaries = new Canaries(chance);
    const headers = new Headers(chance, this.#canaries, this.#tokens);
    const queries = new Queries(chance, this.#canaries);
    const targets = new Targets(chance, this.#canaries, queries);
    this.#requests = new HostileRequests({
      chance,
      headers,
      targets,
      queries,
      bodies: new Bodies(chance, this.#canaries, this.#tokens),
    });
  }

  async send(count: number): Promise<void> {
    this.#tokens.powerless = this.#given(await this.#service.signIn('joe')).access_token;
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#sendUntil(count)));
  }

  /** What the text shows of the secrets that were sent and of those that were given out. */
  leaksIn(text: string): string[] {
    const words = [...text.matchAll(/[\w-]{40,}/g)].map(([word]) => word.slice(0, SIGNATURE_BEGINS));
    const passwords = [passwordOf('ada'), passwordOf('joe')].filter((password) => text.includes(password));
    return [...this.#canaries.foundIn(text), ...words.filter((word) => this.#signatures.has(word)), ...passwords];
  }

  async #sendUntil(count: number): Promise<void> {
    while (this.#sent < count && this.wrong.length < MOST_WRONG) {
      if (this.#sent++ % SESSION === 0) await this.#begin();
      const request = this.#requests.next();
      this.#note(request, await send(this.#service.gatehouse, request));
    }
  }

  async #begin(): Promise<void> {
    this.sizes.push(await this.#service.metric('process_resident_memory_bytes'));
    const { status, body } = await this.#service.signInAnswer('ada', passwordOf('ada'));
    if (status !== 200) return; // turned away beside a flood of them, as happens now and then: the next one will do
    const { access_token: access, refresh_token: refresh } = this.#given(body as Pair);
    Object.assign(this.#tokens, { access, refresh });
  }

  #given(pair: Pair): Pair {
    for (const token of [pair.access_token, pair.refresh_token])
      this.#signatures.add(token.split('.')[2]?.slice(0, SIGNATURE_BEGINS) ?? '');
    return pair;
  }

  #note(request: HostileRequest, { statuses, isLost }: Outcome): void {
    for (const status of statuses.length > 0 ? statuses : ['cut'])
      this.statuses.set(`${status}`, (this.statuses.get(`${status}`) ?? 0) + 1);
    if (isLost || statuses.some((status) => status >= 500))
      this.wrong.push(JSON.stringify([statuses, request.pieces.map((piece) => piece.slice(0, 2_000))]));
  }
}
