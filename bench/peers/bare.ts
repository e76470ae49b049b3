import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Children, end } from '../children.ts';
import type { Peer } from './peer.ts';

/** A bare node:http server that sends these bytes. */
export async function startBare(children: Children, content: { identity: Buffer; gzip: Buffer }): Promise<Peer> {
  const files = { identity: join(children.folder, 'body.json'), gzip: join(children.folder, 'body.json.gz') };
  await writeFile(files.identity, content.identity);
  await writeFile(files.gzip, content.gzip);
  const child = children.fork(join(import.meta.dirname, 'bare-server.ts'), [files.identity, files.gzip]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const pid = child.pid === undefined ? {} : { pid: child.pid };
  return { name: 'bare node:http', target: { port, headers: {} }, listPath: '/', ...pid, stop: () => end(child) };
}
