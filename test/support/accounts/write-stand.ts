import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { PolicyRule } from '../../../dev/cluster/rbac.ts';
import { passwordSecretName } from '../../../src/accounts/passwords/password-secrets.ts';
import { type GatehouseOptions, type RunningGatehouse, startGatehouse } from '../gatehouse.ts';
import { exchange, type WireAnswer } from '../observed/exchange.ts';
import { hashOf } from '../passwords.ts';
import { signingKeySecret } from '../signing-key-secret.ts';
import { binding, deployRights, OWN_TOKEN } from './deployed-rights.ts';

export const USERS = '/kapis/iam.gatehouse.io/v1alpha2/users';
export const PREFIX = 'iam.gatehouse.io';
export const ROLE = `${PREFIX}/globalrole`;
export const UNINITIALIZED = `${PREFIX}/uninitialized`;

/** The password of all users in the users file, so that only one hash is made. */
export const FILE_PASSWORD = 'Of-the-file-1';
export const PASSWORD = 'Made-up-by-a-1';

/** A user in the users file, whose ClusterRole has `rules`. */
interface FilePerson {
  readonly groups?: readonly string[];
  readonly email?: string;
  readonly rules?: readonly PolicyRule[];
  /** Whether our own account may impersonate this user when it assigns roles. */
  readonly isAssigner?: true;
}

/** An administrator as in an installation, who may also put users into the groups `ops` and `dev`. */
const ADMIN: FilePerson = {
  groups: ['gatehouse-admins'],
  rules: [{ apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['ops', 'dev'] }],
};

export interface WriteStandOptions extends Pick<GatehouseOptions, 'bcrypt' | 'clock' | 'output' | 'untilReady'> {
  /** Users besides `admin` and `joe`, who has no rights. */
  readonly people?: Readonly<Record<string, FilePerson>>;
  /** Users who are objects, and whom our own account may impersonate when it assigns roles. */
  readonly assigners?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  /** Makes objects before Gatehouse starts. */
  fill?(cluster: SimulatedCluster): void;
}

export interface Reply extends WireAnswer {
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
}

/** The most tries of an update, 5 ms apart: far more than a replica needs to see a write. */
const MOST_ATTEMPTS = 1_000;

export interface Asked {
  /** Default: `admin`. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** A simulated cluster with the rights of an installation, and Gatehouse on it with accounts and shared sessions. */
export class WriteStand {
  readonly cluster: SimulatedCluster;
  readonly gatehouse: RunningGatehouse;
  readonly #tokens = new Map<string, Promise<string>>();

  readonly #start: () => Promise<RunningGatehouse>;

  constructor(cluster: SimulatedCluster, gatehouse: RunningGatehouse, start: () => Promise<RunningGatehouse>) {
    this.cluster = cluster;
    this.gatehouse = gatehouse;
    this.#start = start;
  }

  /** Sends a request, as `admin` unless a token is given. */
  async ask(method: string, path: string, { token, headers = {}, body }: Asked = {}): Promise<Reply> {
    const bytes = body === undefined ? undefined : bytesOf(body);
    const bearer = token ?? (await this.tokenOf('admin'));
    const given = {
      ...(bytes && { 'Content-Type': 'application/json' }),
      Authorization: `Bearer ${bearer}`,
      ...headers,
    };
    return this.#send({ method, path, headers: Object.entries(given), ...(bytes && { body: bytes }) });
  }

  signIn(username: string, password = PASSWORD): Promise<Reply> {
    const client = { client_id: 'gatehouse', client_secret: 'gatehouse' };
    const form = new URLSearchParams({ grant_type: 'password', ...client, username, password });
    const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const;
    return this.#send({ method: 'POST', path: '/oauth/token', headers, body: Buffer.from(form.toString()) });
  }

  async newToken(username: string, password = PASSWORD): Promise<string> {
    const { status, text, body } = await this.signIn(username, password);
    if (status !== 200) throw new Error(`${username} cannot sign in: ${status} ${text}`);
    return body.access_token as string;
  }

  /** The token of a user in the users file. */
  tokenOf(name: string): Promise<string> {
    const token = this.#tokens.get(name) ?? this.newToken(name, FILE_PASSWORD);
    this.#tokens.set(name, token);
    return token;
  }

  /** Forgets the tokens of the users in the users file, because they have expired. */
  forgetTokens(): void {
    this.#tokens.clear();
  }

  create(name: string, more: NewUserParts = {}, token?: string): Promise<Reply> {
    return this.ask('POST', USERS, { body: newUser(name, more), ...(token && { token }) });
  }

  /** Creates a user, and resolves when Gatehouse sees it. */
  async made(name: string, more: NewUserParts = {}): Promise<Reply> {
    const { status, text } = await this.create(name, more);
    if (status !== 200) throw new Error(`${name} is not made: ${status} ${text}`);
    for (;;) {
      const seen = await this.ask('GET', `${USERS}/${name}`);
      const role = more.annotations?.[ROLE];
      if (seen.status === 200 && seen.body.status && (!role || seen.body.metadata.annotations[ROLE] === role))
        return seen;
      await this.pass();
    }
  }

