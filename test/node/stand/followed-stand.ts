import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ClusterRole, V1Lease, V1Pod } from '@kubernetes/client-node';
import type { Agent } from 'undici';
import { inject } from 'vitest';
import { eventually } from '../../cluster/eventually.ts';
import { apiDispatcher } from '../../support/control-plane/api-dispatcher.ts';
import { runTool } from '../../support/control-plane/clients.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { NODE_ADDRESS } from '../kubernetes/place.ts';
import { Caller } from './caller.ts';
import { kubectl } from './kubectl.ts';
import { Release } from './release.ts';
import { Way } from './way.ts';
import { BENCH, list } from './workload.ts';

const CLIENT = join(import.meta.dirname, '..', '..', '..', 'src', 'client.ts');
const SERVER_NAME = 'gatehouse.example';
const TLS_SECRET = 'gatehouse-tls';
const USERS = '/kapis/iam.gatehouse.io/v1alpha2/users';
const PORT = 9090;
const PASSWORD = 'First-of-somebody-1';
/** The group of those who may edit in the namespace for work. */
const TEAM = 'team-a';

/** A replica: its pod, and somebody who calls it there. */
export interface Replica {
  readonly pod: V1Pod;
  readonly caller: Caller;
}

/** A release whose gateway follows the accounts, the administrator of its users, and people with kubectl. */
export class FollowedStand {
  readonly release: Release;
  /** Where people work. */
  readonly namespace: string;
  readonly #folder: string;
  #tls: Agent | undefined;
  #cluster: Caller | undefined;
  #clusterTls: Agent | undefined;
  #clusterToken = '';
  #caller: Caller | undefined;
  #administrator = '';

  private constructor(namespace: string, folder: string) {
    this.release = new Release(namespace);
    this.namespace = `${namespace}-work`;
    this.#folder = folder;
  }

  static async start(namespace: string): Promise<FollowedStand> {
    const stand = new FollowedStand(namespace, await mkdtemp(join(tmpdir(), 'gatehouse-followed-')));
    await stand.#install();
    return stand;
  }

