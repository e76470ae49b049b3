import { describe, expect, test } from 'vitest';
import { grow, told, unavailable } from '../service/ageing.ts';
import { startDrivenReady } from '../service/driven.ts';
import { shownAsFailing, startCluster } from '../service/stand.ts';
import { IAM, keptBinding, role, user } from './read-stand.ts';

const TOO_OLD_MS = 600_000;

async function startAged() {
  const cluster = await startCluster();
  cluster.objects.create('users', user('mia'));
  cluster.objects.create('clusterroles', role('platform-regular'));
  cluster.objects.create('clusterrolebindings', keptBinding('mia', 'platform-regular'));
  const driven = await startDrivenReady(cluster, { config: { accounts: { enabled: true } } });
  const { clock, service } = driven;
  const { access_token: token } = await clock.during(service.signIn('ada'));
  const ask = (path: string) => clock.during(service.call(IAM + path, { token }));
  const lose = async (...kinds: string[]): Promise<void> => {
    for (const kind of kinds) cluster.faults.until({ kind }, { status: 503 });
    await cluster.restart();
  };
  return { ...driven, ask, lose };
}

describe('answers about accounts, while their mirrors cannot be followed', () => {
  test.each([
    ['clusterrolebindings', ['/users', '/users/mia', '/users/mia/globalroles']],
    ['clusterroles', ['/globalroles', '/globalroles/platform-regular', '/users/mia/globalroles']],
  ])('tell the age of %s, and are 503 once they are older than authorization.maxStaleness', async (kind, paths) => {
    const driven = await startAged();
    const { ask, lose, service } = driven;
    await lose(kind);
    await grow(driven, kind, 61_000);
    for (const path of paths) {
      const [status, age] = told(await ask(path));
      expect([path, status, Number(age) > 60]).toEqual([path, 200, true]);
    }
    await grow(driven, kind, TOO_OLD_MS + 1_000);
    for (const path of paths) {
      const { status, body } = await ask(path);
      const resource = kind === 'clusterroles' ? 'globalroles' : 'users';
      expect([path, status, body]).toEqual([
        path,
        503,
        unavailable(`${resource} are not available: data is older than 10m0s`, body.details.retryAfterSeconds),
      ]);
    }
    expect(await shownAsFailing(service)).toContain(`${kind}-fresh`);
  });
});
