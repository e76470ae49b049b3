import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../support/at-end.ts';

/** A log store that gives the first thousand messages of an export, and then hangs up. */
export async function startHalfAStore(): Promise<string> {
  const hits = Array.from({ length: 1_000 }, (_, at) => ({ _source: { log: 'a message' }, sort: [2_000 - at] }));
  const first = JSON.stringify({ _scroll_id: 'a-place', timed_out: false, hits: { total: { value: 2_000 }, hits } });
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/_search/scroll')) request.socket.destroy();
    else response.end(first);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
