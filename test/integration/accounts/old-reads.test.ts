import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseUsersRequest, type UsersOptions } from '../../../src/cli/users-arguments.ts';
import { runUsersCommand } from '../../../src/cli/users-command.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { binding } from '../../support/accounts/deployed-rights.ts';
import { newUser, ROLE, startWriteStand, USERS, type WriteStand } from '../../support/accounts/write-stand.ts';
import { writeConfig } from '../../support/gatehouse.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventually } from '../service/stand.ts';

const withRole = (role: string) => ({ annotations: { [ROLE]: role } });

describe('while the API server’s watch cache is behind', () => {
  let stand: WriteStand;
  let letGo = () => {};
  beforeAll(async () => {
    const rules = [{ apiGroups: ['iam.gatehouse.io'], resources: ['users'], verbs: ['create', 'get'] }];
    stand = await startWriteStand({ people: { creator: { rules } } });
  });
  afterEach(() => letGo());
  afterAll(() => stand?.stop());

  test('A-54 a role that was given a moment ago is taken away by the next one', async () => {
    const { body } = await stand.made('promoted', withRole('platform-regular'));
    letGo = stand.cluster.holdWatchCache();
    const { objects } = stand.cluster;
    const labels = { 'iam.gatehouse.io/user-ref': 'promoted' };
    const to = { kind: 'User', name: 'promoted' } as const;
    objects.create(
      'clusterrolebindings',
      binding({ role: 'users-manager', to, name: 'promoted-users-manager', labels }),
    );
    objects.remove('clusterrolebindings', 'promoted-platform-regular');
    const wanted = { ...body, metadata: { ...body.metadata, annotations: { [ROLE]: 'platform-regular' } } };
    expect((await stand.update('promoted', () => wanted)).status).toBe(200);
    expect(stand.leftOf('promoted').bindings).toEqual(['promoted-platform-regular']);
  });

  test('A-54 a name that was bound a moment ago is refused to who may not act as it', async () => {
    letGo = stand.cluster.holdWatchCache();
    const to = { kind: 'User', name: 'awaited' } as const;
    stand.cluster.objects.create('clusterrolebindings', binding({ role: 'users-manager', to, name: 'waits' }));
    const { status, body } = await stand.create('awaited', {}, await stand.tokenOf('creator'));
    expect([status, body.message]).toEqual([403, expect.stringContaining('has role bindings for a user of this name')]);
    expect(stand.leftOf('awaited').users).toEqual([]);
  });

  test('A-54 a binding and a record of a moment ago go with the user who is deleted', async () => {
    await stand.made('leaving');
    letGo = stand.cluster.holdWatchCache();
    const { objects } = stand.cluster;
    const labels = { 'iam.gatehouse.io/user-ref': 'leaving' };
    const to = { kind: 'User', name: 'leaving' } as const;
    objects.create(
      'clusterrolebindings',
      binding({ role: 'users-manager', to, name: 'leaving-users-manager', labels }),
    );
    objects.create('loginrecords', { metadata: { name: 'leaving-1', labels }, spec: { type: 'Token', success: true } });
    expect((await stand.ask('DELETE', `${USERS}/leaving`)).status).toBe(200);
    await eventually(
      () => stand.leftOf('leaving').users,
      (users) => users.length === 0,
    );
    expect(stand.leftOf('leaving').bindings).toEqual([]);
    expect(objects.get('loginrecords', 'leaving-1')).toBeUndefined();
  });

  test('A-54 an operator is refused an e-mail address that was taken a moment ago, and sees who has it', async () => {
    letGo = stand.cluster.holdWatchCache();
    stand.cluster.objects.create('users', newUser('first', { spec: { email: 'one@example.com' } }) as never);
    await expect(operate(stand, ['create', 'second'], { email: 'one@example.com' })).rejects.toThrow(
      'first has this e-mail address',
    );
    expect(await operate(stand, ['list'])).toContain('first');
  });
});

/** Runs `gatehouse users` with the rights of the cluster's administrator; answers what it printed. */
async function operate(stand: WriteStand, args: readonly string[], options: UsersOptions = {}): Promise<string> {
  const request = parseUsersRequest(args, options);
  if ('fault' in request) throw new Error(request.fault);
  const config = { accounts: { enabled: true } };
  const path = writeConfig(temporaryFolder().folder, { kubeconfig: stand.cluster.kubeconfig(), config });
  const printed: string[] = [];
  await runUsersCommand(request, loadConfig(path, (name) => readFileSync(name, 'utf8')).config, {
    clock: systemClock,
    random: systemRandom,
    version: '0.0.0',
    environment: {},
    print: (line) => void printed.push(line),
    readPassword: async () => Buffer.from('Typed-by-an-operator-1\n'),
    readFile: () => '',
  });
  return printed.join('\n');
}
