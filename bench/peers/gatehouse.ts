import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashPassword } from '../../src/users/password-hash.ts';
import { type Children, end } from '../children.ts';
import { type Ask, Connection, requestBytes, type Target } from '../load/connection.ts';
import { HEAP_WATCH, type Memory, takeMemory } from './memory.ts';
import type { Peer } from './peer.ts';
import { TURN_WATCH, type Turns, takeTurns } from './turns.ts';

/**
 * Gatehouse as `npm start` runs it, with its defaults unless told otherwise: RBAC, one log line a request, and a watch
 * of pods.
 */
export interface Gatehouse extends Peer {
  readonly pid: number;
  /** The time from the start of the process to its log line `ready`. */
  readonly startToReadyMs: number;
  readonly metricsUrl: string;
  /** The password of every user of the bench. */
  readonly password: string;
  /** Only for a process that was started with `TURN_WATCH`. */
  takeTurns(): Promise<Turns>;
  /** Only for a process that was started with `HEAP_WATCH`. */
  takeMemory(): Promise<Memory>;
}

export interface GatehouseOptions {
  /** Used in the names of its files and rows. */
  readonly name: string;
  readonly kubeconfig: string;
  /** Sections of its configuration file, which replace those of the bench. `users` is added to them: its file stays. */
  readonly settings?: Readonly<Record<string, object>>;
  /** Arguments of Node itself. Default: none. */
  readonly nodeArguments?: readonly string[];
}

/** The deployment's setting: the size of each half of the young heap, in MiB. */
export const DEPLOYED_YOUNG_HEAP = '--max-semi-space-size=8';
/** The deployment's setting for a limit of 512 Mi: 60 % of it for the heap. */
export const DEPLOYED_HEAP = ['--max-old-space-size=307', DEPLOYED_YOUNG_HEAP];

const TOKEN_PATH = '/oauth/token';

/** The client that Gatehouse has by default. */
export const BENCH_CLIENT = { client_id: 'gatehouse', client_secret: 'gatehouse' };

/**
 * Enough users for ten minutes of sign-ins. A user has at most 256 refreshed sessions; beyond that the one that was idle longest ends.
 */
export const BENCH_USERS: readonly string[] = Array.from({ length: 16 }, (_, index) => `bench-${fourDigits(index)}`);

/** Four digits, so that all names of one kind have the same length. */
export function fourDigits(index: number): string {
  return index.toString(16).padStart(4, '0');
}

/** A token request with these parameters. */
export function tokenAsk(parameters: Readonly<Record<string, string>>): Ask {
  return {
    method: 'POST',
    path: TOKEN_PATH,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...BENCH_CLIENT, ...parameters }).toString(),
  };
}

/** The password grant of one user. */
export const signInAsk = (username: string, password: string): Ask =>
  tokenAsk({ grant_type: 'password', username, password });

const PLATFORM = 'gatehouse';
const LIST_PATH = `/kapis/resources.${PLATFORM}.io/v1alpha3/nodes`;
/** The cost of hashes in the default configuration. */
export const BENCH_HASH_COST = 10;

/** A first list of 1,000 nodes takes well under a second, one of 450,000 pods half a minute; a busy machine gets several times that. */
const READY_TIMEOUT_MS = 240_000;
const POLL_MS = 2;

/** Starts Gatehouse. Resolves when it is ready and the bench has signed in. */
export async function startGatehouse(children: Children, options: GatehouseOptions): Promise<Gatehouse> {
  const password = randomBytes(18).toString('base64url');
  const log = join(children.folder, `${options.name}-${randomBytes(4).toString('hex')}.log`);
  const config = await writeConfig(children.folder, options, password);
  const startAt = performance.now();
  const args = [...(options.nodeArguments ?? []), ...children.program, '--config', config];
  const withChannel = [TURN_WATCH, HEAP_WATCH].some((watch) => args.includes(watch.at(-1) as string));
  const child = children.start(process.execPath, args, { logFile: log, withChannel });
  const ready = await untilReady(child, log);
  const startToReadyMs = performance.now() - startAt;
  const token = await signIn(ready.port, password);
  return {
    name: 'Gatehouse',
    target: { port: ready.port, headers: { authorization: `Bearer ${token}` } },
    listPath: LIST_PATH,
    pid: child.pid ?? 0,
    startToReadyMs,
    metricsUrl: `http://127.0.0.1:${ready.metricsPort}/metrics`,
    password,
    takeTurns: () => takeTurns(child),
    takeMemory: () => takeMemory(child),
    stop: () => end(child),
  };
}

/** The target for requests with a bearer of their own, or with none. */
export const withoutBearer = ({ target }: Gatehouse): Target => ({ port: target.port, headers: {} });

/** Signs all users in. Resolves to the headers of each user's requests, by name. */
export async function bearersOf(gatehouse: Gatehouse): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const connection = await Connection.open(gatehouse.target);
  const headers = new Map<string, Readonly<Record<string, string>>>();
  for (const username of BENCH_USERS) {
    const ask = signInAsk(username, gatehouse.password);
    const { status, content } = await connection.fetch(requestBytes(withoutBearer(gatehouse), ask));
    if (status !== 200) throw new Error(`a sign-in answered ${status}`);
    const { access_token: token } = JSON.parse(content.toString()) as { access_token: string };
    headers.set(username, { authorization: `Bearer ${token}` });
  }
  connection.close();
  return headers;
}

async function writeConfig(
  folder: string,
  { name, kubeconfig, settings = {} }: GatehouseOptions,
  password: string,
): Promise<string> {
  const file = (suffix: string): string => join(folder, `${name}-${suffix}`);
  const passwordHash = await hashPassword(password, BENCH_HASH_COST);
  const users = BENCH_USERS.map((user) => ({ name: user, passwordHash }));
  await writeFile(file('users.yaml'), JSON.stringify({ users }), { mode: 0o600 });
  await writeFile(file('kubeconfig.yaml'), kubeconfig, { mode: 0o600 });
  const { users: ofUsers, ...sections } = settings;
  const config = {
    platform: PLATFORM,
    server: { address: '127.0.0.1', port: 0, metricsPort: 0 },
    kubernetes: { kubeconfig: file('kubeconfig.yaml') },
    users: { file: file('users.yaml'), firstAdministrator: false, ...ofUsers },
    ...sections,
  };
  await writeFile(file('config.yaml'), JSON.stringify(config)); // JSON is YAML
  return file('config.yaml');
}

interface Ready {
  readonly port: number;
  readonly metricsPort: number;
}

/** Rejects with the end of the log when the process ends or is not ready in time. */
async function untilReady(child: ChildProcess, log: string): Promise<Ready> {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < giveUpAt && child.exitCode === null) {
    const line = (await readFile(log, 'utf8')).split('\n').find((text) => text.includes('"msg":"ready"'));
    if (line?.endsWith('}')) return JSON.parse(line) as Ready;
    await sleep(POLL_MS);
  }
  await end(child);
  const last = (await readFile(log, 'utf8')).trimEnd().split('\n').slice(-10).join('\n');
  throw new Error(`Gatehouse was not ready; its log ends with:\n${last}`);
}

async function signIn(port: number, password: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${TOKEN_PATH}`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      ...BENCH_CLIENT,
      username: BENCH_USERS[0] ?? '',
      password,
    }),
  });
  const body = (await answer.json()) as { access_token?: string; error?: string };
  if (!body.access_token) throw new Error(`sign-in answered ${answer.status} ${body.error ?? ''}`);
  return body.access_token;
}