  get caller(): Caller {
    if (!this.#caller) throw new Error('nothing is installed');
    return this.#caller;
  }

  async invite(name: string): Promise<void> {
    const body = { metadata: { name }, spec: { email: '', password: PASSWORD, groups: [TEAM] } };
    const { status, body: said } = await this.caller.send('POST', USERS, this.#administrator, body);
    if (status !== 200) throw new Error(`the invitation of ${name} was answered ${status}: ${JSON.stringify(said)}`);
  }

  /** Answers when the cluster has the state. */
  async setState(name: string, state: 'Active' | 'Disabled', caller = this.caller): Promise<void> {
    const changed = await eventually(
      async () => {
        const { body } = await caller.get(`${USERS}/${name}`, this.#administrator);
        return caller.send('PUT', `${USERS}/${name}`, this.#administrator, {
          ...body,
          status: { ...body.status, state },
        });
      },
      ({ status }) => status !== 409,
    );
    if (changed.status !== 200) throw new Error(`the change of ${name} was answered ${changed.status}`);
  }

  async delete(name: string, caller = this.caller): Promise<void> {
    const { status } = await caller.send('DELETE', `${USERS}/${name}`, this.#administrator);
    if (status !== 200) throw new Error(`the deletion of ${name} was answered ${status}`);
  }

  /** An access token; `''` as long as the sign-in is refused. */
  async signIn(name: string, caller = this.caller): Promise<string> {
    const { body } = await caller.token({ grant_type: 'password', username: name, password: PASSWORD });
    return body.access_token ?? '';
  }

  /** The status of a call to the cluster that members of the group may make. */
  async calls(token: string, caller = this.caller): Promise<number> {
    return (await caller.get(`/api/v1/namespaces/${this.namespace}/configmaps`, token)).status;
  }

  /** Somebody at a machine of his or her own, with what `gatehouse kubeconfig` prints there; kubectl signs in with the password. */
  async sitDown(name: string): Promise<Way> {
    const home = join(this.#folder, name);
    await mkdir(home, { recursive: true });
    const [file, password] = [join(home, 'kubeconfig'), join(home, 'password')];
    await writeFile(password, PASSWORD);
    const session = [...this.#session(), '--username', name, '--password-file', password];
    await writeFile(
      file,
      await this.#run(home, 'kubeconfig', ...session, '--namespace', this.namespace, '--command', this.#program),
    );
    // A replica that did not make the user hears of it within a second.
    const signedIn = () => this.#run(home, 'login', ...session).then(() => true, String);
    await eventually(signedIn, (said) => said === true);
    return Way.with(file, { namespace: this.namespace, server: this.caller.url, home });
  }

  /** By a token, at one replica. */
  wayTo({ caller }: Replica, name: string, token: string): Promise<Way> {
    return Way.open({
      namespace: this.namespace,
      server: caller.url,
      caFile: this.#certificate,
      serverName: SERVER_NAME,
      token,
      home: this.#folder,
      name,
    });
  }

  /** The replica that holds the Lease, with the identity that the Lease has, and the other one. */
  async replicas(): Promise<{ readonly leader: Replica; readonly other: Replica; readonly identity: string }> {
    const pods = await this.release.pods();
    const identity = await this.holder();
    if (pods.length !== 2) throw new Error(`there are ${pods.length} pods`);
    const logs = pods.map(({ metadata }) => this.release.kubectl(['logs', metadata!.name!]));
    const at = (await Promise.all(logs)).findIndex((log) => log.includes(`"identity":"${identity}"`));
    const [leader, other] = [pods[at], pods[1 - at]].map((pod) => (pod ? this.#replica(pod) : undefined));
    if (!leader || !other) throw new Error('no replica has said that it holds the Lease');
    return { leader, other, identity };
  }

  /** The identity that the Lease has. */
  async holder(): Promise<string> {
    return (await this.release.get<V1Lease>('lease', 'gatehouse-accounts')).spec?.holderIdentity ?? '';
  }

  /** The users whom the ClusterRole names, by a request of the administrator of the cluster. */
  async named(resource: 'users' | 'groups' = 'users'): Promise<readonly string[]> {
    const role = `${this.release.namespace}:gatehouse:gateway:accounts-0`;
    const { body } = await this.#cluster!.get(
      `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`,
      this.#clusterToken,
    );
    const rules = ((body as V1ClusterRole).rules ?? []).filter(({ resources }) => resources?.includes(resource));
    return rules.flatMap(({ resourceNames }) => resourceNames ?? []);
  }

  async remove(): Promise<void> {
    const { namespace } = this.release;
    await kubectl(['delete', 'users', '--all', '--timeout=1m']).catch(() => undefined);
    await this.release.remove();
    await kubectl(['delete', 'clusterrole,clusterrolebinding', namespace, '--ignore-not-found']);
    await kubectl(['delete', 'namespace', this.namespace, '--ignore-not-found', '--wait=false']);
    await this.#tls?.close();
    await this.#clusterTls?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #certificate(): string {
    return join(this.#folder, 'tls.crt');
  }

  /** The program of the package for laptops. */
  get #program(): string {
    return join(this.#folder, 'gatehouse');
  }

  #run(home: string, ...args: readonly string[]): Promise<string> {
    return runTool('/usr/bin/env', ['-i', `HOME=${home}`, this.#program, ...args]);
  }

  #session(): readonly string[] {
    return ['--server', this.caller.url, '--certificate-authority', this.#certificate];
  }

  #replica(pod: V1Pod): Replica {
    return { pod, caller: new Caller(`https://${pod.status!.podIP}:${PORT}`, this.#tls) };
  }

  async #install(): Promise<void> {
    const { namespace } = this.release;
    const { cert, key } = selfSigned(SERVER_NAME, { addresses: [NODE_ADDRESS] });
    await writeFile(this.#certificate, cert);
    await writeFile(this.#program, `#!/bin/sh\nexec '${process.execPath}' '${CLIENT}' "$@"\n`);
    await chmod(this.#program, 0o755);
    for (const name of [namespace, this.namespace]) await kubectl(['create', 'namespace', name]);
    const secret = [
      'create',
      'secret',
      'generic',
      TLS_SECRET,
      '--type=kubernetes.io/tls',
      `--from-file=${this.#certificate}`,
    ];
    await this.release.kubectl([...secret, `--from-literal=tls.key=${key}`]);
    // Who gives a user this group has to have it to give.
    await kubectl([
      'create',
      'clusterrole',
      namespace,
      '--verb=impersonate',
      '--resource=groups',
      `--resource-name=${TEAM}`,
    ]);
    await kubectl(['create', 'clusterrolebinding', namespace, `--clusterrole=${namespace}`, '--user=admin']);
    await kubectl(['-n', this.namespace, 'create', 'rolebinding', TEAM, '--clusterrole=edit', `--group=${TEAM}`]);
    await kubectl(['-n', this.namespace, 'create', '-f', '-'], list(BENCH));
    await this.release.install({
      replicaCount: 2,
      sessions: { store: 'kubernetes' },
      service: { port: 443 },
      tls: { existingSecret: TLS_SECRET },
      // The other files' cluster has no users.
      accounts: { enabled: true, crds: { keep: false } },
      gateway: { enabled: true, accounts: { enabled: true, groups: ['team-*'] } },
    });
    this.#tls = await apiDispatcher(this.#certificate, SERVER_NAME);
    this.#caller = await this.release.caller(this.#tls);
    await this.#reachCluster();
    const { access_token: token } = await this.caller.signIn(await this.release.password());
    this.#administrator = token;
    await kubectl(['-n', this.namespace, 'wait', '--for=condition=Ready', 'pod/bench', '--timeout=2m']);
  }

  async #reachCluster(): Promise<void> {
    const { clusters, users } = JSON.parse(await readFile(inject('kubeconfig'), 'utf8'));
    const { server, 'certificate-authority': caFile } = clusters[0].cluster;
    this.#clusterTls = await apiDispatcher(caFile);
    this.#cluster = new Caller(server, this.#clusterTls);
    this.#clusterToken = users[0].user.token;
  }
}
