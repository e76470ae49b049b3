import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type buildConnector, request } from 'undici';
import { type ServerProcess, startServer } from '../../support/control-plane/server-process.ts';
import { waitFor } from '../../support/waiting.ts';
import { HOST } from './page.ts';

/** Where a proxy runs, and what it leads to. */
export interface FrontPlace {
  /** Of its own, for its configuration, its log and what it writes. */
  readonly folder: string;
  /** On loopback. It listens on port 443. */
  readonly address: string;
  /** Host and port of the Service. */
  readonly service: string;
  /** The proxy's certificate for `HOST`, and its key. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** More than it takes on a machine that is busy. */
const LIMIT_MS = 60_000;

/** How a client connects that takes this address for every name, and trusts this certificate. */
export const connectTo = (address: string, ca: string): buildConnector.BuildOptions => ({
  ca,
  lookup: (_, { all }, done) => (all ? done(null, [{ address, family: 4 }]) : done(null, address, 4)),
});

/** A connection pool of a client with this address. It speaks HTTP/1.1; kubectl has HTTP/2. */
export const poolTo = (address: string, ca: string, localAddress?: string): Agent =>
  new Agent({ allowH2: false, connect: connectTo(address, ca), ...(localAddress !== undefined && { localAddress }) });

/** Starts a proxy with this configuration. Resolves when it leads to Gatehouse. */
export async function startFront(
  place: FrontPlace,
  ca: string,
  program: { readonly path: string; readonly config: string; readonly args: (file: string) => readonly string[] },
): Promise<ServerProcess> {
  const file = join(place.folder, 'config');
  const log = join(place.folder, 'log');
  await writeFile(file, program.config);
  const server = startServer(program.path, program.args(file), log);
  const dispatcher = poolTo(place.address, ca);
  const leads = () =>
    request(`https://${HOST}/readyz`, { dispatcher }).then(async ({ statusCode, body }) => {
      await body.dump();
      return statusCode === 200;
    });
  try {
    await waitFor(() => leads().catch(() => false), Boolean, {
      turn: () => sleep(50),
      limitMs: LIMIT_MS,
      lost: () => (server.running ? undefined : `${program.path} has ended; its messages are in ${log}`),
    });
  } finally {
    await dispatcher.destroy();
  }
  return server;
}
