import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from 'undici';
import { inject } from 'vitest';
import { hashPassword } from '../../../src/users/password-hash.ts';
import type { Pair } from '../../integration/service/stand.ts';
import { apiDispatcher } from '../../support/control-plane/api-dispatcher.ts';
import { selfSigned } from '../../support/self-signed.ts';
import type { Caller } from './caller.ts';
import { kubectl } from './kubectl.ts';
import { Release } from './release.ts';
import { type Outcome, Way } from './way.ts';

/** Who can sign in, with the groups of each. Everybody but the stranger is named to the chart. */
const PEOPLE = {
  /** May do everything in the cluster. */
  olga: [],
  /** May do everything in the cluster, until she is signed out. */
  lena: [],
  /** Her group may edit in the namespace of each way. */
  carol: ['developers'],
  /** May look at what is in the namespace of each way. */
  vera: [],
  /** Has no role. */
  gustav: [],
  stranger: [],
} as const satisfies Record<string, readonly string[]>;
type Person = keyof typeof PEOPLE;

const ADMINISTRATORS: readonly Person[] = ['olga', 'lena'];
/** The name in the certificate of the release. */
export const SERVER_NAME = 'gatehouse.example';
/** kubectl sends a token by HTTPS only. */
const TLS_SECRET = 'gatehouse-tls';
const USERS_SECRET = 'people';
/** Shorter than by default, so that tests of stopping replicas wait less. */
const STREAM_DRAIN = '15s';

export const passwordOf = (person: Person): string => `${person}-password`;

/** How a release differs from what most tests need. */
interface StandOptions {
  /** Values of the chart beside those that the stand sets. */
  readonly values?: { readonly config?: object; readonly [name: string]: unknown };
  /** Something in front speaks HTTPS with the clients, and HTTP with Gatehouse. */
  readonly isBehindProxy?: boolean;
}

/** The same person by two ways, each with a namespace of its own. */
export interface Ways {
  /** To the API server itself, as the person whom Gatehouse makes out of a token: name and groups. */
  readonly straight: Way;
  readonly through: Way;
}

/** A release with the gateway, and the people who use the cluster through it. */
export class GatewayStand {
  readonly release: Release;
  readonly #folder: string;
  readonly #options: StandOptions;
  #caller: Caller | undefined;
  #tls: Agent | undefined;

  private constructor(namespace: string, folder: string, options: StandOptions) {
    this.release = new Release(namespace);
    this.#folder = folder;
    this.#options = options;
  }

  static async start(namespace: string, options: StandOptions = {}): Promise<GatewayStand> {
    const stand = new GatewayStand(namespace, await mkdtemp(join(tmpdir(), 'gatehouse-gateway-')), options);
    await stand.#install();
    return stand;
  }

  get namespaces(): readonly [straight: string, through: string] {
    const { namespace } = this.release;
    return [`${namespace}-one`, `${namespace}-two`];
  }

