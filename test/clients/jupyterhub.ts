import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';
import { pythonWith } from '../support/python-environment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/waiting.ts';
import { blockBelow, ISSUER } from './settings-page.ts';
import type { WebStand } from './web-stand.ts';

const FOLDER = join(import.meta.dirname, 'jupyterhub');
const PYTHON = await pythonWith('jupyterhub', join(FOLDER, 'requirements.txt'));

/** The address of the hub on the page. */
export const HUB_ADDRESS = 'https://hub.example.com';

/** More than it takes on a machine that is busy. */
const LIMIT_MS = 120_000;

/** What the hub knows of a user. */
interface HubUser {
  readonly admin: boolean;
  readonly groups: readonly string[];
  readonly auth_state: {
    readonly access_token: string;
    readonly scope: readonly string[];
    /** What userinfo answered. */
    readonly oauth_user: Readonly<Record<string, unknown>>;
  };
}

export interface Hub {
  /** A user of the hub; `undefined` if it has none of this name. */
  user(name: string): Promise<HubUser | undefined>;
}

/** The address of a hub that will be started. */
export async function hubAddress(): Promise<URL> {
  const [port = 0] = await freePorts(1);
  return new URL(`http://localhost:${port}`);
}

/** Starts JupyterHub at this address, as docs/browser-sign-in.md sets it up; its client at the stand has this secret. It ends after the test. */
export async function startHub(url: URL, stand: WebStand, secret: string): Promise<Hub> {
  const { folder, write } = temporaryFolder();
  const apiToken = randomBytes(16).toString('hex');
  const own = { [HUB_ADDRESS]: url.origin, [ISSUER]: stand.issuer, 'change-me': secret };
  const told = { url: url.origin, folder, apiToken, settings: blockBelow('JupyterHub', own) };
  const variables = {
    HUB: JSON.stringify(told),
    JUPYTERHUB_CRYPT_KEY: randomBytes(32).toString('hex'),
    SSL_CERT_FILE: stand.caFile,
  };
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const command = [PYTHON, '-m', 'jupyterhub', '--config', join(FOLDER, 'jupyterhub_config.py')];
  const server = startServer('env', [...words, ...command], write('log', ''));
  atEnd(() => server.kill());
  const ask = async (path: string) => {
    const answer = await request(new URL(`/hub/api${path}`, url), { headers: { Authorization: `token ${apiToken}` } });
    return { status: answer.statusCode, body: (await answer.body.json()) as unknown };
  };
  await waitFor(
    () => ask('/').catch(() => ({ status: 0 })),
    ({ status }) => status === 200,
    {
      turn: () => sleep(50),
      limitMs: LIMIT_MS,
      lost: () => (server.running ? undefined : 'JupyterHub has ended'),
    },
  );
  return {
    user: async (name) => {
      const { status, body } = await ask(`/users/${name}`);
      return status === 404 ? undefined : (body as HubUser);
    },
  };
}
