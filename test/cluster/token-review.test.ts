import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from 'node:tls';
import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { selfSigned } from '../support/self-signed.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { endTls } from './tls-front.ts';

const SERVICE_ACCOUNTS = 'https://kubernetes.default.svc';
const NODES = '/api/v1/nodes';
const NAMESPACES = '/api/v1/namespaces';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
}

describe.each(['v1', 'v1beta1'])('kube-apiserver with our TokenReview webhook in %s', (version) => {
  let folder: string;
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  let dispatcher: Dispatcher;
  let front: Server;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-webhook-'));
    const [port, frontPort] = (await freePorts(2)) as [number, number];
    const { cert, key } = selfSigned('localhost');
    front = endTls({ cert, key, port }).listen(frontPort, '127.0.0.1');
    const caller = randomBytes(24).toString('base64url');
    const callerTokenFile = join(folder, 'caller-token');
    await writeFile(callerTokenFile, caller, { mode: 0o600 });
    const webhook = join(folder, 'webhook.yaml');
    await writeFile(
      webhook,
      kubeconfig({ server: `https://127.0.0.1:${frontPort}/oauth/authenticate`, cert, token: caller }),
      { mode: 0o600 },
    );
    cluster = await startControlPlane({
      apiServerArgs: [
        `--authentication-token-webhook-config-file=${webhook}`,
        `--authentication-token-webhook-version=${version}`,
        '--authentication-token-webhook-cache-ttl=1s',
        `--api-audiences=${SERVICE_ACCOUNTS},http://localhost:${port}/oauth`,
      ],
    });
    const users = { ada: ['readers'], joe: [] };
    gatehouse = await startGatehouse(cluster, users, {
      port,
      config: { authentication: { tokenReview: { callerTokenFile } } },
    });
    await allow('nodes', '--group=readers');
    await allow('namespaces', '--user=joe');
    dispatcher = await apiDispatcher(cluster.caFile);
  });
  afterAll(async () => {
    await dispatcher?.close();
    await gatehouse?.stop();
    await cluster?.stop();
    front?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function allow(resource: string, subject: string): Promise<void> {
    await cluster.kubectl(['create', 'clusterrole', `list-${resource}`, '--verb=list', `--resource=${resource}`]);
    await cluster.kubectl([
      'create',
      'clusterrolebinding',
      `list-${resource}`,
      `--clusterrole=list-${resource}`,
      subject,
    ]);
  }

  async function call(path: string, token: string, body?: object): Promise<Answer> {
    const answer = await request(cluster.url + path, {
      dispatcher,
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.statusCode, body: await answer.body.json() };
  }

  const statusOf = (path: string, token: string) => async () => (await call(path, token)).status;

  test('N-58 it knows our user by an access token of ours', async () => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { status, body } = await call(path, await gatehouse.signIn('ada'), review);
    expect(status).toBe(201);
    expect(body.status.userInfo).toMatchObject({
      username: 'ada',
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      groups: ['readers', 'system:authenticated'],
    });
  });

  test('N-58 RBAC applies to our group and to our user', async () => {
    const [ada, joe] = [await gatehouse.signIn('ada'), await gatehouse.signIn('joe')];
    await eventually(statusOf(NODES, ada), 200); // RBAC sees a new binding a moment later
    await eventually(statusOf(NAMESPACES, joe), 200);
    const refused = await call(NAMESPACES, ada);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'namespaces is forbidden: User "ada" cannot list resource "namespaces" in API group "" at the cluster scope',
    ]);
    expect((await call(NODES, joe)).status).toBe(403);
  });

  test.each(['garbage', 'e30.e30.e30'])('N-59 it answers 401 to %s, as to any bad token', async (token) => {
    const { status, body } = await call(NODES, token);
    expect([status, body.reason]).toEqual([401, 'Unauthorized']);
    expect(await gatehouse.metric('gatehouse_token_reviews_total{result="invalid"}')).toBeGreaterThan(0);
    expect(await gatehouse.metric('gatehouse_token_reviews_total{result="invalid_client"}')).toBe(0);
  });

  test('N-59 it stops accepting a token whose session was ended, and goes on accepting the others', async () => {
    const [ended, other] = [await gatehouse.signIn('ada'), await gatehouse.signIn('ada')];
    await eventually(statusOf(NODES, ended), 200);
    expect((await gatehouse.get('/oauth/logout', ended)).status).toBe(200);
    await eventually(statusOf(NODES, ended), 401); // it keeps a good answer for 10 s
    expect((await call(NODES, other)).status).toBe(200);
  });

  test('the tokens of its service accounts are good as before', async () => {
    const token = await cluster.serviceAccountToken('gatehouse-system', 'gatehouse');
    expect((await call(NODES, token)).status).toBe(200);
  });
});

/** JSON, which is YAML. */
const kubeconfig = ({ server, cert, token }: { server: string; cert: string; token: string }): string => {
  const authority = Buffer.from(cert).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'gatehouse', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'kube-apiserver', user: { token } }],
    contexts: [{ name: 'gatehouse', context: { cluster: 'gatehouse', user: 'kube-apiserver' } }],
    'current-context': 'gatehouse',
  });
};

const ATTEMPTS = 1_200;

/** Waits until `read` answers this, at most 2 minutes. */
async function eventually(read: () => Promise<number>, expected: number): Promise<void> {
  let value = await read();
  for (let attempt = 0; attempt < ATTEMPTS && value !== expected; attempt++) {
    await sleep(100);
    value = await read();
  }
  expect(value).toBe(expected);
}
