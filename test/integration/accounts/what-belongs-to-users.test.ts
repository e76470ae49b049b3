import { describe, expect, test } from 'vitest';
import { eventually } from '../service/stand.ts';
import { GLOBAL_ROLE, IAM, keptBinding, record, role, startAccounts, user } from './read-stand.ts';

const at = (second: number): string => `2026-03-02T08:15:0${second}Z`;

describe('GET /globalroles', () => {
  test('lists the assignable roles, and gets one of them', async () => {
    const { ask, names, ada } = await startAccounts((objects) => {
      objects.create('clusterroles', role('platform-regular', { metadata: { creationTimestamp: at(1) } }));
      objects.create('clusterroles', role('part', {}, false));
    });
    expect(await names('/globalroles?limit=-1&page=1&sortBy=createTime')).toEqual(['platform-regular']);
    const { body, headers } = await ask('/globalroles/platform-regular');
    expect(body).toMatchObject({ kind: 'GlobalRole', apiVersion: 'iam.gatehouse.io/v1alpha2', rules: [] });
    const again = await ask('/globalroles/platform-regular', ada, { 'if-none-match': headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect((await ask('/globalroles/part')).body.message).toBe('globalroles.iam.gatehouse.io "part" not found');
  });

  test('follows the cluster: a role is offered as soon as it has the label', async () => {
    const { cluster, names } = await startAccounts((objects) =>
      objects.create('clusterroles', role('late', {}, false)),
    );
    expect(await names('/globalroles')).toEqual([]);
    cluster.objects.patch('clusterroles', 'late', { metadata: { labels: { 'iam.gatehouse.io/assignable': 'true' } } });
    await eventually(
      () => names('/globalroles'),
      (found) => found.join() === 'late',
    );
    cluster.objects.patch('clusterroles', 'late', { metadata: { labels: { 'iam.gatehouse.io/assignable': null } } });
    await eventually(
      () => names('/globalroles'),
      (found) => found.length === 0,
    );
  });
});

describe('GET /users/{user}/globalroles', () => {
  test('answers an array of what the role consists of, and 304 while that stays the same', async () => {
    const annotations = { 'iam.gatehouse.io/aggregation-roles': '["view","gone","manage"]' };
    const { ask, names, cluster, ada } = await startAccounts((objects) => {
      objects.create('clusterroles', role('view', { metadata: { creationTimestamp: at(1) } }, false));
      objects.create('clusterroles', role('manage', { metadata: { creationTimestamp: at(2) } }, false));
      objects.create('clusterroles', role('whole', { metadata: { annotations } }));
      objects.create('users', user('mia'));
      objects.create('clusterrolebindings', keptBinding('mia', 'whole'));
    });
    expect(await names('/users/mia/globalroles')).toEqual(['manage', 'view']);
    const { body, headers, text } = await ask('/users/mia/globalroles');
    expect(Object.keys(body[0])).toEqual(['metadata', 'rules']);
    expect([text === JSON.stringify(body), headers.get('cache-control')]).toEqual([true, 'private, no-cache']);
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await ask('/users/mia/globalroles', ada, known)).status).toBe(304);
    cluster.objects.remove('clusterrolebindings', 'mia-whole');
    await eventually(
      () => ask('/users/mia/globalroles', ada, known),
      ({ text: now }) => now === '[]',
    );
  });
});

