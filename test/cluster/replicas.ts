import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword } from '../../src/users/password-hash.ts';
import { runTool, writeKubeconfig } from '../support/control-plane/clients.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { install, installAccounts, NAMESPACE } from './installation.ts';
import { PROGRAM } from './program.ts';
import { type Person, Replica } from './replica.ts';

export interface ReplicasOptions {
  /** How many people there are. */
  readonly people: number;
  readonly oauthOptions?: Readonly<Record<string, unknown>>;
  readonly shutdownDelay?: string;
  /** Users are objects of the cluster: with the rights, definitions and policy that the installation has for it. */
  readonly accounts?: true;
  /** The URL at which each replica reaches the API server, by its index, if not at the server's own address. */
  readonly apiServers?: Readonly<Record<number, string>>;
  /** How far the wall clock of each replica is ahead of the machine's, by its index. */
  readonly aheadMs?: readonly number[];
}

/** Three processes with `sessions.store: kubernetes` and the rights that the chart gives for it, and one users file. */
export interface Replicas {
  readonly all: readonly [Replica, Replica, Replica];
  readonly people: readonly Person[];
  /** Every token that was answered so far. */
  readonly tokens: ReadonlySet<string>;
  /** Writes the users file anew, with these people Disabled. */
  disable(names: readonly string[]): Promise<void>;
  /** The arguments of Node for `gatehouse keys`, to which the rest is added. */
  keysCommand(apiServer?: string): Promise<readonly string[]>;
  /** The users file of all. */
  readonly usersFile: string;
  /** Runs `gatehouse users …` to its end and answers its output; rejects when it fails. */
  users(...args: readonly string[]): Promise<string>;
  /** Runs `gatehouse keys …` to its end and answers its output; rejects when it fails. */
  keys(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export async function startReplicas(cluster: ControlPlane, options: ReplicasOptions): Promise<Replicas> {
  const token = await install(cluster, 'kubernetes');
  if (options.accounts) await installAccounts(cluster);
  const people = Array.from({ length: options.people }, (_, index) => ({
    name: `person-${index}`,
    password: randomBytes(12).toString('hex'),
  }));
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-replicas-'));
  const usersFile = await createUsersFile(join(folder, 'users.yaml'), people);
  const tokens = new Set<string>();

  const configFile = async (name: string, server: object, apiServer?: string): Promise<string> => {
    const kubeconfig = apiServer
      ? await writeKubeconfig(folder, `kubeconfig-of-${name}`, { url: apiServer, token })
      : await cluster.kubeconfigFile(token);
    const config = join(folder, `${name}.yaml`);
    await writeFile(config, JSON.stringify(configuration(options, { server, kubeconfig, usersFile: usersFile.path })));
    return config;
  };
  const newReplica = async (index: number, [port, metricsPort]: readonly [number, number]): Promise<Replica> => {
    const server = { address: '127.0.0.1', port, metricsPort, shutdownDelay: options.shutdownDelay ?? '0s' };
    const config = await configFile(`replica-${index}`, server, options.apiServers?.[index]);
    const log = join(folder, `replica-${index}.log`);
    const [url, metricsUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}`];
    const aheadMs = options.aheadMs?.[index] ?? 0;
    return new Replica({ config, log, url, metricsUrl, aheadMs, onToken: (given) => void tokens.add(given) });
  };
  const ports = (await freePorts(6)) as [number, number, number, number, number, number];
  const all = [
    await newReplica(0, [ports[0], ports[1]]),
    await newReplica(1, [ports[2], ports[3]]),
    await newReplica(2, [ports[4], ports[5]]),
  ] as const;
  const stop = async (): Promise<void> => {
    await Promise.all(all.map((replica) => replica.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  const keysCommand = async (apiServer?: string): Promise<readonly string[]> => {
    return [...PROGRAM, '--config', await configFile('operator', {}, apiServer), 'keys'];
  };
  // All at once: the first one makes the signing keys, and the others use them.
  const starts = await Promise.allSettled(all.map((replica) => replica.start()));
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const usersCommand = async (): Promise<readonly string[]> => {
    return [...PROGRAM, '--config', await configFile('operator', {}), 'users'];
  };
  return {
    all,
    people,
    tokens,
    stop,
    usersFile: usersFile.path,
    users: async (...args) => runTool(process.execPath, [...(await usersCommand()), ...args]),
    keysCommand,
    keys: async (...args) => runTool(process.execPath, [...(await keysCommand()), ...args]),
    disable: usersFile.disable,
  };
}

/** Limits on attempts are off, because this test is not about guessing, and the machine may be slow. */
function configuration(
  { oauthOptions = {}, accounts }: ReplicasOptions,
  { server, kubeconfig, usersFile }: { server: object; kubeconfig: string; usersFile: string },
): object {
  return {
    server,
    kubernetes: { kubeconfig, namespace: NAMESPACE },
    users: { file: usersFile, firstAdministrator: {} },
    sessions: { store: 'kubernetes' },
    accounts: { enabled: accounts ?? false },
    authentication: {
      oauthOptions: { issuer: 'http://localhost:9090/oauth', ...oauthOptions },
      authenticateRateLimiterMaxTries: 1_000_000,
      addressRateLimiterMaxTries: 1_000_000,
      passwordGate: { queue: 1_000, maxWait: '60s' },
    },
  };
}

/**
 * All are administrators, so they may read the node list. The file is replaced as in a mounted Secret: another file
 * takes its name.
 */
async function createUsersFile(path: string, people: readonly Person[]) {
  const users = await Promise.all(
    people.map(async ({ name, password }) => {
      return { name, groups: ['gatehouse-admins'], passwordHash: await hashPassword(password, 10) };
    }),
  );
  const disable = async (names: readonly string[]): Promise<void> => {
    const entries = users.map((user) => (names.includes(user.name) ? { ...user, state: 'Disabled' } : user));
    await writeFile(`${path}.new`, JSON.stringify({ users: entries }));
    await rename(`${path}.new`, path);
  };
  await disable([]);
  return { path, disable };
}
