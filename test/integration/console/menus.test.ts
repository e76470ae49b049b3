import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { installedRights } from '../../../dev/demo-rights.ts';
import { eventually, startCluster, startService } from '../service/stand.ts';

const PLATFORM = 'kubesphere';
const ROOT = new URL('../../../', import.meta.url);

test('CO-11 the first administrator is a platform-admin, whose role names all menus of the console', async () => {
  const cluster = await startCluster({ isNew: true, platform: PLATFORM });
  for (const [plural, object] of installedRights(PLATFORM, (name) => readFileSync(new URL(name, ROOT), 'utf8')))
    cluster.objects.create(plural, object);
  const config = { platform: PLATFORM, accounts: { enabled: true }, users: { firstAdministrator: {} } };
  const service = await startService(cluster, { config });
  await eventually(
    () => cluster.objects.get('clusterrolebindings', 'admin-platform-admin'),
    (binding) => binding !== undefined,
  );
  const secret = cluster.objects.get('secrets', `default/${PLATFORM}-first-administrator`) as unknown as {
    readonly data: Readonly<Record<string, string>>;
  };
  const form = {
    ...{ grant_type: 'password', client_id: PLATFORM, client_secret: PLATFORM, username: 'admin' },
    password: Buffer.from(secret.data['password'] ?? '', 'base64').toString(),
  };
  const { body } = await eventually(
    () => service.call('/oauth/token', { form }),
    ({ status }) => status === 200,
  );
  const user = `/kapis/iam.${PLATFORM}.io/v1alpha2/users/admin`;
  const roles = await eventually(
    () => service.call(`${user}/globalroles`, { token: body.access_token }),
    (answer) => answer.status === 200 && answer.body.length > 0,
  );
  const [{ metadata }] = roles.body;
  expect(JSON.parse(metadata.annotations[`iam.${PLATFORM}.io/role-template-rules`])).toEqual({
    ...{ clusters: 'manage', workspaces: 'manage', users: 'manage', roles: 'manage' },
    'platform-settings': 'manage',
  });
  const own = await service.call(user, { token: body.access_token });
  expect(own.body.metadata.annotations[`iam.${PLATFORM}.io/globalrole`]).toBe('platform-admin');
});
