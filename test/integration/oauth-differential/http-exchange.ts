import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

/** A request, as its bytes will go over the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** As sent; a name may come twice. */
  readonly headers: readonly (readonly [string, string])[];
  /** Each character is one byte. */
  readonly body: string | undefined;
  /** Default: with its length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body when it is a JSON object, else `undefined`. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Sends it as it is: fetch would join headers, add some and refuse others. */
export function exchange(origin: string, wire: WireRequest, agent: Agent): Promise<Answer> {
  const body = wire.body === undefined ? undefined : Buffer.from(wire.body, 'latin1');
  const framing: [string, string][] = [];
  if (body) framing.push(wire.chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(body.length)]);
  const headers = [['Host', new URL(origin).host], ...wire.headers, ...framing].flat();
  return new Promise((resolve, reject) => {
    const outgoing = request(origin + wire.target, { method: wire.method, headers, agent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      incoming.on('end', () => {
        const { statusCode: status = 0, headers } = incoming;
        resolve({ status, headers, body: parseObject(Buffer.concat(chunks).toString()) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function parseObject(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer['body']) : undefined;
  } catch {
    return undefined;
  }
}
