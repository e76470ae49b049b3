import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { tellMeasured } from '../support/measured.ts';
import { FollowedStand, POLICY, ROLE } from './followed-stand.ts';
import { NAMESPACE } from './helm.ts';
import { installChart, startConfiguredProgram } from './installed-program.ts';

/** Users with the label, of either role. */
const OPEN = { 'example.com/kubectl': 'true' };
const values = (maxUsers: number) => ({
  accounts: { enabled: true },
  gateway: {
    enabled: true,
    accounts: {
      enabled: true,
      selector: { matchLabels: OPEN },
      roles: ['platform-regular', 'users-manager'],
      groups: ['team-*'],
      maxUsers,
    },
  },
});
const regular = { labels: OPEN, role: 'platform-regular' };

let stand: FollowedStand;
let alice: string;

beforeAll(async () => {
  stand = await FollowedStand.start(values(1500));
  alice = await stand.invite('alice', { ...regular, groups: ['team-a'] });
  await eventually(() => stand.api(alice), isDone);
});
afterAll(() => stand?.stop());

const isDone = ({ status }: { readonly status: number }): boolean => status === 200;
const isRefused = ({ status }: { readonly status: number }): boolean => status === 403;

describe('two replicas that follow the accounts, installed by the chart on a real API server', {
  shuffle: false,
}, () => {
  test('G-25 let a new user through to the cluster without an operator, as who the user is', async () => {
    const answer = await stand.call(alice, '/api/v1/namespaces');
    expect([answer.status, answer.body.message]).toEqual([
      403,
      'namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group "" at the cluster scope',
    ]);
    expect(await stand.namesOf('users')).toEqual(['alice']);
    expect(await stand.namesOf('groups')).toEqual(['team-a']);
  });

  test('count whom they have chosen, and whom the cluster lets them impersonate', async () => {
    for (const { metricsUrl } of stand.replicas) {
      const lines = (await (await fetch(metricsUrl)).text()).split('\n').filter((line) => !line.startsWith('#'));
      const ours = lines.filter((line) => /^gatehouse_gateway_accounts(_faults)?{/.test(line));
      expect(ours.filter((line) => !line.endsWith(' 0'))).toEqual([
        'gatehouse_gateway_accounts{state="chosen"} 1',
        'gatehouse_gateway_accounts{state="granted"} 1',
      ]);
    }
  });

  test('let nobody through who has another label, another role or none', async () => {
    const others = [
      await stand.invite('unlabelled', { role: 'platform-regular' }),
      await stand.invite('without-role', { labels: OPEN }),
      await stand.invite('ruler', { labels: OPEN, role: 'platform-admin' }),
      stand.admin,
    ];
    const last = await stand.invite('last', regular);
    await eventually(() => stand.api(last), isDone);
    for (const token of others) expect((await stand.api(token)).status).toBe(403);
    expect(await stand.namesOf('users')).toEqual(['alice', 'last']);
    await stand.remove(stand.admin, 'last');
    await stand.untilGone('users', 'last');
  });

  test('G-25 take a user out who loses the label, the role, or is disabled, and a group that no chosen user has', async () => {
    const carol = await stand.invite('carol', { ...regular, groups: ['team-a'] });
    await eventually(() => stand.api(carol), isDone);
    await stand.change(stand.admin, 'carol', { labels: {} });
    await eventually(() => stand.api(carol), isRefused);
    await stand.change(stand.admin, 'carol', { labels: OPEN });
    await eventually(() => stand.api(carol), isDone);
    await stand.cluster.kubectl(['delete', 'clusterrolebinding', 'carol-platform-regular']);
    await eventually(() => stand.api(carol), isRefused);
    await stand.untilGone('users', 'carol');
    expect(await stand.namesOf('groups')).toEqual(['team-a']);
    await stand.change(stand.admin, 'alice', { state: 'Disabled' });
    await stand.untilNamed('users');
    await stand.untilNamed('groups');
    expect((await stand.api(alice)).status).toBe(401);
    await stand.change(stand.admin, 'alice', { state: 'Active' });
    alice = await eventually(() => stand.signIn('alice'), Boolean);
    await eventually(() => stand.api(alice), isDone);
  });

  test('are kept by an upgrade of the release with the names that they have, with room for more or fewer users', async () => {
    const before = await stand.rulesOf();
    const second = ROLE.replace(/0$/, '1');
    await installChart(stand.cluster, values(500), 'upgrade');
    expect(await stand.rulesOf()).toEqual(before);
    await expect(stand.rulesOf(second)).rejects.toThrow('NotFound');
    await installChart(stand.cluster, values(2500), 'upgrade');
    expect(await stand.rulesOf()).toEqual(before);
    expect(await stand.rulesOf(second)).toEqual([]);
    expect(await stand.rulesOf(ROLE.replace(/0$/, '2'))).toEqual([]);
    expect((await stand.api(alice)).status).toBe(200);
  });

  test('take a disabled user out of the role by the other replica when the holder of the Lease has been killed', async () => {
    const [killed, other] = (await holdsLease(0)) ? [0, 1] : [1, 0];
    const bob = await stand.invite('bob', regular);
    await eventually(() => stand.api(bob, { replica: other! }), isDone);
    await stand.replicas[killed!]!.stop();
    const at = performance.now();
    await stand.change(stand.admin, 'bob', { state: 'Disabled' }, { replica: other! });
    await stand.untilGone('users', 'bob');
    tellMeasured(
      'gateway.accounts',
      performance.now() - at,
      'until a disabled user was out of the role, holder killed',
    );
    expect(await holds(other!)).toBe(false);
    stand.replicas[killed!] = await startConfiguredProgram(stand.cluster);
  });

  test('G-26 add nobody without the policy, still take users out, and add again once the policy is back', async () => {
    const gone = await stand.invite('gone', regular);
    await eventually(() => stand.api(gone), isDone);
    expect(await stand.mayNameEverybody()).toBe(false);
    const binding = await stand.cluster.kubectl(['get', 'validatingadmissionpolicybinding', POLICY, '-o', 'json']);
    await stand.cluster.kubectl(['delete', 'validatingadmissionpolicybinding', POLICY]);
    // The API server refuses by the policy until it has read that the binding is gone; a replica that starts before trusts it for ten minutes.
    await eventually(() => stand.mayNameEverybody(), Boolean);
    await Promise.all(stand.replicas.map((replica) => replica.stop()));
    stand.replicas.splice(0, 2, await startConfiguredProgram(stand.cluster));
    const wanted = await stand.invite('wanted', regular);
    const stuck = await eventually(
      () => stand.api(wanted),
      ({ status }) => status === 403,
    );
    expect(stuck.body.message).toContain('the cluster cannot be told so at the moment');
    await eventually(
      () => stand.replicas[0]!.log(),
      (log) => log.includes('no admission policy limits what this server writes'),
    );
    await stand.change(stand.admin, 'gone', { state: 'Disabled' });
    await stand.untilGone('users', 'gone');
    expect(await stand.namesOf('users')).toEqual(['alice']);
    const { metadata, ...rest } = JSON.parse(binding) as { metadata: { name: string } };
    const again = { ...rest, metadata: { name: metadata.name } };
    await stand.cluster.kubectl(['create', '-f', '-'], JSON.stringify(again));
    await eventually(() => stand.api(wanted), isDone);
    expect(await stand.namesOf('users')).toEqual(['alice', 'wanted']);
  });
});

/** Whether the replica says that it holds the Lease of the accounts, and the Lease says so too. */
async function holds(replica: number): Promise<boolean> {
  const read = ['-n', NAMESPACE, 'get', 'lease', 'gatehouse-accounts', '-o', 'jsonpath={.spec.holderIdentity}'];
  const holder = await stand.cluster.kubectl(read);
  return (await stand.replicas[replica]!.log()).includes(`"identity":"${holder}","msg":"this process holds the lease"`);
}

const holdsLease = async (replica: number): Promise<boolean> => {
  await eventually(async () => (await holds(0)) || (await holds(1)), Boolean);
  return holds(replica);
};
