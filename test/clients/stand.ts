import { execFile } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Agent, fetch } from 'undici';
import { inject } from 'vitest';
import type { SimulatedCluster } from '../../dev/cluster/cluster.ts';
import { CLIENT, NODES, node, passwordOf, startCluster, usersFile } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ServerProcess, startServer } from '../support/control-plane/server-process.ts';
import { writeConfig } from '../support/gatehouse.ts';
import { selfSigned } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/waiting.ts';
import { startFront } from './front.ts';

/** The OAuth client whose access tokens live for a minute, the least that can be configured. */
const HASTY = 'hasty';

const USER = 'ada';

/** What a client program is told at its start, as JSON in the variable `CLIENT`. */
export interface Told {
  /** `https://localhost:<port>` */
  readonly url: string;
  readonly issuer: string;
  /** The URL of the node list that Gatehouse has in memory; the cluster's own is `<url>/api/v1/nodes`. */
  readonly nodes: string;
  /** A file in PEM with the certificate that the server has. */
  readonly ca: string;
  readonly username: string;
  readonly password: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** An access token of this user, for clients that do not sign in. */
  readonly token: string;
  /** A kubeconfig as `gatehouse kubeconfig` makes it, whose plug-in is `gatehouse login` with this user's password in a file. */
  readonly kubeconfig: string;
}

/** What may be said of a stand besides. */
interface StandOptions {
  /** Settings besides those of the stand. */
  readonly config?: Readonly<Record<string, unknown>>;
}

type Front = Awaited<ReturnType<typeof startFront>>;

interface Parts {
  readonly cluster: SimulatedCluster;
  readonly front: Front;
  readonly ca: string;
  readonly start: () => Promise<ServerProcess>;
}

/**
 * The built program on a simulated cluster, with TLS and the gateway, and with its sessions and keys in the cluster. Ada may do everything. There
 * are three nodes: node-a, node-b and node-c.
 */
export class Stand {
  readonly cluster: SimulatedCluster;
  readonly url: string;
  readonly #start: () => Promise<ServerProcess>;
  readonly #front: Front;
  readonly #ca: string;
  readonly #agent: Agent;
  #server: ServerProcess | undefined;
  #token: Promise<string> | undefined;

  constructor(parts: Parts) {
    this.cluster = parts.cluster;
    this.url = `https://localhost:${parts.front.port}`;
    this.#start = parts.start;
    this.#front = parts.front;
    this.#ca = parts.ca;
    this.#agent = new Agent({ connect: { ca: readFileSync(parts.ca, 'utf8') } });
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    this.#server = await this.#start();
    this.#front.open();
  }

  /**
   * Ends the program by SIGTERM, and starts it again on the same port, with the same keys and sessions. `whileDown` is done in between, when
   * nobody listens.
   */
  async restart(whileDown: () => unknown = () => {}): Promise<void> {
    await this.#server?.terminate();
    this.#front.close();
    await whileDown();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#server?.kill();
    await this.#agent.destroy();
  }

  makeNode = (name: string): unknown => this.cluster.objects.create('nodes', node(name));

  /** What a program is told that signs in as a client whose tokens live for two hours, or for a minute. */
  async told({ isHasty }: { readonly isHasty: boolean }): Promise<Told> {
    const person = {
      username: USER,
      password: passwordOf(USER),
      clientId: isHasty ? HASTY : CLIENT.client_id,
      clientSecret: CLIENT.client_secret,
    };
    this.#token ??= this.#signIn();
    return {
      ...{ url: this.url, issuer: `${this.url}/oauth`, nodes: this.url + NODES, ca: this.#ca },
      ...person,
      token: await this.#token,
      kubeconfig: await kubeconfigFor(this.url, this.#ca, person),
    };
  }

  async #signIn(): Promise<string> {
    const form = { grant_type: 'password', username: USER, password: passwordOf(USER), ...CLIENT };
    const answer = await this.#send('/oauth/token', { method: 'POST', body: new URLSearchParams(form) });
    if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { readonly access_token: string }).access_token;
  }

