import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Children } from '../children.ts';

/** A proxy in front of a cluster. It answers access reviews itself, after `reviewMs`, and passes everything else on. */
interface QuickReviews {
  /** The API server's port. */
  readonly upstream: number;
  readonly reviewMs: number;
  /** The user who may do nothing. Everybody else may do everything. */
  readonly refused: string;
}

/**
 * Starts it in a process of its own, where a review costs hardly any processor time. The simulated cluster and a proxy in the same
 * process answer only about 1,500 a second, so that Gatehouse is idle half of the time. Returns its port.
 */
export async function startQuickReviews(children: Children, plan: QuickReviews): Promise<number> {
  const child = children.fork(import.meta.filename);
  child.send(plan);
  const [port] = (await once(child, 'message')) as [number];
  return port;
}

/** The program of that process. */
function serve({ upstream, reviewMs, refused }: QuickReviews): void {
  const review = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { spec, ...rest } = (await json(message)) as { readonly spec: { readonly user?: string } };
    const body = JSON.stringify({ ...rest, spec, status: { allowed: spec.user !== refused } });
    setTimeout(() => response.writeHead(201, { 'content-type': 'application/json' }).end(body), reviewMs);
  };
  const passOn = (message: IncomingMessage, response: ServerResponse): void => {
    const { method, url: path, headers } = message;
    const passed = request({ port: upstream, host: '127.0.0.1', method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    message.pipe(passed);
  };
  const server = createServer((message, response) => {
    if (message.url?.endsWith('/subjectaccessreviews')) void review(message, response);
    else passOn(message, response);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

if (import.meta.main) {
  process.once('message', serve);
  process.on('disconnect', () => process.exit(0));
}
