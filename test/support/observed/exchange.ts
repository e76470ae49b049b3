import { request as httpRequest } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** A request as it is sent. Only `Host` and a length are added, and an `Accept` for any type if it has none. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Buffer;
}

export interface WireAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends the path as it is, over a new connection. Decompresses gzip. Drops a connection that was upgraded. */
export function exchange(port: number, { method, path, headers, body }: WireRequest): Promise<WireAnswer> {
  const lengths = body ? [['Content-Length', String(body.length)] as const] : [];
  const raw = [['Host', `127.0.0.1:${port}`] as const, ...headers, ...lengths].flat();
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: raw, agent: false, timeout: 20_000 });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path}`)));
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: joined(response.headers), text: '' });
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: joined(response.headers),
          text: decoded(Buffer.concat(chunks), response.headers['content-encoding']),
        }),
      );
    });
    request.end(body);
  });
}

function joined(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}

function decoded(body: Buffer, encoding: string | undefined): string {
  return (encoding === 'gzip' ? gunzipSync(body) : body).toString('utf8');
}
