import { setTimeout as sleep } from 'node:timers/promises';
import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { eventually } from '../cluster/eventually.ts';
import { served } from '../cluster/served.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { waitFor } from '../support/waiting.ts';
import { NAMESPACE } from './helm.ts';
import { type InstalledProgram, installChart, startConfiguredProgram } from './installed-program.ts';

const USERS = '/kapis/iam.gatehouse.io/v1alpha2/users';
const PASSWORD = 'Long-enough-1';
/** The first of the ClusterRoles that name whom Gatehouse may impersonate. */
export const ROLE = `${NAMESPACE}:gatehouse:gateway:accounts-0`;
/** The policy on what Gatehouse writes into them, and its binding. */
export const POLICY = `${NAMESPACE}.gatehouse.impersonation`;

export interface Asked {
  readonly method?: string;
  readonly json?: unknown;
  readonly replica?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface NewUser {
  readonly groups?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly role?: string;
  readonly state?: 'Disabled';
}

export interface UserChange extends Pick<NewUser, 'groups' | 'labels'> {
  readonly state?: 'Active' | 'Disabled';
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
}

/** Two replicas behind no load balancer, installed by the chart on a real API server, and their first administrator. */
export class FollowedStand {
  readonly cluster: ControlPlane;
  readonly replicas: InstalledProgram[];
  /** The access token of the first administrator. */
  admin = '';

  private constructor(cluster: ControlPlane, replicas: InstalledProgram[]) {
    this.cluster = cluster;
    this.replicas = replicas;
  }

