import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:tls';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTool } from '../support/cluster-tools.ts';
import { runTool } from '../support/control-plane/clients.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { selfSigned } from '../support/self-signed.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { endTls } from './tls-front.ts';

const CLIENT = { client_id: 'cluster', client_secret: 'made-up-secret-of-the-cluster' };

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** The members of a kubeconfig's user that client-go writes after a refresh. */
interface ProviderConfig {
  readonly 'id-token': string;
  readonly 'refresh-token': string;
}

describe('a kube-apiserver that verifies our ID tokens itself, by structured authentication', () => {
  let folder: string;
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  let front: Server;
  let issuer: string;
  let kubectl: string;
  let caFile: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-oidc-'));
    kubectl = await clusterTool('kubectl');
    const [port, frontPort] = (await freePorts(2)) as [number, number];
    issuer = `https://localhost:${frontPort}/oauth`;
    const { cert, key } = selfSigned('localhost');
    caFile = join(folder, 'ca.pem');
    await writeFile(caFile, cert);
    front = endTls({ cert, key, port }).listen(frontPort, '127.0.0.1');
    const authentication = join(folder, 'authentication.json');
    await writeFile(authentication, JSON.stringify(trusting(issuer, cert)));
    cluster = await startControlPlane({ apiServerArgs: [`--authentication-config=${authentication}`] });
    const client = { name: CLIENT.client_id, secret: CLIENT.client_secret, idTokenMaxAge: '15m' };
    const config = { authentication: { oauthOptions: { issuer, clients: [client] } } };
    gatehouse = await startGatehouse(cluster, { ada: ['readers'], joe: [] }, { port, config });
    await cluster.kubectl(['create', 'clusterrole', 'list-nodes', '--verb=list', '--resource=nodes']);
    await cluster.kubectl([
      'create',
      'clusterrolebinding',
      'list-nodes',
      '--clusterrole=list-nodes',
      '--group=readers',
    ]);
    // The API server reads our keys and sees the binding a moment later.
    const { id_token } = await signIn('ada');
    await eventually(
      () => kubectlAs({ token: id_token }, ['auth', 'can-i', 'list', 'nodes']).catch(() => 'no'),
      (answer) => answer === 'yes\n',
    );
  });
  afterAll(async () => {
    await gatehouse?.stop();
    await cluster?.stop();
    front?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function signIn(username: string): Promise<Tokens> {
    const form = { ...CLIENT, grant_type: 'password', username, password: `${username}-password` };
    const body = new URLSearchParams({ ...form, scope: 'openid groups' });
    return (await (await fetch(`${gatehouse.url}/oauth/token`, { method: 'POST', body })).json()) as Tokens;
  }

  let files = 0;
  /** Writes a kubeconfig with this user. */
  async function kubeconfig(user: object): Promise<string> {
    const file = join(folder, `kubeconfig-${files++}.json`);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: cluster.url, 'certificate-authority': cluster.caFile } }],
      users: [{ name: 'test', user }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    };
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  const kubectlWith = (file: string, args: readonly string[]): Promise<string> =>
    runTool(kubectl, ['--kubeconfig', file, ...args]);
  const kubectlAs = async (user: object, args: readonly string[]): Promise<string> =>
    kubectlWith(await kubeconfig(user), args);

  /** The user of client-go's own provider `oidc`. Without an ID token it begins with a refresh. */
  const provider = ({ refresh_token }: Tokens) => ({
    'auth-provider': {
      name: 'oidc',
      config: {
        'idp-issuer-url': issuer,
        'idp-certificate-authority': caFile,
        'client-id': CLIENT.client_id,
        'client-secret': CLIENT.client_secret,
        'refresh-token': refresh_token,
      },
    },
  });

  /** What client-go has written into the kubeconfig, which is YAML by then. */
  async function providerConfig(file: string): Promise<ProviderConfig> {
    const json = await kubectlWith(file, ['config', 'view', '--raw', '--output', 'json']);
    return JSON.parse(json).users[0].user['auth-provider'].config;
  }

  test('ID-02 it knows our user and the groups by an ID token of ours', async () => {
    const { id_token: token } = await signIn('ada');
    const whoAmI = await kubectlAs({ token }, ['auth', 'whoami', '--output', 'json']);
    expect(JSON.parse(whoAmI).status.userInfo).toMatchObject({
      username: 'gatehouse:ada',
      groups: ['readers', 'system:authenticated'],
    });
    expect(await kubectlAs({ token }, ['get', 'nodes', '--output', 'name'])).toBe('');
    const { id_token: joes } = await signIn('joe');
    await expect(kubectlAs({ token: joes }, ['get', 'nodes'])).rejects.toThrow(/User "gatehouse:joe" cannot list/);
  });

  test('ID-06 it refuses our access tokens and refresh tokens', async () => {
    const { access_token, refresh_token } = await signIn('ada');
    for (const token of [access_token, refresh_token])
      await expect(kubectlAs({ token }, ['get', 'nodes'])).rejects.toThrow(/must be logged in|Unauthorized/);
  });

  test('ID-01 ID-04 kubectl’s provider oidc gets an ID token by a refresh, uses it until it ends, and gets the next', async () => {
    const file = await kubeconfig(provider(await signIn('ada')));
    const list = () => kubectlWith(file, ['get', 'nodes', '--output', 'name']);
    expect(await list()).toBe('');
    const first = await providerConfig(file);
    const { exp = 0, iat = 0 } = decodeJwt(first['id-token']);
    expect(exp - iat).toBe(900);
    expect(await list()).toBe('');
    expect(await providerConfig(file)).toEqual(first);
    await replaceIn(file, first['id-token'], expired(first['id-token']));
    expect(await list()).toBe('');
    const second = await providerConfig(file);
    expect(decodeJwt(second['id-token'])).toMatchObject({ sub: 'ada', sid: decodeJwt(first['id-token'])['sid'] });
    expect(second['refresh-token']).not.toBe(first['refresh-token']);
  });

  test('T-31 the provider gets no ID token after a sign-out', async () => {
    const tokens = await signIn('ada');
    const file = await kubeconfig(provider(tokens));
    expect((await gatehouse.get('/oauth/logout', tokens.access_token)).status).toBe(200);
    await expect(kubectlWith(file, ['get', 'nodes'])).rejects.toThrow(/invalid_grant/);
  });
});

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration */
const trusting = (issuer: string, certificateAuthority: string) => ({
  apiVersion: 'apiserver.config.k8s.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: { url: issuer, certificateAuthority, audiences: [CLIENT.client_id] },
      claimMappings: {
        username: { claim: 'sub', prefix: 'gatehouse:' },
        groups: { claim: 'groups', prefix: '' },
      },
    },
  ],
});

/** The token with an end in the past. Its signature is wrong then, which client-go does not check. */
function expired(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = { ...decodeJwt(token), exp: 1 };
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

async function replaceIn(file: string, old: string, text: string): Promise<void> {
  const before = await readFile(file, 'utf8');
  expect(before).toContain(old);
  await writeFile(file, before.replace(old, text), { mode: 0o600 });
}