  /**
   * Reads a user, changes it and sends it back. After a 409 it does that again, like clients: the time of the last sign-in is written
   * some time after the sign-in, and a replica sees its own write a moment later.
   */
  async update(name: string, change: (user: Reply['body']) => object, token?: string): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const { body } = await this.ask('GET', `${USERS}/${name}`);
      const answer = await this.ask('PUT', `${USERS}/${name}`, { body: change(body), ...(token && { token }) });
      if (answer.status !== 409 || attempt === MOST_ATTEMPTS) return answer;
      await this.pass();
    }
  }

  /** The names of a user's objects that are in the cluster, by kind. */
  leftOf(name: string): { users: string[]; bindings: string[]; secrets: string[] } {
    const { objects } = this.cluster;
    const secret = secretOf(name);
    const namesOf = (plural: string) => objects.list(plural).map(({ metadata }) => metadata.name);
    return {
      users: namesOf('users').filter((one) => one === name),
      bindings: namesOf('clusterrolebindings').filter(
        (one) => one.startsWith(`${name}-platform`) || one.startsWith(`${name}-users`),
      ),
      secrets: namesOf('secrets').filter((one) => one === secret),
    };
  }

  async metric(series: string): Promise<number> {
    const line = (await this.metrics()).split('\n').find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.gatehouse.metricsPort}/metrics`)).text();
  }

  /** Lets a little time pass. */
  pass: () => Promise<unknown> = () => new Promise((resolve) => setTimeout(resolve, 5));

  /** Waits for an answer; a test with a clock of its own lets time pass meanwhile. */
  during: <T>(promise: Promise<T>) => Promise<T> = (promise) => promise;

  async #send(request: Parameters<typeof exchange>[1]): Promise<Reply> {
    const answer = await this.during(exchange(this.gatehouse.port, request));
    const isJson = answer.headers['content-type']?.startsWith('application/json') && answer.text !== '';
    return { ...answer, body: isJson ? JSON.parse(answer.text) : undefined };
  }

  /** Stops Gatehouse and starts another one, which remembers nothing. */
  async restarted(): Promise<WriteStand> {
    await this.gatehouse.stop();
    return new WriteStand(this.cluster, await this.#start(), this.#start);
  }

  /** Starts another replica on the same cluster. Stop its `gatehouse` before this one. */
  async replica(): Promise<WriteStand> {
    return new WriteStand(this.cluster, await this.#start(), this.#start);
  }

  async stop(): Promise<void> {
    await this.gatehouse.stop();
    await this.cluster.stop();
  }
}

const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

export const secretOf = (name: string): string => passwordSecretName('gatehouse-password-', name);

export interface NewUserParts {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly state?: string;
}

export const newUser = (name: string, { spec, annotations, labels, state }: NewUserParts = {}): object => ({
  apiVersion: `${PREFIX}/v1alpha2`,
  kind: 'User',
  metadata: { name, ...(annotations && { annotations }), ...(labels && { labels }) },
  spec: { email: `${name}@example.com`, ...spec },
  ...(state !== undefined && { status: { state } }),
});

/** Starts a stand. The test file must call `stop` after its tests. */
export async function startWriteStand(options: WriteStandOptions = {}): Promise<WriteStand> {
  const { config, fill, people, assigners = [], ...rest } = options;
  const everybody = Object.entries({ admin: ADMIN, joe: {}, ...people } as Record<string, FilePerson>);
  const cluster = await startSimulatedCluster();
  cluster.objects.create('secrets', await signingKeySecret());
  const named = everybody.flatMap(([name, { isAssigner }]) => (isAssigner ? [name] : []));
  deployRights(cluster, [...named, ...assigners]);
  for (const [name, { rules }] of everybody) if (rules) grant(cluster, name, rules);
  fill?.(cluster);
  const users = await usersFile(everybody);
  const start = (): Promise<RunningGatehouse> =>
    startGatehouse({
      kubeconfig: cluster.kubeconfig(OWN_TOKEN),
      users,
      config: {
        accounts: { enabled: true },
        sessions: { store: 'kubernetes' },
        ...config,
      },
      ...rest,
    });
  return new WriteStand(cluster, await start(), start);
}

/** Gives a user of the cluster these rights. */
function grant({ objects }: SimulatedCluster, name: string, rules: readonly PolicyRule[]): void {
  const role = `rights-of-${name}`;
  const metadata = { name: role };
  objects.create('clusterroles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules });
  objects.create('clusterrolebindings', binding({ role, to: { kind: 'User', name } }));
}

async function usersFile(people: readonly (readonly [string, FilePerson])[]): Promise<string> {
  const passwordHash = await hashOf(FILE_PASSWORD);
  const users = people.map(([name, { groups = [], email }]) => ({
    name,
    groups,
    passwordHash,
    ...(email && { email }),
  }));
  return JSON.stringify({ users });
}