  static async start(values: object, usersFile?: string): Promise<FollowedStand> {
    const cluster = await startControlPlane();
    const stand = new FollowedStand(cluster, []);
    try {
      await installChart(cluster, values);
      await served(cluster, 'users.iam.gatehouse.io', 'loginrecords.iam.gatehouse.io');
      await cluster.kubectl([
        'create',
        'clusterrole',
        'leader',
        '--verb=impersonate',
        '--resource=groups',
        '--resource-name=team-a',
      ]);
      await cluster.kubectl(['create', 'clusterrolebinding', 'leader', '--clusterrole=leader', '--user=admin']);
      const started = [startConfiguredProgram(cluster, usersFile), startConfiguredProgram(cluster, usersFile)];
      stand.replicas.push(...(await Promise.all(started)));
      await stand.signInAdmin();
      return stand;
    } catch (error) {
      await stand.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await this.cluster.stop();
  }

  async signInAdmin(): Promise<void> {
    const read = ['-n', NAMESPACE, 'get', 'secret', 'gatehouse-first-administrator', '-o', 'jsonpath={.data.password}'];
    const password = Buffer.from(await this.cluster.kubectl(read), 'base64').toString();
    this.admin = await eventually(() => this.signIn('admin', password), Boolean);
  }

  /** An access token; `''` when the sign-in is refused. Asks again while the replica is busy. */
  async signIn(username: string, password = PASSWORD, replica = 0): Promise<string> {
    const form = { grant_type: 'password', client_id: 'gatehouse', username, password };
    const url = `${this.replicas[replica]!.url}/oauth/token`;
    const { body } = await eventually(
      async () => {
        const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
        return { status: answer.status, body: (await answer.json()) as { access_token?: string } };
      },
      ({ status }) => status !== 429 && status !== 503,
    );
    return body.access_token ?? '';
  }

  async call(token: string, path: string, { method = 'GET', json, replica = 0, headers }: Asked = {}): Promise<Answer> {
    const answer = await fetch(this.replicas[replica]!.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  }

  /** The answer to a call to the cluster that every user may make. */
  api = (token: string, asked: Asked = {}): Promise<Answer> => this.call(token, '/api', asked);

  /** Asks for a new user, as `token`. */
  create(
    token: string,
    name: string,
    { groups, labels, role, state }: NewUser = {},
    asked: Asked = {},
  ): Promise<Answer> {
    const annotations = {
      'iam.gatehouse.io/uninitialized': '',
      ...(role !== undefined && { 'iam.gatehouse.io/globalrole': role }),
    };
    const json = {
      metadata: { name, annotations, ...(labels && { labels }) },
      spec: { email: '', password: PASSWORD, ...(groups && { groups }) },
      ...(state && { status: { state } }),
    };
    return this.call(token, USERS, { ...asked, method: 'POST', json });
  }

  /** Makes a user as the administrator, and signs the user in. */
  async invite(name: string, user: NewUser = {}): Promise<string> {
    const { status, body } = await this.create(this.admin, name, user);
    if (status !== 200) throw new Error(`${name}: ${status} ${body.message}`);
    return this.signInNew(name);
  }

  /** Signs a new user in. A watch may show the user late; five refusals would throttle the name. */
  signInNew = (name: string): Promise<string> =>
    waitFor(() => this.signIn(name), Boolean, { turn: () => sleep(1_000), looks: 4 });

  /** Reads a user as the administrator and sends it back changed, as `token`; again if the user has changed in between. */
  change(token: string, name: string, change: UserChange, asked: Asked = {}): Promise<Answer> {
    return eventually(
      () => this.#changeOnce(token, name, change, asked),
      ({ status }) => status !== 409,
    );
  }

  async #changeOnce(token: string, name: string, { labels, groups, state }: UserChange, asked: Asked): Promise<Answer> {
    const { body } = await this.call(this.admin, `${USERS}/${name}`, asked);
    const json = {
      ...body,
      metadata: { ...body.metadata, ...(labels && { labels }) },
      spec: { ...body.spec, ...(groups && { groups }) },
      status: { ...body.status, ...(state && { state }) },
    };
    return this.call(token, `${USERS}/${name}`, { ...asked, method: 'PUT', json });
  }

  remove = (token: string, name: string, asked: Asked = {}): Promise<Answer> =>
    this.call(token, `${USERS}/${name}`, { ...asked, method: 'DELETE' });

  async rulesOf(role = ROLE): Promise<readonly V1PolicyRule[]> {
    const text = await this.cluster.kubectl(['get', 'clusterrole', role, '-o', 'json']);
    return (JSON.parse(text) as V1ClusterRole).rules ?? [];
  }

  /** Whether the API server would let Gatehouse's account name the group of those who may do everything: only without the policy. */
  async mayNameEverybody(): Promise<boolean> {
    const rule = { apiGroups: [''], resources: ['groups'], resourceNames: ['system:masters'], verbs: ['impersonate'] };
    const patch = ['patch', 'clusterrole', ROLE, '--type=merge', `--patch=${JSON.stringify({ rules: [rule] })}`];
    const asGatehouse = ['--dry-run=server', `--as=system:serviceaccount:${NAMESPACE}:gatehouse`];
    return this.cluster.kubectl([...patch, ...asGatehouse]).then(
      () => true,
      (error: Error) => {
        if (/ValidatingAdmissionPolicy '/.test(error.message)) return false;
        throw error;
      },
    );
  }

  async namesOf(resource: 'users' | 'groups', role = ROLE): Promise<readonly string[]> {
    const rules = await this.rulesOf(role);
    return rules
      .filter(({ resources }) => resources!.includes(resource))
      .flatMap(({ resourceNames }) => resourceNames!);
  }

  /** Waits until the role names exactly these. */
  async untilNamed(resource: 'users' | 'groups', ...names: readonly string[]): Promise<void> {
    await eventually(
      () => this.namesOf(resource),
      (found) => found.join() === [...names].sort().join(),
    );
  }

  /** Waits until the role does not name it. */
  async untilGone(resource: 'users' | 'groups', name: string): Promise<void> {
    await eventually(
      () => this.namesOf(resource),
      (found) => !found.includes(name),
    );
  }
}
