import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface WatchEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly object: any;
}

/** A client of a watch, over a real connection. */
export class Watcher {
  readonly response: IncomingMessage;
  /** Everything that arrived so far. */
  text = '';
  /** Set when the answer is complete; `cut` when the connection ended before that. */
  ending: 'complete' | 'cut' | undefined;
  readonly #request: ClientRequest;

  private constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent;
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      this.text += text;
    });
    response.on('error', () => {});
    response.on('close', () => {
      this.ending = response.complete ? 'complete' : 'cut';
    });
  }

  /** Resolves with the head of the answer, whatever its status. */
  static async open(url: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Watcher> {
    const sent = request(url, { headers, method, agent: false });
    sent.on('error', () => {});
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return new Watcher(sent, response);
  }

  /** For a wait: the reason why no more events can come, when the answer has ended. */
  lost = (): string | undefined => this.ending && `the watch has ended (${this.ending})`;

  /** For a wait: the end of the text so far. */
  saw = (): string => this.text.slice(-500);

  get status(): number | undefined {
    return this.response.statusCode;
  }

  /** The complete events of a stream of JSON lines. */
  get events(): WatchEvent[] {
    const lines = this.text.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as WatchEvent);
  }

  /** `TYPE name` of each event, a bookmark without its name. */
  get story(): string[] {
    return this.events.map(({ type, object }) => [type, object.metadata?.name].filter(Boolean).join(' '));
  }

  /** The version of the last bookmark. */
  get version(): string {
    return this.events.findLast(({ type }) => type === 'BOOKMARK')?.object.metadata.resourceVersion ?? '';
  }

  close(): void {
    this.#request.destroy();
  }
}

/** The state of a client that applies these events to the state that it had. */
export function applyEvents(events: readonly WatchEvent[], known: ReadonlyMap<string, unknown> = new Map()) {
  const items = new Map(known);
  for (const { type, object } of events) {
    if (type === 'ADDED' || type === 'MODIFIED') items.set(keyOf(object.metadata), object);
    else if (type === 'DELETED') items.delete(keyOf(object.metadata));
  }
  return items;
}

/** The name, behind the namespace if there is one. */
const keyOf = ({ name, namespace }: { readonly name: string; readonly namespace?: string }): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
