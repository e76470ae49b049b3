import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { IAM, keptBinding, role, startAccounts, user } from './read-stand.ts';

const forbidden = (what: string, verb: string, resource: string) =>
  `${what} is forbidden: User "joe" cannot ${verb} resource "${resource}" in API group "iam.gatehouse.io" at the cluster scope`;

const reviewsOf = ({ evidence }: SimulatedCluster): number =>
  evidence.requests.filter(({ target }) => target?.kind.plural === 'subjectaccessreviews').length;

describe('what a user may read of himself', () => {
  test('needs no right, and asks the cluster for none', async () => {
    const { ask, joe, cluster } = await startAccounts((objects) => objects.create('users', user('joe')));
    const before = reviewsOf(cluster);
    const paths = ['/users/joe', '/users/joe/globalroles', '/users/joe/loginrecords?limit=3'];
    for (const path of paths) expect([path, (await ask(path, joe)).status]).toEqual([path, 200]);
    expect(reviewsOf(cluster)).toBe(before);
  });

  test.each([
    ['GET', '/users/mia', forbidden('users.iam.gatehouse.io "mia"', 'get', 'users')],
    ['GET', '/users/nobody', forbidden('users.iam.gatehouse.io "nobody"', 'get', 'users')],
    ['GET', '/users/mia/globalroles', forbidden('users.iam.gatehouse.io "mia"', 'get', 'users/globalroles')],
    ['GET', '/users/mia/loginrecords', forbidden('users.iam.gatehouse.io "mia"', 'get', 'users/loginrecords')],
    ['GET', '/users', forbidden('users.iam.gatehouse.io', 'list', 'users')],
    ['GET', '/users?fieldSelector=metadata.name=joe', forbidden('users.iam.gatehouse.io "joe"', 'list', 'users')],
    ['GET', '/users?watch=true', forbidden('users.iam.gatehouse.io', 'watch', 'users')],
    ['GET', '/globalroles', forbidden('globalroles.iam.gatehouse.io', 'list', 'globalroles')],
    ['GET', '/users/joe/anything', forbidden('users.iam.gatehouse.io "joe"', 'get', 'users/anything')],
    ['GET', '/users/mia/anything/more', forbidden('users.iam.gatehouse.io "mia"', 'get', 'users/anything')],
    ['DELETE', '/users/joe', forbidden('users.iam.gatehouse.io "joe"', 'delete', 'users')],
    ['POST', '/users/joe/loginrecords', forbidden('users.iam.gatehouse.io "joe"', 'create', 'users/loginrecords')],
  ])('AC-03 ends there: %s %s is 403 without the right, for missing users too', async (method, path, message) => {
    const { service, joe } = await startAccounts((objects) => objects.create('users', user('joe')));
    const { status, body } = await service.call(IAM + path, { method, token: joe });
    expect([status, body.message, body.reason]).toEqual([403, message, 'Forbidden']);
  });
});

describe('somebody with the right', () => {
  test.each([
    ['GET', '/users/nobody', 404],
    ['GET', '/users/nobody/globalroles', 404],
    ['GET', '/users/nobody/loginrecords', 404],
    ['GET', '/users/x%2Ckept/loginrecords', 404],
    ['GET', '/users/mia/anything', 404],
    ['DELETE', '/users/mia/anything/more', 404],
    ['GET', '/loginrecords', 404],
    ['GET', '/users?watch=true', 400],
    ['POST', '/users/mia/globalroles', 405],
    ['POST', '/users/mia/loginrecords', 405],
    ['PATCH', '/users/mia', 405],
    ['POST', '/globalroles', 405],
    ['PUT', '/globalroles/platform-regular', 405],
    ['HEAD', '/users/mia', 200],
    ['HEAD', '/users/mia/globalroles', 200],
    ['HEAD', '/users/mia/loginrecords', 200],
  ])('gets for %s %s %i', async (method, path, expected) => {
    const { service, ada } = await startAccounts((objects) => {
      objects.create('users', user('mia'));
      objects.create('clusterroles', role('platform-regular'));
      objects.create('clusterrolebindings', keptBinding('mia', 'platform-regular'));
    });
    const { status, body, text } = await service.call(IAM + path, { method, token: ada });
    expect([status, body?.code ?? status]).toEqual([expected, expected]);
    if (method === 'HEAD') expect(text).toBe('');
  });

  test('AC-02 is told that a user is not found, in the words of Kubernetes', async () => {
    const { ask } = await startAccounts();
    const { body } = await ask('/users/nobody');
    expect(body).toMatchObject({
      reason: 'NotFound',
      message: 'users.iam.gatehouse.io "nobody" not found',
      details: { name: 'nobody', group: 'iam.gatehouse.io', kind: 'users' },
    });
  });
});
