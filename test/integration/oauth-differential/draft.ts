import type { WireRequest } from './http-exchange.ts';
import { formEncoded } from './people.ts';

export const FORM = 'application/x-www-form-urlencoded';

/** A form POST that can still be changed: parameters as they will be sent, headers by name. */
export class Draft {
  method = 'POST';
  chunked = false;
  query = '';
  /** Instead of the parameters. */
  body: string | undefined;
  readonly headers = new Map<string, readonly string[]>([['Content-Type', [FORM]]]);
  readonly #path: string;
  #pairs: string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Adds a parameter, though there may be one of that name. */
  add(name: string, value: string): void {
    this.#pairs.push(`${formEncoded(name)}=${formEncoded(value)}`);
  }

  /** Adds `name=value` as it is. */
  addRaw(pair: string): void {
    this.#pairs.push(pair);
  }

  drop(name: string): void {
    this.#pairs = this.#pairs.filter((pair) => nameOf(pair) !== name);
  }

  set(name: string, value: string): void {
    this.drop(name);
    this.add(name, value);
  }

  /** Sees to it that the parameter is there twice. */
  repeat(name: string): void {
    const pair = this.#pairs.find((one) => nameOf(one) === name) ?? `${name}=made-up`;
    this.drop(name);
    this.#pairs.push(pair, pair);
  }

  /** The pairs in another order or another spelling. */
  rewrite(change: (pairs: readonly string[]) => string[]): void {
    this.#pairs = change(this.#pairs);
  }

  header(name: string, ...values: readonly string[]): void {
    this.headers.set(name, values);
  }

  toWire(): WireRequest {
    const headers = [...this.headers].flatMap(([name, values]) => values.map((value) => [name, value] as const));
    const bodiless = this.method === 'GET' || this.method === 'HEAD';
    return {
      method: this.method,
      target: this.#path + this.query,
      headers,
      body: bodiless ? undefined : (this.body ?? this.#pairs.join('&')),
      chunked: this.chunked,
    };
  }
}

const nameOf = (pair: string): string | undefined => [...new URLSearchParams(pair).keys()][0];
