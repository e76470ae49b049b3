import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../cluster/eventually.ts';
import { type Gatehouse, startGatehouse } from '../cluster/gatehouse.ts';
import { endTls } from '../cluster/tls-front.ts';
import { node } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { runTool } from '../support/control-plane/clients.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { selfSigned } from '../support/self-signed.ts';
import { blockBelow, clientsOfPage, ISSUER } from './settings-page.ts';

/** The client of docs/browser-sign-in.md, whose ID tokens live for a minute, the least that can be configured, and one with a secret. */
export const PUBLIC = 'kubernetes';
export const CONFIDENTIAL = { name: 'console', secret: 'made-up-secret-of-console' };
const CLIENTS = [
  ...clientsOfPage('made-up-secret', { '15m   #': '1m   #' }),
  { ...CONFIDENTIAL, redirectURIs: ['http://localhost:8000'] },
];

/** A real kube-apiserver that verifies the ID tokens of Gatehouse, and Gatehouse, behind https. Group `readers` may list its one node. */
export interface KubectlStand {
  readonly gatehouse: Gatehouse;
  readonly issuer: string;
  /** The certificate of the issuer, in PEM. */
  readonly ca: string;
  /** Makes the kubeconfig of a person who signs in with oidc-login. */
  person(login?: Partial<Login>): Promise<Person>;
}

interface Login {
  readonly clientId: string;
  readonly clientSecret: string;
  /** More arguments of the plug-in. */
  readonly args: readonly string[];
}

/** Starts it for the tests of a file. */
export async function startKubectlStand(): Promise<KubectlStand> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-kubectl-'));
  const [kubectl, plugin] = [await clusterTool('kubectl'), await clusterTool('oidcLogin')];
  const [port, frontPort] = (await freePorts(2)) as [number, number];
  const issuer = `https://localhost:${frontPort}/oauth`;
  const { cert, key } = selfSigned('localhost');
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, cert);
  const front = endTls({ cert, key, port }).listen(frontPort, '127.0.0.1');
  const authentication = join(folder, 'authentication.json');
  await writeFile(authentication, JSON.stringify(trusting(issuer, cert)));
  const cluster = await startControlPlane({ apiServerArgs: [`--authentication-config=${authentication}`] });
  const config = { authentication: { oauthOptions: { issuer, clients: CLIENTS } } };
  const gatehouse = await startGatehouse(cluster, { ada: ['readers'] }, { port, config });
  afterAll(async () => {
    await gatehouse.stop();
    await cluster.stop();
    front.close();
    await rm(folder, { recursive: true, force: true });
  });
  await cluster.kubectl(['create', '--filename=-'], JSON.stringify(node('node-a')));
  await cluster.kubectl(['create', 'clusterrole', 'list-nodes', '--verb=list', '--resource=nodes']);
  await cluster.kubectl(['create', 'clusterrolebinding', 'list-nodes', '--clusterrole=list-nodes', '--group=readers']);
  await untilTrusted(cluster, kubectl, gatehouse);
  const person = async ({ clientId = PUBLIC, clientSecret, args = [] }: Partial<Login> = {}): Promise<Person> => {
    const own = await mkdtemp(join(folder, 'person-'));
    const cacheFolder = join(own, 'oidc-login');
    const forTests = {
      ...(clientSecret === undefined ? {} : { 'oidc-client-secret': clientSecret }),
      'certificate-authority': caFile,
      'token-cache-dir': cacheFolder,
      'listen-address': '127.0.0.1:0',
    };
    const more = Object.entries(forTests).map(([name, value]) => `--${name}=${value}`);
    const words = [...flagsOfPage({ [ISSUER]: issuer, [`=${PUBLIC}`]: `=${clientId}` }), ...more, ...args];
    const kubeconfig = join(own, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify(kubeconfigOf(cluster, plugin, words)), { mode: 0o600 });
    return new Person({
      kubectl: [kubectl, '--kubeconfig', kubeconfig],
      plugin: [plugin, ...words],
      cacheFolder,
      folder: own,
    });
  };
  return { gatehouse, issuer, ca: cert, person };
}