  /** The status of the node list with this bearer. */
  async statusWith(token: string): Promise<number> {
    const answer = await this.#send(`${NODES}?limit=1`, { headers: { authorization: `Bearer ${token}` } });
    await answer.text();
    return answer.status;
  }

  #send(path: string, init: NonNullable<Parameters<typeof fetch>[1]>) {
    return fetch(this.url + path, { ...init, dispatcher: this.#agent });
  }
}

/** The stand, ready. It ends after the test; one that a `beforeAll` starts, after the first test. */
export async function startStand({ config = {} }: StandOptions = {}): Promise<Stand> {
  const cluster = await startCluster();
  const { folder, write } = temporaryFolder();
  const [port = 0, metricsPort = 0] = await freePorts(2);
  const front = await startFront(port);
  const { cert, key } = selfSigned('localhost');
  const ca = write('ca.pem', cert);
  const settings = {
    ...config,
    server: { port, metricsPort, tls: { certFile: ca, keyFile: write('key.pem', key) } },
    sessions: { store: 'kubernetes' },
    gateway: { enabled: true },
    // A token ends when it says, for clients have the clock of this machine.
    authentication: {
      maximumClockSkew: '0s',
      oauthOptions: oauthOptions(front.port),
      // Nor is a sign-in refused because the machine is busy, or because the clients of a file are one user at one address.
      passwordGate: { queue: 1_000, maxWait: '2m' },
      authenticateRateLimiterMaxTries: 1_000,
    },
  };
  const file = writeConfig(folder, { config: settings, kubeconfig: cluster.kubeconfig(), users: await usersFile() });
  const log = write('log', '');
  const stand = new Stand({ cluster, front, ca, start: () => startProgram(file, log) });
  atEnd(() => stand.stop());
  await stand.start();
  return stand;
}

type Person = Pick<Told, 'username' | 'password' | 'clientId' | 'clientSecret'>;

/** Makes it with the built program, in a folder of its own, where the session is kept as well. */
async function kubeconfigFor(url: string, ca: string, person: Person): Promise<string> {
  const { folder, write } = temporaryFolder();
  const words = [process.execPath, ...inject('program')].map((word) => `'${word}'`).join(' ');
  const gatehouse = write('gatehouse', `#!/bin/sh\nexec ${words} "$@"\n`);
  chmodSync(gatehouse, 0o700);
  const options = {
    server: url,
    username: person.username,
    'client-id': person.clientId,
    'client-secret-file': write('client-secret', person.clientSecret),
    'password-file': write('password', person.password),
    'session-file': join(folder, 'session.json'),
    'certificate-authority': ca,
    command: gatehouse,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const { stdout } = await promisify(execFile)(gatehouse, ['kubeconfig', ...args]);
  return write('kubeconfig', stdout);
}

const oauthOptions = (port: number) => ({
  issuer: `https://localhost:${port}/oauth`,
  clients: [
    { name: CLIENT.client_id, secret: CLIENT.client_secret },
    { name: HASTY, secret: CLIENT.client_secret, accessTokenMaxAge: '1m' },
  ],
});

/** Starts on a machine that is busy with other things. */
const START_LIMIT_MS = 120_000;

async function startProgram(config: string, log: string): Promise<ServerProcess> {
  const before = readFileSync(log, 'utf8').length;
  const server = startServer(process.execPath, [...inject('program'), '--config', config], log);
  const said = () => readFileSync(log, 'utf8').slice(before);
  const lost = () => (server.running ? undefined : 'the program has ended');
  await waitFor(said, (text) => text.includes('"msg":"ready"'), {
    turn: () => sleep(20),
    limitMs: START_LIMIT_MS,
    lost,
  });
  return server;
}
