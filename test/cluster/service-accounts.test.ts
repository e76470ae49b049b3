import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const AUDIENCE = 'gatehouse';
const SETTING = { authentication: { serviceAccountTokens: { enabled: true, audience: AUDIENCE } } };

/** What the chart adds to the rights with the setting. */
const TOKEN_REVIEWS = ['create', 'clusterrole', 'token-reviews', '--verb=create', '--resource=tokenreviews'];

const POLL_MS = 250;
/** 10 s here, 10 s in kube-apiserver, and what a busy machine adds. */
const FORGOTTEN_MS = 60_000;

describe('a service account in front of Gatehouse on a real cluster', () => {
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  beforeAll(async () => {
    cluster = await startControlPlane();
    gatehouse = await startGatehouse(cluster, {}, { config: SETTING });
    await cluster.kubectl(TOKEN_REVIEWS);
    const account = '--serviceaccount=gatehouse-system:gatehouse';
    await cluster.kubectl(['create', 'clusterrolebinding', 'token-reviews', '--clusterrole=token-reviews', account]);
    for (const name of ['reader', 'stranger', 'leaver']) await cluster.kubectl(['create', 'serviceaccount', name]);
    for (const name of ['reader', 'leaver'])
      await cluster.kubectl([
        ...['create', 'clusterrolebinding', name, '--clusterrole=gatehouse-administrators'],
        `--serviceaccount=default:${name}`,
      ]);
    // RBAC learns of bindings a moment later: until then a review is refused to us, which is a 503.
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

  test('is unknown by a token whose signature was changed', async () => {
    const token = await tokenOf('reader');
    expect((await list(`${token.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
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

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < FORGOTTEN_MS / POLL_MS; attempt++) {
    if (await isSo()) return;
    await sleep(POLL_MS);
  }
  throw new Error('it never came about');
}
