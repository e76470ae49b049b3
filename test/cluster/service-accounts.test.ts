import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const AUDIENCE = 'gatehouse';
const SETTING = { authentication: { serviceAccountTokens: { enabled: true, audience: AUDIENCE } } };

const TOKEN_REVIEWS = ['create', 'clusterrole', 'token-reviews', '--verb=create', '--resource=tokenreviews'];

const KEYS = 'gatehouse_service_account_keys';
const REVIEWS = 'gatehouse_cluster_requests_total{purpose="token_review",code="201"}';

const POLL_MS = 250;
/** 10 s here, 10 s in kube-apiserver, and some time for a busy machine. */
const FORGOTTEN_MS = 60_000;

describe('a service account in front of Gatehouse on a real cluster', () => {
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  beforeAll(async () => {
    cluster = await startControlPlane();
    gatehouse = await startGatehouse(cluster, {}, { config: SETTING });
    await letReview(cluster);
    for (const name of ['reader', 'stranger', 'leaver']) await cluster.kubectl(['create', 'serviceaccount', name]);
    for (const name of ['reader', 'leaver'])
      await cluster.kubectl([
        ...['create', 'clusterrolebinding', name, '--clusterrole=gatehouse-system:gatehouse:administrators'],
        `--serviceaccount=default:${name}`,
      ]);
    // RBAC sees new bindings a moment later. Until then our reviews are refused, which is a 503.
    await until(async () => (await list(await tokenOf('reader'))).status === 200);
  });
  afterAll(async () => {
    await gatehouse?.stop();
    await cluster?.stop();
  });

  const tokenOf = (name: string, audiences: readonly string[] = [AUDIENCE]): Promise<string> =>
    cluster.serviceAccountToken('default', name, audiences);
  const list = (token: string) => gatehouse.get(LIST, token);

  test('lists the nodes with a token for our audience, when RBAC lets it', async () => {
    const { status, body } = await list(await tokenOf('reader', ['other', AUDIENCE]));
    expect([status, body]).toEqual([200, { items: [], totalItems: 0 }]);
  });

  test('NE-03 is refused by its name without the right', async () => {
    const { status, body } = await list(await tokenOf('stranger'));
    expect([status, (body as { message: string }).message]).toEqual([
      403,
      'nodes.resources.gatehouse.io is forbidden: User "system:serviceaccount:default:stranger" cannot list resource ' +
        '"nodes" in API group "resources.gatehouse.io" at the cluster scope',
    ]);
  });

  test('N-36 is unknown by a token for the API server', async () => {
    expect((await list(await tokenOf('reader', []))).status).toBe(401);
  });

  test('A-51 is unknown by a token whose signature was changed, and nobody is asked', async () => {
    expect(await gatehouse.metric(KEYS)).toBe(1);
    await expectRefusedUnasked(gatehouse, await tokenOf('reader'));
  });

  test('is unknown soon after it was deleted', async () => {
    const token = await tokenOf('leaver');
    expect((await list(token)).status).toBe(200);
    await cluster.kubectl(['delete', 'serviceaccount', 'leaver']);
    const began = performance.now();
    await until(async () => (await list(token)).status === 401);
    expect(performance.now() - began).toBeLessThan(FORGOTTEN_MS);
  });
});

describe('a service account of a real cluster that signs with RS256 and has signed with ES256', () => {
  let folder: string;
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-keys-'));
    const file = join(folder, 'signing.key');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const flags = ['key', 'signing-key'].map((which) => `--service-account-${which}-file=${file}`);
    cluster = await startControlPlane({ apiServerArgs: flags });
    gatehouse = await startGatehouse(cluster, {}, { config: SETTING });
    await letReview(cluster);
    await cluster.kubectl(['create', 'serviceaccount', 'reader']);
    await until(async () => (await gatehouse.get(LIST, await newToken())).status === 403);
  });
  afterAll(async () => {
    await gatehouse?.stop();
    await cluster?.stop();
    await rm(folder, { recursive: true });
  });

  const newToken = (): Promise<string> => cluster.serviceAccountToken('default', 'reader', [AUDIENCE]);

  test('is known by a token that was checked with a published key first, which needs no right of its own', async () => {
    const token = await newToken();
    const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
    expect([header.alg, await gatehouse.metric(KEYS)]).toEqual(['RS256', 2]);
    const before = await gatehouse.metric(REVIEWS);
    expect((await gatehouse.get(LIST, token)).status).toBe(403); // by its name: it has no right
    expect(await gatehouse.metric(REVIEWS)).toBe(before + 1);
  });

  test('A-51 is unknown by a token whose signature was changed, and nobody is asked', async () => {
    await expectRefusedUnasked(gatehouse, await newToken());
  });
});

/** Gives the program the rights that the chart adds with the setting. */
async function letReview(cluster: ControlPlane): Promise<void> {
  await cluster.kubectl(TOKEN_REVIEWS);
  const account = '--serviceaccount=gatehouse-system:gatehouse';
  await cluster.kubectl(['create', 'clusterrolebinding', 'token-reviews', '--clusterrole=token-reviews', account]);
}

async function expectRefusedUnasked(gatehouse: Gatehouse, token: string): Promise<void> {
  const before = await gatehouse.metric(REVIEWS);
  const bytes = Buffer.from(token.split('.')[2] ?? '', 'base64url');
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.${bytes.toString('base64url')}`;
  expect((await gatehouse.get(LIST, forged)).status).toBe(401);
  expect(await gatehouse.metric(REVIEWS)).toBe(before);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < FORGOTTEN_MS / POLL_MS; attempt++) {
    if (await isSo()) return;
    await sleep(POLL_MS);
  }
  throw new Error('it never came about');
}