  get caller(): Caller {
    if (!this.#caller) throw new Error('nothing is installed');
    return this.#caller;
  }

  signIn(person: Person): Promise<Pair> {
    return this.caller.signIn(passwordOf(person), person);
  }

  async ways(person: Person): Promise<Ways> {
    const [namespace, other] = this.namespaces;
    const { clusters, users } = JSON.parse(await readFile(inject('kubeconfig'), 'utf8'));
    const { server, 'certificate-authority': caFile } = clusters[0].cluster;
    const straight = await Way.open({
      namespace,
      server,
      caFile,
      token: users[0].user.token,
      as: { user: person, groups: [...PEOPLE[person], 'system:authenticated'] },
      home: this.#folder,
      name: `${person}-straight`,
    });
    const { access_token: token } = await this.signIn(person);
    return { straight, through: await this.wayThrough(person, token, other) };
  }

  /** With this token, in the namespace of those who come through. */
  wayThrough(name: string, token: string, namespace = this.namespaces[1]): Promise<Way> {
    return Way.open({
      namespace,
      server: this.caller.url,
      caFile: this.#certificate,
      serverName: SERVER_NAME,
      token,
      home: this.#folder,
      name: `${name}-through`,
    });
  }

  /** A path for a file of a test. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  async remove(): Promise<void> {
    await this.release.remove();
    const namespaces = this.namespaces;
    await kubectl(['delete', 'clusterrolebinding', this.release.namespace, '--ignore-not-found']);
    await kubectl(['delete', 'namespace', ...namespaces, '--ignore-not-found', '--wait=false']);
    await this.#tls?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #certificate(): string {
    return this.path('tls.crt');
  }

  async #install(): Promise<void> {
    const { cert, key } = selfSigned(SERVER_NAME);
    await writeFile(this.#certificate, cert);
    await kubectl(['apply', '-f', '-'], JSON.stringify(await this.#objects(cert, key)));
    const { isBehindProxy, values = {} } = this.#options;
    await this.release.install(this.valuesWith(values));
    if (!isBehindProxy) this.#tls = await apiDispatcher(this.#certificate, SERVER_NAME);
    this.#caller = await this.release.caller(this.#tls);
  }

  /** The values of the release, with these. */
  valuesWith({ config, ...more }: { readonly config?: object }): object {
    return {
      replicaCount: 2,
      sessions: { store: 'kubernetes' },
      config: { server: { streamDrain: STREAM_DRAIN }, ...config },
      ...(!this.#options.isBehindProxy && { service: { port: 443 }, tls: { existingSecret: TLS_SECRET } }),
      users: { existingSecret: USERS_SECRET },
      gateway: {
        enabled: true,
        users: Object.keys(PEOPLE).filter((name) => name !== 'stranger'),
        groups: ['developers'],
      },
      ...more,
    };
  }

  async #objects(cert: string, key: string): Promise<object> {
    const { namespace } = this.release;
    const users = Object.entries(PEOPLE).map(async ([name, groups]) => {
      return { name, groups, passwordHash: await hashPassword(passwordOf(name as Person), 10) };
    });
    const usersFile = JSON.stringify({ users: await Promise.all(users) });
    const secret = (name: string, type: string, stringData: object): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      type,
      stringData,
    });
    const items = [
      ...[namespace, ...this.namespaces].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
      secret(TLS_SECRET, 'kubernetes.io/tls', { 'tls.crt': cert, 'tls.key': key }),
      secret(USERS_SECRET, 'Opaque', { 'users.yaml': usersFile }),
      binding({ name: namespace, role: 'cluster-admin', users: ADMINISTRATORS }),
      ...this.namespaces.flatMap((own) => [
        binding({ name: 'developers', namespace: own, role: 'edit', users: [] }),
        binding({ name: 'viewers', namespace: own, role: 'view', users: ['vera'] }),
      ]),
    ];
    return { apiVersion: 'v1', kind: 'List', items };
  }
}

interface Binding {
  readonly name: string;
  /** Without one it counts everywhere. */
  readonly namespace?: string;
  readonly role: string;
  /** Without any it is for the developers. */
  readonly users: readonly string[];
}

function binding({ name, namespace, role, users }: Binding): object {
  const apiGroup = 'rbac.authorization.k8s.io';
  const people = users.map((user) => ({ apiGroup, kind: 'User', name: user }));
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name, ...(namespace && { namespace }) },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: people.length > 0 ? people : [{ apiGroup, kind: 'Group', name: 'developers' }],
  };
}

/** What came of it by each way, without what differs from one run to the next. */
export async function byBothWays(
  { straight, through }: Ways,
  work: (way: Way) => Promise<Outcome>,
): Promise<{ readonly straight: Outcome; readonly through: Outcome }> {
  const outcome = async (way: Way): Promise<Outcome> => way.comparable(await work(way));
  const [one, other] = await Promise.all([outcome(straight), outcome(through)]);
  return { straight: one, through: other };
}
