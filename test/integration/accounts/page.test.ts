import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { documentedCommands } from '../../node/stand/documented-commands.ts';
import { Shell } from '../../node/stand/shell.ts';
import { deployRights, OWN_TOKEN } from '../../support/accounts/deployed-rights.ts';
import { atEnd } from '../../support/at-end.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { needs } from '../../support/needs.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventually, startCluster } from '../service/stand.ts';

const COMMANDS = documentedCommands(readFileSync(new URL('../../../docs/accounts.md', import.meta.url), 'utf8'));

const PASSWORDS = {
  NEW_PASSWORD: 'Changed-by-admin-1',
  FIRST_PASSWORD: 'First-of-alice-1',
  ALICE_PASSWORD: 'Second-of-alice-1',
  RESET_PASSWORD: 'Reset-of-alice-1',
};

/** What each block prints, as far as it says that it came about; its name is its place on the page. */
const SAYS: Readonly<Record<string, readonly string[]>> = {
  'Switch it on, 1': [],
  'Your own account, 1': ['"iam.gatehouse.io/uninitialized":"true"', '"groups":["gatehouse-admins"]'],
  'Your own account, 2': ['{"message":"success"}'],
  'Invite somebody, 1': ['"name":"alice"', '"iam.gatehouse.io/globalrole":"platform-regular"', '"state":"Active"'],
  'Invite somebody, 2': ['"name":"alice"', '"lang":"en"'],
  'Find and change users, 1': ['"totalItems":2', '"totalItems":1', '"email":"alice@example.com"'],
  'Find and change users, 2': ['"gatehouse.io/description":"on call, second line"'],
  'Roles, and who may give which, 1': [
    'platform-admin\nplatform-regular\nusers-manager\n',
    '"iam.gatehouse.io/globalrole":"users-manager"',
  ],
  'Roles, and who may give which, 2': ['[{"metadata":{"name":"users-manager"'],
  'A help desk, 1': ['{"message":"success"}'],
  'Disable, unlock, delete, 1': ['"state":"Disabled"', '"state":"Active"'],
  'Disable, unlock, delete, 2': ['{"message":"success"}'],
  'Who did what, 1': ['",true,"127.0.0.1","authenticated successfully"]'],
};

/** As an installation with accounts is, with its rights, and somebody at a shell. */
async function startPage() {
  const cluster = await startCluster();
  deployRights(cluster, []);
  const gatehouse = await startGatehouse({
    kubeconfig: cluster.kubeconfig(OWN_TOKEN),
    config: { accounts: { enabled: true }, users: { firstAdministrator: {} } },
  });
  atEnd(() => gatehouse.stop());
  const secret = cluster.objects.list('secrets').find(({ metadata }) => metadata.name.endsWith('first-administrator'));
  const { password = '' } = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const secrets = { PASSWORD: Buffer.from(password, 'base64').toString(), ...PASSWORDS };
  const env = { PATH: process.env['PATH'] ?? '', GATEHOUSE: gatehouse.origin, ...secrets };
  const shell = new Shell(temporaryFolder().folder, env);
  atEnd(() => shell.stop());
  return { cluster, gatehouse, shell, secrets: Object.values(secrets) };
}

/** What an answer shows of Alice as the cluster has her now; nothing while there is no such user. */
function shownOf({ objects }: SimulatedCluster): readonly string[] {
  const user = objects.list('users').find(({ metadata }) => metadata.name === 'alice');
  const bindings = objects.list('clusterrolebindings');
  const binding = bindings.find(({ metadata }) => metadata.labels?.['iam.gatehouse.io/user-ref'] === 'alice');
  if (!user || !binding || user.metadata['deletionTimestamp'] !== undefined) return [];
  const { name: role } = binding['roleRef'] as { readonly name: string };
  return [`"resourceVersion":"${user.metadata.resourceVersion}"`, `"iam.gatehouse.io/globalrole":"${role}"`];
}

/** People are slower than the watch of the cluster; a test is not. Gatehouse may write the user meanwhile. */
async function untilShown(cluster: SimulatedCluster, shell: Shell): Promise<void> {
  const isShown = (text: string): boolean => shownOf(cluster).every((words) => text.includes(words));
  await eventually(() => shell.run('api $IAM/users/alice\n'), isShown);
}

describe('docs/accounts.md', () => {
  test('A-36 has commands that do what the page says, and that show no password', async (context) => {
    needs(context, 'curl and jq');
    const { cluster, gatehouse, shell, secrets } = await startPage();
    expect(COMMANDS.map(({ name }) => name)).toEqual(Object.keys(SAYS));
    let written = '';
    for (const { name, text } of COMMANDS) {
      const printed = await shell.run(text);
      for (const words of SAYS[name] ?? []) expect([name, printed]).toEqual([name, expect.stringContaining(words)]);
      written += printed;
      await untilShown(cluster, shell);
    }
    // Only the version of a user who has just been changed may be refused.
    expect([...written.matchAll(/"reason":"(\w+)","details"/g)].filter(([, reason]) => reason !== 'Conflict')).toEqual(
      [],
    );
    written += JSON.stringify(gatehouse.log);
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
  });
});
