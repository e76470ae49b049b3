import { setTimeout as sleep } from 'node:timers/promises';
import type { CaseRequest, ObservedCase } from './case.ts';
import { exchange, type WireAnswer, type WireRequest } from './exchange.ts';
import { problemsOf } from './expectation.ts';
import { type ObservedServer, Placeholders } from './placeholders.ts';

/** The pause after a write of accounts, in which the cases allow the write to become visible. */
const SEEN_MS = 300;

/** Runs recorded cases against a server, in order. It remembers answers, because some cases compare with earlier ones. */
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
      for (let sent = 0; sent < times; sent++) await this.#send(request);
    if (one.pause) await sleep(one.pause);
    const answer = await this.#answer(one);
    this.#earlier.set(one.id, answer);
    const expect = await this.#placeholders.fillAll(one.expect);
    return problemsOf(answer, expect, { platform: this.#server.platform, earlier: this.#earlier });
  }

  /**
   * An edit, and the tag of a list, have the version of a GET a moment before. If a sign-in is recorded in between, which changes the user
   * and the list, the request is sent once more, as a client does.
   */
  async #answer({ request, expect }: ObservedCase): Promise<WireAnswer> {
    const answer = await this.#send(request);
    const expected = [expect.status].flat(2);
    const isInBetween =
      (request.edit && answer.status === 409 && !expected.includes(409)) ||
      (JSON.stringify(request.headers ?? {}).includes('{{etag_of:') && answer.status === 200 && expected.includes(304));
    return isInBetween ? this.#send(request) : answer;
  }

  /** Sends a request. After a write of accounts it waits until the write must be visible. */
  async #send(request: CaseRequest): Promise<WireAnswer> {
    const answer = await exchange(this.#server.port, await this.#wire(request));
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
    if (isWrite && /^\/(?:kapis\/iam\.|apis?\/)/.test(request.path)) await sleep(this.#server.seenMs ?? SEEN_MS);
    return answer;
  }

  async #wire({ method, path, headers = {}, form, json, body, edit }: CaseRequest): Promise<WireRequest> {
    const fill = (text: string): Promise<string> => this.#placeholders.fill(text);
    const given = (Array.isArray(headers) ? headers : Object.entries(headers)) as [string, string | null][];
    const filled: [string, string][] = [];
    for (const [name, value] of given) if (value !== null) filled.push([name, await fill(value)]);
    const named = new Set(given.map(([name]) => name.toLowerCase()));
    if (!named.has('accept')) filled.push(['Accept', '*/*']);
    const isJson = json !== undefined || edit !== undefined;
    const type = form ? 'application/x-www-form-urlencoded' : isJson ? 'application/json' : undefined;
    if (type && !named.has('content-type')) filled.push(['Content-Type', type]);
    const content = edit ? await this.#placeholders.edited(edit) : await this.#content({ form, json, body });
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
