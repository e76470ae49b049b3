import type { CaseRequest, ObservedCase } from './case.ts';
import { exchange, type WireAnswer, type WireRequest } from './exchange.ts';
import { problemsOf } from './expectation.ts';
import { type ObservedServer, Placeholders } from './placeholders.ts';

/** Runs recorded cases against a server, in order, remembering answers for the cases that compare with earlier ones. */
export class Corpus {
  readonly #server: ObservedServer;
  readonly #placeholders: Placeholders;
  readonly #earlier = new Map<string, WireAnswer>();

  constructor(server: ObservedServer) {
    this.#server = server;
    this.#placeholders = new Placeholders(server);
  }

  /** The mistakes of the server in this case; empty when the expectation holds. */
  async problems(one: ObservedCase): Promise<string[]> {
    for (const { request, times = 1 } of one.setup ?? [])
      for (let sent = 0; sent < times; sent++) await exchange(this.#server.port, await this.#wire(request));
    const answer = await exchange(this.#server.port, await this.#wire(one.request));
    this.#earlier.set(one.id, answer);
    const expect = await this.#placeholders.fillAll(one.expect);
    return problemsOf(answer, expect, { platform: this.#server.platform, earlier: this.#earlier });
  }

  async #wire({ method, path, headers = {}, form, json, body }: CaseRequest): Promise<WireRequest> {
    const fill = (text: string): Promise<string> => this.#placeholders.fill(text);
    const given = (Array.isArray(headers) ? headers : Object.entries(headers)) as [string, string | null][];
    const filled: [string, string][] = [];
    for (const [name, value] of given) if (value !== null) filled.push([name, await fill(value)]);
    const named = new Set(given.map(([name]) => name.toLowerCase()));
    if (!named.has('accept')) filled.push(['Accept', '*/*']);
    const type = form ? 'application/x-www-form-urlencoded' : json !== undefined ? 'application/json' : undefined;
    if (type && !named.has('content-type')) filled.push(['Content-Type', type]);
    const content = await this.#content({ form, json, body });
    return {
      method,
      path: await fill(path),
      headers: filled,
      ...(content === undefined ? {} : { body: Buffer.from(content) }),
    };
  }

  async #content({ form, json, body }: { form: CaseRequest['form']; json: unknown; body: string | undefined }) {
    if (form) {
      const pairs: [string, string][] = [];
      for (const [name, value] of Object.entries(form)) pairs.push([name, await this.#placeholders.fill(value)]);
      return new URLSearchParams(pairs).toString();
    }
    if (json !== undefined) return JSON.stringify(await this.#placeholders.fillAll(json));
    return body === undefined ? undefined : this.#placeholders.fill(body);
  }
}
