import { setTimeout as sleep } from 'node:timers/promises';
import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../../dev/cluster/cluster.ts';
import { atEnd } from '../../support/at-end.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { type GatehouseOptions, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { ADMINS_BINDING, ADMINS_ROLE } from '../../support/observed/people.ts';
import { hashOf } from '../../support/passwords.ts';
import { signingKeySecret } from '../../support/signing-key-secret.ts';
import { type Waiting, waitFor } from '../../support/waiting.ts';

export const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
/** The built-in client, with the secret that older programs send for it. */
export const CLIENT = { client_id: 'gatehouse', client_secret: 'gatehouse' };
/** The same as a client that has this secret: a public one may not introspect. */
export const CONFIDENTIAL = {
  oauthOptions: { clients: [{ name: CLIENT.client_id, secret: CLIENT.client_secret }] },
};

/** Ada may do everything, Joe nothing. */
export type Person = 'ada' | 'joe';
const GROUPS: Readonly<Record<Person, readonly string[]>> = { ada: ['admins'], joe: [] };
export const passwordOf = (person: Person): string => `${person}-canary-password`;

/** A users file of these, each with the group and the password above unless another is given. */
export async function usersFile(passwords: Partial<Record<Person, string>> = {}, people = ['ada', 'joe'] as Person[]) {
  const users = people.map(async (name) => {
    const passwordHash = await hashOf(passwords[name] ?? passwordOf(name));
    return { name, groups: GROUPS[name], passwordHash };
  });
  return JSON.stringify({ users: await Promise.all(users) });
}

export const node = (name: string, labels: Readonly<Record<string, string>> = {}) => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name, labels },
  status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
});

export const pod = (name: string, nodeName: string, cpu: string) => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [{ name: 'main', image: 'example.test/image', resources: { requests: { cpu } } }] },
  status: { phase: 'Running' },
});

interface ClusterOptions extends SimulatedClusterOptions {
  /** Default: a replica was there before, and has made the signing keys. */
  readonly isNew?: boolean;
  /** Since when that replica's signing key is active; default: now. */
  readonly keySinceMs?: number;
}

/** With three nodes, and with the rights of Ada. */
export async function startCluster({
  isNew = false,
  keySinceMs,
  ...options
}: ClusterOptions = {}): Promise<SimulatedCluster> {
  const [port = 0] = await freePorts(1); // a restart comes back to it
  const cluster = await startSimulatedCluster({ port, ...options });
  atEnd(() => cluster.stop());
  for (const name of ['node-a', 'node-b', 'node-c']) cluster.objects.create('nodes', node(name));
  cluster.objects.create('clusterroles', ADMINS_ROLE);
  cluster.objects.create('clusterrolebindings', ADMINS_BINDING);
  if (!isNew) cluster.objects.create('secrets', await signingKeySecret(keySinceMs));
  return cluster;
}

/** Gatehouse in front of this cluster, with Ada and Joe; each test changes one thing. */
export async function startService(
  cluster: Pick<SimulatedCluster, 'kubeconfig'>,
  change: Partial<GatehouseOptions> = {},
): Promise<Service> {
  const users = change.users ?? (await usersFile());
  const gatehouse = await startGatehouse({ kubeconfig: cluster.kubeconfig(), ...change, users });
  const stopped = { already: false };
  const stop = async (): Promise<void> => {
    if (!stopped.already) await gatehouse.stop();
    stopped.already = true;
  };
  atEnd(stop);
  return new Service({ ...gatehouse, stop });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` for any other. */
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
}

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

interface CallOptions {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

/** A running Gatehouse as its clients see it. */
export class Service {
  readonly gatehouse: RunningGatehouse;

  constructor(gatehouse: RunningGatehouse) {
    this.gatehouse = gatehouse;
  }

  async call(path: string, { method, token, headers, form }: CallOptions = {}): Promise<Answer> {
    const answer = await fetch(this.gatehouse.origin + path, {
      method: method ?? (form ? 'POST' : 'GET'),
      headers: { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** The status of `/readyz`. */
  readiness = async (): Promise<number> => (await this.call('/readyz')).status;

  list = (token: string, query = ''): Promise<Answer> => this.call(NODES + query, { token });

  signInAnswer = (username: string, password: string): Promise<Answer> =>
    this.call('/oauth/token', { form: { grant_type: 'password', ...CLIENT, username, password } });

  async signIn(person: Person, password = passwordOf(person)): Promise<Pair> {
    const answer = await this.signInAnswer(person, password);
    if (answer.status !== 200) throw new Error(`sign-in of ${person}: ${answer.status} ${answer.text}`);
    return answer.body as Pair;
  }

  refresh = (refreshToken: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    this.call('/oauth/token', {
      headers,
      form: { grant_type: 'refresh_token', ...CLIENT, refresh_token: refreshToken },
    });

  /** The whole page of the metrics port. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.gatehouse.metricsPort}/metrics`)).text();
  }

  /** The value of one series, written as on the page; 0 when it is not there. */
  async metric(series: string): Promise<number> {
    const line = (await this.metrics()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  }

  /** Log lines with this message. */
  logged = (message: string) => this.gatehouse.log.filter((line) => line['msg'] === message);
}

/** The checks of `/readyz` that fail and do not count. */
export async function shownAsFailing(service: Service): Promise<string[]> {
  const { text } = await service.call('/readyz?verbose');
  return [...text.matchAll(/^\[-\](\S+) failed: .* \(does not count\)$/gm)].map(([, name = '']) => name);
}

/** 5,000 looks, 10 ms apart: 50 s. With a clock that the test moves, 5,000 steps of it. */
const LOOKS = 5_000;

/**
 * What `read` answers as soon as it is so; `pass` is what happens between two looks, 10 ms unless a clock is moved. `lost` says why it
 * cannot come about any more.
 */
export const eventually = <T>(
  read: () => T | Promise<T>,
  isSo: (value: T) => boolean,
  pass: () => Promise<unknown> = () => sleep(10),
  lost?: Waiting['lost'],
): Promise<T> => waitFor(read, isSo, { turn: pass, looks: LOOKS, lost });
