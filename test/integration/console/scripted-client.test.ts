import { describe, expect, test } from 'vitest';
import { ConsoleClient } from '../../support/console-client.ts';
import { passwordOf } from '../service/stand.ts';
import { type ConsoleStand, startConsole, WORKSPACE_DEFINITIONS } from './console-stand.ts';

const CONFIG = { accounts: { enabled: true }, gateway: { enabled: true } };

/** A cluster of KubeSphere with a workspace and its namespaces. */
async function startShop(): Promise<ConsoleStand> {
  const stand = await startConsole({ config: CONFIG });
  for (const definition of WORKSPACE_DEFINITIONS) stand.cluster.objects.create('customresourcedefinitions', definition);
  for (const name of ['shop', 'bank']) stand.workspace(name);
  stand.role('workspaceroles.iam.kubesphere.io', 'shop-viewer');
  stand.namespace('shop-web', 'shop');
  stand.namespace('bank-web', 'bank');
  return stand;
}

async function signedIn(stand: ConsoleStand, person: 'ada' | 'joe'): Promise<ConsoleClient> {
  const client = new ConsoleClient(stand.service.gatehouse.origin);
  expect(await stand.clock.during(client.signIn(person, passwordOf(person)))).toBe(200);
  return client;
}

/** A visit of all first pages. */
async function visit(client: ConsoleClient): Promise<void> {
  await client.load();
  await client.nodes();
  await client.node('node-a');
  await client.workspace('shop', 'shop-web');
  await client.users();
  await client.others();
}

describe('a client with the habits of the console', () => {
  test('CO-21 CO-18 finds every page as an administrator', async () => {
    const stand = await startShop();
    const client = await signedIn(stand, 'ada');
    await stand.clock.during(visit(client));
    expect(client.failures).toEqual([]);
    expect(client.bodyOf('/workspacetemplates?').totalItems).toBe(2);
    expect(client.bodyOf('/api/v1/nodes').items).toHaveLength(3);
    expect(client.bodyOf('v1alpha3/nodes?sortBy=createTime').totalItems).toBe(3);
    expect(client.bodyOf('/nodes/node-a').metadata.name).toBe('node-a');
    expect(client.statusOf('/users?')).toBe(200);
    expect(client.statusOf('servicemesh')).toBe(404);
  });

  test('CO-21 finds the pages of a person with one namespace', async () => {
    const stand = await startShop();
    stand.member('shop', { kind: 'User', name: 'joe' });
    stand.admit('shop-web');
    const client = await signedIn(stand, 'joe');
    await stand.clock.during(visit(client));
    expect(client.failures).toEqual([]);
    expect(client.bodyOf('/workspacetemplates?').totalItems).toBe(1);
    expect(client.bodyOf('/workspaces/shop/namespaces?').items[0].metadata.name).toBe('shop-web');
    expect(client.bodyOf('/workspacemembers/joe/workspaceroles')).toHaveLength(1);
    expect([client.statusOf('/api/v1/nodes'), client.statusOf('v1alpha3/nodes?sortBy=name')]).toEqual([403, 403]);
  });

  test('CO-21 keeps a person with nothing signed in', async () => {
    const stand = await startShop();
    const client = await signedIn(stand, 'joe');
    const both = async (): Promise<void> => {
      await client.load();
      await client.nodes();
      await client.others();
    };
    await stand.clock.during(both());
    expect(client.failures).toEqual([]);
    expect(client.bodyOf('/workspacetemplates?')).toEqual({ items: [], totalItems: 0 });
  });

  test('CO-21 refreshes five times at once, with the refresh token as a bearer beside the form, and goes on with any of the answers', async () => {
    const stand = await startShop();
    const client = await signedIn(stand, 'ada');
    for (const kept of [0, 1, 2, 3, 4, 0]) {
      expect(await stand.clock.during(client.refreshAtOnce(kept))).toEqual([200, 200, 200, 200, 200]);
      await stand.clock.during(client.load());
      await stand.clock.spend(60_000);
    }
    expect(client.failures).toEqual([]);
  });

  test('CO-21 learns whether a name or an address is taken, of what the person may see', async () => {
    const stand = await startShop();
    stand.cluster.objects.create('users', { metadata: { name: 'mia' }, spec: { email: 'mia@example.test' } });
    const asked = async (person: 'ada' | 'joe') => {
      const client = await signedIn(stand, person);
      const answers = [
        ...[client.existsUser('mia'), client.existsUser('nobody')],
        ...[client.existsEmail('mia@example.test'), client.existsEmail('nobody@example.test')],
        ...[client.existsWorkspace('shop'), client.existsWorkspace('nowhere')],
        ...[client.existsProject('shop-web'), client.existsProject('nowhere')],
      ];
      const known = await stand.clock.during(Promise.all(answers));
      expect(client.failures).toEqual([]);
      return known;
    };
    expect(await asked('ada')).toEqual([true, false, true, false, true, false, true, false]);
    expect(await asked('joe')).toEqual(Array(8).fill(false));
  });

  test('CO-21 signs out, and the next page leads to the sign-in', async () => {
    const stand = await startShop();
    const client = await signedIn(stand, 'ada');
    expect(await stand.clock.during(client.signOut())).toEqual([200, 401]);
  });

  test('CO-21 is refused with a wrong password', async () => {
    const stand = await startShop();
    const client = new ConsoleClient(stand.service.gatehouse.origin);
    expect(await stand.clock.during(client.signIn('ada', 'not-it'))).toBe(400);
  });
});
