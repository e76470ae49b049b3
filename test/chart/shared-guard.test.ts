import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { served } from '../cluster/served.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { chartWithOlderGuard, Guards } from './guard.ts';
import { CHART, helm } from './helm.ts';

let cluster: ControlPlane;
let guards: Guards;
let older: string;
beforeAll(async () => {
  older = await chartWithOlderGuard();
  cluster = await startControlPlane();
  guards = new Guards(cluster);
});
afterAll(async () => {
  await cluster?.stop();
  await rm(older, { recursive: true, force: true });
});

interface Release {
  readonly name?: string;
  readonly chart?: string;
  readonly flags?: readonly string[];
}

/** `helm upgrade --install` with accounts. The platform roles have one name in all platforms, and matter to nobody here. */
async function upgrade(
  namespace: string,
  values: object,
  { name = 'gatehouse', chart = CHART, flags = [] }: Release = {},
) {
  const to = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', namespace, '--create-namespace'];
  const said = await helm(
    ['upgrade', '--install', name, chart, ...to, '--values', '-', ...flags],
    JSON.stringify({ ...values, accounts: { enabled: true, roles: { create: false }, ...accountsIn(values) } }),
  );
  await guards.settle();
  return said;
}

const accountsIn = (values: object): object => (values as { readonly accounts?: object }).accounts ?? {};

async function uninstall(namespace: string, name = 'gatehouse'): Promise<void> {
  await helm(['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', namespace, 'uninstall', name]);
  await guards.settle();
}

const servesUsersOf = (platform: string): Promise<void> => served(cluster, `users.iam.${platform}.io`);

/** Leaves the definitions to another release of the platform. */
const SECOND = { accounts: { crds: { install: false } } };
const accountOf = (namespace: string, account = 'gatehouse'): string => `system:serviceaccount:${namespace}:${account}`;
const REFUSED = 'users and login records are written by Gatehouse only';

/** Which of these may write users of the platform. */
async function writersAmong(platform: string, names: readonly string[]): Promise<string[]> {
  const refusals = await Promise.all(names.map((name) => guards.refusal({ name, platform })));
  for (const refusal of refusals)
    if (refusal !== '') expect(refusal).toMatch(/ValidatingAdmissionPolicy|cannot create/);
  return names.filter((_, index) => refusals[index] === '');
}

describe('two releases of one platform', { shuffle: false }, () => {
  const platform = 'two';
  const [one, two] = [accountOf('one'), accountOf('two')];
  const writers = (): Promise<string[]> =>
    writersAmong(platform, [one, two, 'importer', 'mallory', accountOf('three')]);

  test('AC-80 both write, and so does whom either names; others do not, whatever their roles', async () => {
    await upgrade('one', { platform });
    await servesUsersOf(platform);
    const named = { ...SECOND.accounts, objectWriters: { users: ['importer'] } };
    await upgrade('two', { platform, accounts: named });
    for (const name of ['importer', 'mallory', accountOf('three')]) await guards.letWrite(name, platform);
    await guards.settle();
    expect(await writers()).toEqual([one, two, 'importer']);
    expect(await guards.refusal({ name: 'mallory', platform })).toContain(REFUSED);
  });

  test('AC-80 a role with every right makes nobody a writer but whom a release names', async () => {
    const bind = ['create', 'clusterrolebinding', 'root', '--clusterrole=cluster-admin'];
    await cluster.kubectl([...bind, '--user=root', '--group=kubeadm:cluster-admins']);
    await guards.settle();
    expect(await guards.refusal({ name: 'root', platform })).toContain(REFUSED);
    expect(await guards.refusal({ name: 'root', groups: ['kubeadm:cluster-admins'], platform })).toBe('');
  });

  test('AC-80 an account may change neither guard nor who passes it', async () => {
    const may = (...asked: string[]): Promise<string> =>
      cluster.kubectl(['auth', 'can-i', ...asked, `--as=${one}`]).catch((error: Error) => error.message);
    for (const verb of ['create', 'update', 'patch', 'delete', '*'])
      for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'clusterroles'])
        expect(await may(verb, resource)).toContain('no');
    for (const verb of ['create', 'update', 'patch', 'bind', 'escalate'])
      expect(await may(verb, 'clusterrolebindings')).toContain('no');
    expect(await may('pass', 'validatingadmissionpolicies/iam.gatehouse.io')).toContain('no');
  });

  test('AC-81 an upgrade of either keeps both', async () => {
    await upgrade('one', { platform });
    await upgrade('two', { platform, ...SECOND });
    expect(await writers()).toEqual([one, two]);
  });

  test('AC-81 NOTES name the guard of the other', async () => {
    const said = await upgrade('two', { platform, ...SECOND });
    expect(said).toContain(
      'Users of two are written by the release "gatehouse" of the namespace one as well, whose guard is the ValidatingAdmissionPolicy one.gatehouse.accounts.',
    );
    expect(said).not.toContain('refuses');
  });

  test('AC-81 one that is uninstalled writes no longer, with the other one there', async () => {
    await guards.letWrite(two, platform);
    await uninstall('two');
    expect(await writers()).toEqual([one]);
  });
});

