import { describe, expect, test } from 'vitest';
import { eventually } from '../service/stand.ts';
import { GLOBAL_ROLE, keptBinding, role, startAccounts, user } from './read-stand.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

describe('GET /users', () => {
  test('lists users newest first, without types, passwords and links', async () => {
    const { ask } = await startAccounts((objects) => {
      objects.create('users', user('old', { spec: { password: '$2a$10$x' }, annotations: { [LAST_APPLIED]: '{}' } }));
      objects.create('users', user('new', { at: '2026-03-02T08:15:31Z' }));
    });
    const { status, body, headers, text } = await ask('/users');
    expect([status, headers.get('cache-control'), headers.get('etag')]).toEqual([
      200,
      'private, no-cache',
      expect.stringMatching(/^"[0-9a-f]+-\d+"$/),
    ]);
    expect(body.totalItems).toBe(2);
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['new', 'old']);
    expect(body.items[1]).toEqual({
      metadata: {
        name: 'old',
        creationTimestamp: '2026-03-02T08:15:30Z',
        uid: expect.any(String),
        resourceVersion: expect.any(String),
      },
      spec: { email: 'old@example.com' },
      status: { state: 'Active' },
    });
    expect(text).not.toContain('$2a$10$x');
  });
});

describe('GET /users/{user}', () => {
  test('AC-01 answers the user with the role that a binding makes, soon after it changes', async () => {
    const { ask, cluster } = await startAccounts((objects) => {
      objects.create('clusterroles', role('platform-regular'));
      objects.create('users', user('mia', { annotations: { [GLOBAL_ROLE]: 'platform-admin' } }));
    });
    const before = await ask('/users/mia');
    expect(before.body.metadata.annotations).toBeUndefined();
    expect(before.body).toMatchObject({ kind: 'User', apiVersion: 'iam.gatehouse.io/v1alpha2' });
    cluster.objects.create('clusterrolebindings', keptBinding('mia', 'platform-regular'));
    const after = await eventually(
      () => ask('/users/mia'),
      ({ body }) => body.metadata.annotations?.[GLOBAL_ROLE] === 'platform-regular',
    );
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });
});

describe('platform roles of users', () => {
  test('are all there when the replica is ready', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `user-${index}`);
    const { ask } = await startAccounts((objects) => {
      for (const name of names) {
        objects.create('users', user(name));
        objects.create('clusterrolebindings', keptBinding(name, 'platform-regular'));
      }
    });
    expect((await ask('/users?globalrole=platform-regular&limit=0')).body.totalItems).toBe(names.length);
  });

  test('that conflict show the first binding by name, and a metric tells how many users have two', async () => {
    const { ask, service } = await startAccounts((objects) => {
      objects.create('users', user('mia'));
      for (const name of ['b', 'a']) objects.create('clusterrolebindings', keptBinding('mia', name));
    });
    expect((await ask('/users/mia')).body.metadata.annotations[GLOBAL_ROLE]).toBe('a');
    expect(await service.metric('gatehouse_platform_role_conflicts')).toBe(1);
  });
});
