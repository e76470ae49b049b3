import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The least that a Node server can do: the same bytes for every request, each coding held as one buffer. What Gatehouse
 * is measured against. Arguments: the files with the identity and the gzip content.
 */
const [identityFile, gzipFile] = process.argv.slice(2) as [string, string];
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
