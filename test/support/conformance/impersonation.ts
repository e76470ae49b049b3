import { describe, expect, test } from 'vitest';
import { NODES, unique } from './api-client.ts';
import { as, grant } from './rights.ts';
import { failure, type Suite } from './suite.ts';

const cannot = (whom: string, kind: 'users' | 'groups', where = 'at the cluster scope'): object =>
  failure(
    403,
    'Forbidden',
    `${kind} "${whom}" is forbidden: User "nobody" cannot impersonate resource "${kind}" in API group "" ${where}`,
    { name: whom, kind },
  );

const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export function describeImpersonation(suite: Suite): void {
  describe('impersonation', () => {
    const powerless = () => ({ token: suite.target.powerlessToken });

    test('has a request judged by the rights of the other', async () => {
      const name = unique('user');
      const { status, body } = await suite.api.get(NODES, as(name));
      expect(status).toBe(403);
      const why = `nodes is forbidden: User "${name}" cannot list resource "nodes" in API group "" at the cluster scope`;
      expect(body).toEqual(failure(403, 'Forbidden', why, { kind: 'nodes' }));
      const list = { verbs: ['list'], apiGroups: [''], resources: ['nodes'] };
      await grant(suite, name, [list], { verb: 'list', resource: 'nodes' });
      expect((await suite.api.get(NODES, as(name))).status).toBe(200);
    });

    test('has it judged by his groups, among them that of all who are known', async () => {
      const attributes = { resourceAttributes: { verb: 'list', resource: 'nodes' } };
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: attributes };
      const review = (groups: string[]) => suite.api.post(REVIEWS, body, as(unique('user'), groups));
      expect((await review(['developers', 'system:masters'])).body.status).toEqual({ allowed: true });
      // Every user in system:authenticated may post this review.
      expect((await review(['developers'])).body.status).toEqual({ allowed: false });
    });

    test('of a user needs the right to it', async () => {
      const name = unique('user');
      const { status, body } = await suite.api.get(NODES, { ...as(name), ...powerless() });
      expect(status).toBe(403);
      expect(body).toEqual(cannot(name, 'users'));
    });

    test('of a group needs a right of its own, and each right may be limited by name', async () => {
      const [name, group] = [unique('user'), unique('group')];
      const rules = [
        { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: [name] },
        { verbs: ['impersonate'], apiGroups: [''], resources: ['groups'], resourceNames: [group] },
      ];
      await grant(suite, 'nobody', rules, { verb: 'impersonate', resource: 'users', name });
      const get = (groups: string[]) => suite.api.get(NODES, { ...as(name, groups), ...powerless() });
      expect((await get([group, 'system:masters'])).body).toEqual(cannot('system:masters', 'groups'));
      expect((await get([group])).body.message).toContain(`User "${name}" cannot list`);
      const other = await suite.api.get(NODES, { ...as(unique('user')), ...powerless() });
      expect(other.body.message).toContain('User "nobody" cannot impersonate');
    });

    test('of a service account needs a right in its namespace, and brings its groups', async () => {
      const account = 'system:serviceaccount:default:deployer';
      const { body } = await suite.api.get(NODES, { ...as(account), ...powerless() });
      const why = `serviceaccounts "deployer" is forbidden: User "nobody" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"`;
      expect(body).toEqual(failure(403, 'Forbidden', why, { name: 'deployer', kind: 'serviceaccounts' }));
      const keys = (user: string) => {
        const { headers } = as(user);
        return suite.api.get('/openid/v1/jwks', { headers: { ...headers, accept: 'application/jwk-set+json' } });
      };
      expect((await keys(account)).status).toBe(200);
      expect((await keys(unique('user'))).status).toBe(403);
    });

    test('tells the other who he is, with what was said of him', async () => {
      const user = unique('user');
      const { headers } = as(user, ['developers']);
      const extra = { 'impersonate-extra-example.test%2Fsession': 'one', 'impersonate-extra-scopes': ['a', 'b'] };
      const { status, body } = await suite.api.post(WHO_AM_I, {}, { headers: { ...headers, ...extra } });
      expect(status).toBe(201);
      expect(body).toEqual({
        kind: 'SelfSubjectReview',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { creationTimestamp: expect.stringMatching(/Z$/) },
        status: {
          userInfo: {
            username: user,
            groups: ['developers', 'system:authenticated'],
            extra: { 'example.test/session': ['one'], scopes: ['a', 'b'] },
          },
        },
      });
    });

    test('with more that is said of him needs a right to each', async () => {
      const name = unique('user');
      const users = { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: [name] };
      const group = 'authentication.k8s.io';
      const session = { verbs: ['impersonate'], apiGroups: [group], resources: ['userextras/example.test/session'] };
      const probe = { verb: 'impersonate', group, resource: 'userextras', subresource: 'example.test/session' };
      await grant(suite, 'nobody', [users, session], probe);
      const ask = (extra: string) =>
        suite.api.post(WHO_AM_I, {}, { headers: { ...as(name).headers, [extra]: 'one' }, ...powerless() });
      expect((await ask('impersonate-extra-example.test%2Fsession')).status).toBe(201);
      const { status, body } = await ask('impersonate-extra-scopes');
      expect(status).toBe(403);
      const why = `userextras.authentication.k8s.io "one" is forbidden: User "nobody" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope`;
      expect(body).toEqual(failure(403, 'Forbidden', why, { name: 'one', group, kind: 'userextras' }));
    });

    test('tells the other his uid, which needs a right of its own', async () => {
      const name = unique('user');
      const headers = { ...as(name).headers, 'impersonate-uid': 'u-1' };
      const { body } = await suite.api.post(WHO_AM_I, {}, { headers });
      expect(body.status.userInfo).toEqual({ username: name, uid: 'u-1', groups: ['system:authenticated'] });
      const rule = { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: [name] };
      await grant(suite, 'nobody', [rule], { verb: 'impersonate', resource: 'users', name });
      const refused = await suite.api.post(WHO_AM_I, {}, { headers, ...powerless() });
      expect(refused.status).toBe(403);
      expect(refused.body.message).toContain('cannot impersonate resource "uids" in API group "authentication.k8s.io"');
    });

    test('of system:anonymous brings the group of those who are not known', async () => {
      const { status, body } = await suite.api.post(WHO_AM_I, {}, as('system:anonymous'));
      expect([status, body.message]).toEqual([403, expect.stringContaining('User "system:anonymous" cannot create')]);
    });

    test.each([
      [{ 'impersonate-group': ['a', 'b'] }, '{Group  a    } {Group  b    }'],
      [{ 'impersonate-uid': 'u-1' }, '{UID  u-1  authentication.k8s.io/v1  }'],
      [{ 'impersonate-extra-scopes': 'a' }, '{UserExtra  a  authentication.k8s.io/v1  scopes}'],
    ])('without a user is an error: %o', async (headers, wanted) => {
      const { status, text } = await suite.api.get(NODES, { headers });
      expect(status).toBe(500);
      const why = `requested [${wanted}] without impersonating a user`;
      expect(text).toBe(`Internal Server Error: ${JSON.stringify(NODES)}: ${why}\n`);
    });
  });
}