describe('GET /users/{user}/loginrecords', () => {
  test('lists the records of that user alone, newest first', async () => {
    const { ask, names } = await startAccounts((objects) => {
      objects.create('users', user('mia'));
      objects.create('loginrecords', record('mia-1', 'mia', at(1)));
      objects.create('loginrecords', record('mia-2', 'mia', at(2), { type: 'Password', success: false }));
      objects.create('loginrecords', record('joe-1', 'joe', at(3)));
    });
    expect(await names('/users/mia/loginrecords')).toEqual(['mia-2', 'mia-1']);
    expect(await names('/users/mia/loginrecords?type=Token')).toEqual(['mia-1']);
    expect(await names('/users/mia/loginrecords?label=iam.gatehouse.io/user-ref=joe')).toEqual([]);
    const { headers, body } = await ask('/users/mia/loginrecords?limit=1');
    expect([headers.get('cache-control'), body.totalItems]).toEqual(['private, no-cache', 2]);
    expect((await ask('/users/mia/loginrecords?success=true')).body.message).toContain('"success"');
  });

  test('is 503 with Retry-After soon after the cluster stops answering, and 304 for a record that is known', async () => {
    const { ask, cluster, ada } = await startAccounts((objects) => {
      objects.create('users', user('mia'));
      objects.create('loginrecords', record('mia-1', 'mia', at(1)));
    });
    const { headers } = await ask('/users/mia/loginrecords');
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await ask('/users/mia/loginrecords', ada, known)).status).toBe(304);
    expect((await ask('/users/mia')).status).toBe(200);
    await cluster.stop();
    const away = await eventually(
      () => ask('/users/mia/loginrecords'),
      ({ status }) => status !== 200,
    );
    expect([away.status, away.headers.get('retry-after'), away.body.reason]).toEqual([503, '5', 'ServiceUnavailable']);
    expect((await ask('/users/mia')).status).toBe(200);
  });
});

describe('somebody who signs in without a User object', () => {
  test('is answered as one, with the role that is bound, without a version', async () => {
    const { ask, ada, joe, names } = await startAccounts((objects) => {
      objects.create('clusterroles', role('platform-admin'));
      objects.create('clusterrolebindings', keptBinding('ada', 'platform-admin'));
    });
    expect((await ask('/users/ada')).body).toEqual({
      kind: 'User',
      apiVersion: 'iam.gatehouse.io/v1alpha2',
      metadata: { name: 'ada', uid: expect.any(String), annotations: { [GLOBAL_ROLE]: 'platform-admin' } },
      spec: { email: '', groups: ['admins'] },
      status: { state: 'Active' },
    });
    const { body } = await ask('/users/joe', joe);
    expect(body).toMatchObject({ metadata: { name: 'joe' }, spec: { email: '' }, status: { state: 'Active' } });
    expect(body.metadata.annotations).toBeUndefined();
    expect(await names('/users/ada/globalroles')).toEqual(['platform-admin']);
    expect((await ask('/users/joe/loginrecords', joe)).body).toEqual({ items: [], totalItems: 0 });
    expect((await ask('/users/ada', joe)).status).toBe(403);
    expect((await ask('/users', ada)).body.totalItems).toBe(0);
  });

  test('is the User object where there is one', async () => {
    const { ask } = await startAccounts((objects) => objects.create('users', user('ada')));
    expect((await ask('/users/ada')).body.spec.email).toBe('ada@example.com');
  });
});

describe('where accounts are off', () => {
  test('nothing of them is served, and nothing asked of the cluster', async () => {
    const { ask, cluster, service, ada } = await startAccounts(() => {}, { accounts: { enabled: false } });
    for (const path of ['/users', '/users/ada', '/users/ada/anything', '/globalroles'])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    expect((await service.call('/kapis', { token: ada })).text).not.toContain('iam.');
    const asked = cluster.evidence.requests.map(({ target }) => target?.kind.plural ?? '');
    expect(
      asked.filter((word) => ['users', 'loginrecords', 'clusterroles', 'clusterrolebindings'].includes(word)),
    ).toEqual([]);
  });
});

describe('discovery', () => {
  test('names users and global roles', async () => {
    const { service, ada } = await startAccounts();
    const { body } = await service.call(IAM, { token: ada });
    expect(body.resources.map(({ name, kind }: { name: string; kind: string }) => [name, kind])).toEqual([
      ['users', 'User'],
      ['globalroles', 'GlobalRole'],
    ]);
  });
});
