import type { Dispatcher } from 'undici';
import type { Json } from './api-client.ts';

/** One open watch. A wait for an event that never comes ends at the time limit of the test. */
export class WatchStream {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly #body: Dispatcher.ResponseData['body'];
  readonly #events: AsyncGenerator<Json, void, undefined>;

  constructor(status: number, headers: Dispatcher.ResponseData['headers'], body: Dispatcher.ResponseData['body']) {
    this.status = status;
    this.headers = headers;
    this.#body = body;
    this.#events = eventsOf(body);
  }

  /** The next event; undefined when the server has ended the stream properly. */
  async next(): Promise<Json> {
    return (await this.#events.next()).value;
  }

  async take(count: number): Promise<Json[]> {
    const events: Json[] = [];
    for (let taken = 0; taken < count; taken++) events.push(await this.next());
    return events;
  }

  /** Every event until the server ends the stream. */
  async rest(): Promise<Json[]> {
    const events: Json[] = [];
    for await (const event of this.#events) events.push(event);
    return events;
  }

  close(): void {
    this.#body.on('error', () => undefined).destroy();
  }
}

async function* eventsOf(body: AsyncIterable<Buffer>): AsyncGenerator<Json, void, undefined> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
  if (rest !== '') throw new Error(`the stream ends inside a line: ${rest}`);
}