describe('a thief of the account of one platform', () => {
  test('AC-80 does not write users of another, with every right on them', async () => {
    await upgrade('red', { platform: 'red' });
    await upgrade('blue', { platform: 'blue', fullnameOverride: 'blue' });
    await Promise.all(['red', 'blue'].map(servesUsersOf));
    const thief = accountOf('red');
    await guards.letWrite(thief, 'blue');
    await guards.settle();
    expect(await guards.refusal({ name: thief, platform: 'red' })).toBe('');
    expect(await guards.refusal({ name: thief, platform: 'blue' })).toContain(REFUSED);
    expect(await guards.refusal({ name: accountOf('blue', 'blue'), platform: 'blue' })).toBe('');
  });
});

describe('a release that goes on under another name', () => {
  test('AC-82 writes after an uninstall and an install', async () => {
    const platform = 'moved';
    await upgrade('before', { platform });
    await servesUsersOf(platform);
    await uninstall('before');
    const said = await upgrade('after', { platform }, { name: 'other', flags: ['--take-ownership'] });
    expect(said).toContain('the ValidatingAdmissionPolicy before.gatehouse.accounts');
    await guards.letWrite(accountOf('before'), platform);
    await guards.settle();
    expect(await writersAmong(platform, [accountOf('before'), accountOf('after', 'other-gatehouse')])).toEqual([
      accountOf('after', 'other-gatehouse'),
    ]);
  });

  test.each([
    ['this chart', false],
    ['a chart with the older guard', true],
  ])('AC-82 writes under another fullnameOverride, after %s; its former guard goes', async (title, isOlder) => {
    const platform = isOlder ? 'renamed-older' : 'renamed';
    await upgrade(platform, { platform }, isOlder ? { chart: older } : {});
    await servesUsersOf(platform);
    const values = { platform, fullnameOverride: 'renamed' };
    await upgrade(platform, values);
    expect(await writersAmong(platform, [accountOf(platform, 'renamed')]), title).toHaveLength(1);
    await upgrade(platform, values);
    const left = await cluster.kubectl(['get', 'validatingadmissionpolicy', '-o', 'name']);
    expect(left.match(new RegExp(`/${platform}\\..*`, 'g'))).toEqual([`/${platform}.renamed.accounts`]);
    expect(await writersAmong(platform, [accountOf(platform, 'renamed')])).toHaveLength(1);
    await guards.letWrite(accountOf(platform), platform);
    await guards.settle();
    expect(await writersAmong(platform, [accountOf(platform)])).toEqual([]);
  });
});

describe('a release beside one with the older guard', { shuffle: false }, () => {
  const platform = 'older';
  const [first, second] = [accountOf('first'), accountOf('second')];
  const SENTENCE =
    'the ValidatingAdmissionPolicy "first.gatehouse.accounts" of the release "gatehouse" of the namespace "first" lets only that release write users of "older": the cluster would refuse every write of this one; upgrade that release to this version of the chart first, or, if it is uninstalled, delete what it left: kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy first.gatehouse.accounts';

  test('AC-83 is refused, with the policy and what to do', async () => {
    await upgrade('first', { platform }, { chart: older });
    await servesUsersOf(platform);
    await expect(upgrade('second', { platform, ...SECOND })).rejects.toThrow(SENTENCE);
  });

  test('AC-83 is told so in NOTES where both are there already, and the upgrade of both lets both write', async () => {
    await upgrade('second', { platform, ...SECOND }, { chart: older });
    expect(await writersAmong(platform, [first, second])).toEqual([]);
    expect(await upgrade('second', { platform, ...SECOND })).toContain(
      `WARNING: ${SENTENCE.replace('would refuse', 'refuses')}`,
    );
    await upgrade('first', { platform });
    expect(await writersAmong(platform, [first, second])).toEqual([first, second]);
  });

  test('AC-83 is refused where an uninstall left it, until it is deleted as the sentence says', async () => {
    const left = 'left';
    await upgrade(left, { platform: left }, { chart: older });
    await servesUsersOf(left);
    await uninstall(left);
    const install = () => upgrade('next', { platform: left }, { flags: ['--take-ownership'] });
    const [command = ''] = await install().then(
      () => [],
      (error: Error) => /(?<=kubectl ).*left\.gatehouse\.accounts/.exec(error.message) ?? [],
    );
    await cluster.kubectl(command.split(' '));
    await install();
    expect(await writersAmong(left, [accountOf('next')])).toHaveLength(1);
  });
});

describe('a release whose rights somebody else grants', () => {
  test('AC-80 writes beside no other, and NOTES name the right that it needs beside another', async () => {
    const platform = 'granted';
    await upgrade('granted', { platform, rbac: { create: false } });
    await servesUsersOf(platform);
    await guards.letWrite(accountOf('granted'), platform);
    await guards.settle();
    expect(await writersAmong(platform, [accountOf('granted')])).toHaveLength(1);
    await upgrade('granted-too', { platform, ...SECOND });
    expect(await writersAmong(platform, [accountOf('granted')])).toEqual([]);
    const said = await upgrade('granted', { platform, rbac: { create: false } });
    expect(said).toContain(
      'WARNING: rbac.create is false, so somebody has to let the service account and accounts.objectWriters "pass" the validatingadmissionpolicies "iam.granted.io"',
    );
  });
});
