import type { Chance } from './chance.ts';

/**
 * Secrets that stand for those of people: each holds the same mark, which no log line and no metric may show, plain or as
 * base64 has it.
 */
export class Canaries {
  readonly mark: string;
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.mark = `canary${chance.count(0x100000, 0xffffff).toString(16)}canary`;
  }

  secret(): string {
    return `${this.mark}${this.#chance.word()}`;
  }

  /** Three parts, as a JWT has them; the last is the secret one. */
  token(): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'RS256', typ: 'at+jwt', kid: this.#chance.word() })}.${part({ sub: 'ada' })}.${this.secret()}`;
  }

  basic(name: string): string {
    return `Basic ${Buffer.from(`${name}:${this.secret()}`).toString('base64')}`;
  }

  /** The lines that show one. */
  foundIn(text: string): string[] {
    const forms = [this.mark, ...encodings(this.mark)];
    if (!forms.some((form) => text.includes(form))) return [];
    return text.split('\n').filter((line) => forms.some((form) => line.includes(form)));
  }
}

/** The mark inside of base64, at each of the three places of a group, without the characters that its neighbours decide. */
const encodings = (mark: string): string[] =>
  [0, 1, 2].map((before) => {
    const whole = Buffer.from('x'.repeat(before) + mark).toString('base64');
    return whole.slice(before === 0 ? 0 : 4, Math.floor((before + mark.length) / 3) * 4);
  });
