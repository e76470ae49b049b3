import { writeFileSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/waiting.ts';

/** Where Debian's packages `apache2` and `libapache2-mod-auth-openidc` put it. */
const MODULES = '/usr/lib/apache2/modules';

/** The modules of the server besides those that Debian compiles in. */
const LOADED = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'mime', 'include', 'auth_openidc'];

/** A page that shows what the server knows of the person. */
const PAGE = `<!--#printenv -->`;

/** The page `/signed-out.html`. */
export const SIGNED_OUT = 'You have signed out.\n';

/** More than it takes on a machine that is busy. */
const LIMIT_MS = 60_000;

/** The address of an Apache that will be started. */
export async function apacheAddress(): Promise<URL> {
  const [port = 0] = await freePorts(1);
  return new URL(`http://localhost:${port}`);
}

/** Starts an Apache at this address, with these directives for mod_auth_openidc. It ends after the test. */
export async function startApache(url: URL, directives: readonly string[]): Promise<void> {
  const { folder } = temporaryFolder();
  const pages = join(folder, 'pages');
  await mkdir(pages);
  await chmod(folder, 0o755);
  writeFileSync(join(pages, 'index.shtml'), PAGE);
  writeFileSync(join(pages, 'signed-out.html'), SIGNED_OUT);
  const config = join(folder, 'apache.conf');
  const log = join(folder, 'log');
  writeFileSync(config, [...basics(url, folder, pages), ...directives, ''].join('\n'));
  // One process, which the test can end.
  const server = startServer('apache2', ['-X', '-d', folder, '-f', config], log);
  atEnd(() => server.kill());
  const listens = () => request(new URL('/robots.txt', url)).then(({ body }) => body.dump().then(() => true));
  await waitFor(() => listens().catch(() => false), Boolean, {
    turn: () => sleep(20),
    limitMs: LIMIT_MS,
    lost: () => (server.running ? undefined : 'Apache has ended'),
  });
}

const basics = ({ port }: URL, folder: string, pages: string): string[] => [
  ...LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
  `Listen 127.0.0.1:${port}`,
  'ServerName localhost',
  `DefaultRuntimeDir ${folder}`,
  `PidFile ${folder}/pid`,
  `ErrorLog ${folder}/log`,
  // It does not run as root.
  ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
  `DocumentRoot ${pages}`,
  'TypesConfig /dev/null',
  'DirectoryIndex index.shtml',
  'AddType text/html .shtml',
  'AddOutputFilter INCLUDES .shtml',
  `<Directory ${pages}>`,
  'Options +Includes',
  '</Directory>',
];
