import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { createApp } from '../../../src/http/app.ts';
import { createHttpServer } from '../../../src/http/connection/server.ts';
import type { CallerMethod } from '../../../src/oauth/endpoints/caller-authentication.ts';
import type { ReviewHead } from '../../../src/oauth/endpoints/token-review.ts';
import { nextEvent } from '../../support/next-event.ts';
import { appParts, type LogLine, type TestParts } from './app-under-test.ts';

/** PEM texts. */
interface Certificates {
  readonly cert: string;
  readonly key: string;
  readonly clientCA?: string;
}

/** The API port over TLS. */
export interface TlsUnderTest {
  readonly parts: TestParts;
  readonly lines: readonly LogLine[];
  /** What the webhook was told of its callers. */
  readonly heads: ReviewHead[];
  /** Writes one of the files that the port follows: `tls.crt`, `tls.key` or `ca.crt`. */
  write(name: string, text: string): string;
  /** A connection that never begins its handshake. */
  connect(): Promise<Socket>;
  /** One that is through with it. */
  secure(more?: ConnectionOptions): Promise<TLSSocket>;
  /** Closes all of its connections first. */
  stop(): Promise<void>;
}

const OPTIONS = { address: '127.0.0.1', port: 0, shutdownDelayMs: 0, drainMs: 1_000 };

/** A folder that is removed in the end. */
function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return { write, remove: () => rmSync(folder, { recursive: true }) };
}

export async function startTls(
  { cert, key, clientCA }: Certificates,
  change: Partial<TestParts> = {},
): Promise<TlsUnderTest> {
  const { write, remove } = makeFolder();
  const tls = {
    certFile: write('tls.crt', cert),
    keyFile: write('tls.key', key),
    ...(clientCA === undefined ? {} : { clientCAFile: write('ca.crt', clientCA) }),
  };
  const lines: LogLine[] = [];
  const heads: ReviewHead[] = [];
  const { tokenReviews: usual } = appParts(change);
  const checkHead = (head: ReviewHead): CallerMethod => {
    heads.push(head);
    return change.tokenReviews?.checkHead(head) ?? 'certificate';
  };
  const parts = appParts({ ...change, tokenReviews: { ...usual, checkHead } }, lines);
  const server = createHttpServer({ ...OPTIONS, tls }, createApp(parts), { ...parts, onDraining: () => {} });
  const { port } = await server.listen();
  const ending = new AbortController();
  const running = server.run(ending.signal);
  const sockets: Socket[] = [];
  const opened = async <Kind extends Socket>(socket: Kind, event: string): Promise<Kind> => {
    sockets.push(socket);
    socket.on('error', () => {}); // the server may cut it off
    await nextEvent(socket, event);
    return socket;
  };
  const host = '127.0.0.1';
  return {
    parts,
    lines,
    heads,
    write,
    connect: () => opened(connect(port, host), 'connect'),
    secure: (more) => opened(connectTls({ port, host, ca: cert, ...more }), 'secureConnect'),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      ending.abort();
      await running;
      remove();
    },
  };
}

export const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
export const REVIEW = 'POST /oauth/authenticate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';

/** The answer as text, as far as it comes at once. */
export async function send(socket: Socket, request = HEALTH): Promise<string> {
  const answered = nextEvent(socket, 'data');
  socket.write(request);
  return String((await answered)[0]);
}

/** The answer's `HTTP/1.1 200`. */
export const statusOf = async (socket: Socket, request = HEALTH): Promise<string> =>
  (await send(socket, request)).slice(0, 12);