/** The API server reads our keys and sees the binding a moment later. */
async function untilTrusted(cluster: ControlPlane, kubectl: string, gatehouse: Gatehouse): Promise<void> {
  const { name: client_id, secret: client_secret } = CONFIDENTIAL;
  const grant = { grant_type: 'password', client_id, client_secret, scope: 'openid groups' };
  const body = new URLSearchParams({ ...grant, username: 'ada', password: 'ada-password' });
  const answer = await fetch(`${gatehouse.url}/oauth/token`, { method: 'POST', body });
  const { id_token } = (await answer.json()) as { readonly id_token?: string };
  if (id_token === undefined) throw new Error('the password grant gives no ID token');
  const kubeconfig = await cluster.kubeconfigFile(id_token);
  await eventually(
    () => runTool(kubectl, ['--kubeconfig', kubeconfig, 'auth', 'can-i', 'list', 'nodes']).catch(() => 'no'),
    (can) => can === 'yes\n',
  );
}

/** The file of docs/browser-sign-in.md, for both clients. */
function trusting(url: string, certificateAuthority: string): object {
  const file = parse(blockBelow('kube-apiserver', { [ISSUER]: url }));
  const [{ issuer }] = file.jwt;
  issuer.audiences.push(CONFIDENTIAL.name);
  Object.assign(issuer, { certificateAuthority, audienceMatchPolicy: 'MatchAny' });
  return file;
}

/** What docs/browser-sign-in.md passes to kubelogin. */
function flagsOfPage(replaced: Readonly<Record<string, string>>): readonly string[] {
  const [{ user }] = parse(blockBelow('kubelogin', replaced)).users;
  return (user.exec.args as string[]).filter((word) => word.startsWith('--'));
}

const kubeconfigOf = (cluster: ControlPlane, command: string, args: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'test', cluster: { server: cluster.url, 'certificate-authority': cluster.caFile } }],
  users: [
    {
      name: 'test',
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command, args, interactiveMode: 'Never' } },
    },
  ],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  'current-context': 'test',
});

interface PersonParts {
  readonly kubectl: readonly string[];
  readonly plugin: readonly string[];
  /** Where the plug-in keeps tokens. */
  readonly cacheFolder: string;
  readonly folder: string;
}

/** A person with a kubeconfig, at a terminal. */
export class Person {
  readonly #parts: PersonParts;

  constructor(parts: PersonParts) {
    this.#parts = parts;
  }

  get cacheFolder(): string {
    return this.#parts.cacheFolder;
  }

  /** Starts kubectl with these arguments. */
  kubectl = (args: readonly string[]): Running => this.#start([...this.#parts.kubectl, ...args]);

  /** Starts the plug-in by itself. kubectl starts it again after a failure, several times. */
  plugin = (): Running => this.#start(this.#parts.plugin);

  /** Starts a program, which ends after the test at the latest. */
  #start([program = '', ...args]: readonly string[]): Running {
    const { folder } = this.#parts;
    const env = { ...process.env, KUBECACHEDIR: join(folder, 'cache') };
    const child = spawn(program, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a group of processes, so that the plug-in ends as well
    });
    const texts = { stdout: '', stderr: '' };
    const state = { hasEnded: false };
    child.stdout.setEncoding('utf8').on('data', (text) => (texts.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (texts.stderr += text));
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        state.hasEnded = true;
        resolve({ code, ...texts });
      });
    });
    atEnd(async () => {
      if (child.pid === undefined || state.hasEnded) return;
      process.kill(-child.pid, 'SIGKILL');
      await ended;
    });
    return { said: () => texts.stderr, hasEnded: () => state.hasEnded, ended };
  }
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  /** What the program and the plug-in have written on standard error so far. */
  said(): string;
  hasEnded(): boolean;
  readonly ended: Promise<Ended>;
}
