import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Children, end } from '../children.ts';
import type { Peer } from './peer.ts';

/** A bare node:http server, in a process of its own, that sends these bytes. */
export async function startBare(children: Children, content: { identity: Buffer; gzip: Buffer }): Promise<Peer> {
  const files = { identity: join(children.folder, 'body.json'), gzip: join(children.folder, 'body.json.gz') };
  await writeFile(files.identity, content.identity);
  await writeFile(files.gzip, content.gzip);
  const child = children.fork(import.meta.filename, [files.identity, files.gzip]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const pid = child.pid === undefined ? {} : { pid: child.pid };
  return { name: 'bare node:http', target: { port, headers: {} }, listPath: '/', ...pid, stop: () => end(child) };
}

/**
 * The simplest possible Node server, with which Gatehouse is compared. It sends the same bytes for every request, and has each coding
 * as one buffer.
 */
function serve(identityFile: string, gzipFile: string): void {
  const identity = readFileSync(identityFile);
  const gzip = readFileSync(gzipFile);
  const server = createServer((request, response) => {
    const zipped = request.headers['accept-encoding'] === 'gzip';
    const content = zipped ? gzip : identity;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': content.length,
      ...(zipped && { 'content-encoding': 'gzip' }),
    });
    response.end(content);
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('disconnect', () => process.exit(0));
}

if (import.meta.main) serve(...(process.argv.slice(2) as [string, string]));
