import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../test/support/control-plane/free-ports.ts';
import { type Children, end } from '../children.ts';
import { Connection } from '../load/connection.ts';
import type { Peer } from './peer.ts';

/** The path of nginx, where packages install it; undefined if it is not installed. */
export function findNginx(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = [...(environment['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'nginx'))
    .find((file) => existsSync(file));
}

/**
 * nginx as one process in the foreground, like the other servers. It sends files with sendfile, also the compressed ones, and logs no
 * requests. All files that it writes are under its prefix.
 */
const configuration = (port: number): string => `daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  default_type application/json;
  keepalive_requests 1000000000;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port};
    location / { root files; gzip_static on; }
  }
}
`;

const READY_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** Starts an nginx that sends these bytes. It shows the rate of a server without a language runtime. */
export async function startNginx(
  children: Children,
  program: string,
  content: { identity: Buffer; gzip: Buffer },
): Promise<Peer> {
  const prefix = join(children.folder, `nginx-${process.hrtime.bigint()}`);
  const [port = 0] = await freePorts(1);
  await mkdir(join(prefix, 'files'), { recursive: true });
  await writeFile(join(prefix, 'files', 'body.json'), content.identity);
  await writeFile(join(prefix, 'files', 'body.json.gz'), content.gzip);
  await writeFile(join(prefix, 'nginx.conf'), configuration(port));
  const args = ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', join(prefix, 'error.log')];
  const child = children.start(program, args, { logFile: join(prefix, 'output.log') });
  const target = { port, headers: {} };
  await untilListening(target.port);
  const pid = child.pid === undefined ? {} : { pid: child.pid };
  return { name: 'nginx', target, listPath: '/body.json', ...pid, stop: () => end(child) };
}

async function untilListening(port: number): Promise<void> {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    try {
      const connection = await Connection.open({ port, headers: {} });
      connection.close();
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(POLL_MS);
    }
  }
}
