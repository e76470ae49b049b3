import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { WatchEvent } from '../../support/watcher.ts';
import { type Caller, NODES } from './caller.ts';

const RETRY_MS = 100;

/** A client that follows the list of nodes as docs/watch.md says: it resumes from the last version that it has seen. */
export class Follower {
  /** What it was sent, without bookmarks. */
  readonly events: WatchEvent[] = [];
  /** How often it got a stream. */
  streams = 0;
  /** How often it had to start again from nothing: once is the beginning. */
  starts = 0;
  readonly #url: string;
  readonly #token: string;
  readonly #agent = new Agent({ bodyTimeout: 0 });
  #version = '';

  constructor(caller: Caller, token: string) {
    this.#url = caller.url;
    this.#token = token;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#follow(signal).catch(() => sleep(RETRY_MS));
    await this.#agent.destroy();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (!this.#version) this.starts++;
    const url = `${this.#url}${NODES}?watch=true&resourceVersion=${this.#version}`;
    const headers = { authorization: `Bearer ${this.#token}` };
    const { statusCode, body } = await request(url, { headers, signal, dispatcher: this.#agent });
    if (statusCode !== 200) {
      await body.dump();
      if (statusCode === 410) this.#version = '';
      throw new Error(`the watch was answered ${statusCode}`);
    }
    this.streams++;
    // A last line without its end is no line: it would not be JSON.
    for await (const line of createInterface(body)) this.#take(line);
  }

  #take(line: string): void {
    const event = JSON.parse(line) as WatchEvent;
    this.#version = event.object.metadata.resourceVersion;
    if (event.type !== 'BOOKMARK') this.events.push(event);
  }
}
