import { describe, expect, test } from 'vitest';
import { type Json, unique } from './api-client.ts';
import { as, bindingOf, grant, newRole, RBAC, RBAC_GROUP } from './rights.ts';
import { failure, type Suite } from './suite.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const LIST_NODES = { verb: 'list', group: 'resources.gatehouse.io', version: 'v1alpha3', resource: 'nodes' };

const RULES = 'SelfSubjectRulesReview';

/** RBAC sees new bindings by a watch, so a new one takes effect a moment later. */
const ATTEMPTS = 5_000;

export function describeReviews(suite: Suite): void {
  describe('a SelfSubjectRulesReview', () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';

    test('names the rules of the caller in a namespace, by 201 and without the question', async () => {
      const spec = { namespace: 'default' };
      const answer = await suite.api.create(path, { apiVersion: 'authorization.k8s.io/v1', kind: RULES, spec });
      expect(answer).toMatchObject({ kind: RULES, apiVersion: 'authorization.k8s.io/v1', spec: {} });
      const { resourceRules, nonResourceRules, incomplete } = answer.status;
      expect(incomplete).toBe(false);
      expect(resourceRules).toContainEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
      expect(resourceRules).toContainEqual({
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      });
      expect(nonResourceRules).toContainEqual({ verbs: ['*'], nonResourceURLs: ['*'] });
    });

    test('names to a person the rules of the bindings in that namespace, with the names of objects, and of the whole cluster', async () => {
      const [user, namespace, other] = [unique('user'), await suite.api.newNamespace(), await suite.api.newNamespace()];
      const list = { verbs: ['list'], apiGroups: [''], resources: ['nodes'] };
      const one = { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['only'] };
      const role = { kind: 'ClusterRole', name: await newRole(suite, [one]), apiGroup: RBAC_GROUP };
      const binding = { ...bindingOf('', user), roleRef: role };
      await suite.api.create(`${RBAC}/namespaces/${namespace}/rolebindings`, binding);
      await grant(suite, user, [list], { verb: 'list', resource: 'nodes' });
      const rules = async (where: string): Promise<Json> => {
        const body = { apiVersion: 'authorization.k8s.io/v1', kind: RULES, spec: { namespace: where } };
        return (await suite.api.post(path, body, as(user))).body.status.resourceRules;
      };
      const [here, there] = [await rules(namespace), await rules(other)];
      for (const found of [here, there]) expect(found).toContainEqual(list);
      expect(here).toContainEqual(one);
      expect(there).not.toContainEqual(one);
    });

    test('is refused without a namespace', async () => {
      const { status, body } = await suite.api.post(path, { spec: {} });
      expect([status, body]).toEqual([400, failure(400, 'BadRequest', 'no namespace on request')]);
    });
  });

  describe('a SubjectAccessReview', () => {
    const review = (spec: Json): Promise<Json> =>
      suite.api.create(REVIEWS, { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec });

    test('allows system:masters everything, by 201 and with the question', async () => {
      const spec = { user: 'x', groups: ['system:masters'], resourceAttributes: LIST_NODES };
      const answer = await review(spec);
      expect(answer).toMatchObject({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec });
      expect(answer.status).toEqual({ allowed: true });
    });

    test('allows a stranger nothing: allowed is false, denied is not set', async () => {
      const { status } = await review({ user: 'stranger', groups: ['g'], resourceAttributes: LIST_NODES });
      expect(status).toEqual({ allowed: false });
    });

    test('judges paths', async () => {
      const nonResourceAttributes = { path: '/livez', verb: 'get' };
      const authenticated = await review({ user: 'x', groups: ['system:authenticated'], nonResourceAttributes });
      expect(authenticated.status.allowed).toBe(true);
      expect((await review({ user: 'x', nonResourceAttributes })).status.allowed).toBe(false);
    });

    test('follows ClusterRoles and their bindings, and gives the binding as reason', async () => {
      const name = unique('list-nodes');
      const group = unique('group');
      const rules = [{ apiGroups: [LIST_NODES.group], resources: ['nodes'], verbs: ['get', 'list'] }];
      await suite.api.create(`${RBAC}/clusterroles`, { metadata: { name }, rules });
      await suite.api.create(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
      });
      const ask = async (verb: string): Promise<Json> =>
        (await review({ user: 'x', groups: [group], resourceAttributes: { ...LIST_NODES, verb } })).status;
      let status = await ask('list');
      for (let attempt = 0; !status.allowed && attempt < ATTEMPTS; attempt++) status = await ask('list');
      const reason = `RBAC: allowed by ClusterRoleBinding "${name}" of ClusterRole "${name}" to Group "${group}"`;
      expect(status).toEqual({ allowed: true, reason });
      expect(await ask('delete')).toEqual({ allowed: false });
    });

    test.each([
      [
        { resourceAttributes: LIST_NODES },
        { field: 'spec.user', message: 'Invalid value: "": at least one of user or group must be specified' },
      ],
      [
        { user: 'x' },
        {
          field: 'spec.resourceAttributes',
          message: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
        },
      ],
    ])('is refused when incomplete: %o', async (spec, { field, message }) => {
      const { status, body } = await suite.api.post(REVIEWS, { spec });
      expect(status).toBe(422);
      // There is no kind before the group, because this validation does not know it.
      expect(body).toEqual(
        failure(422, 'Invalid', `.authorization.k8s.io "" is invalid: ${field}: ${message}`, {
          group: 'authorization.k8s.io',
          causes: [{ reason: 'FieldValueInvalid', message, field }],
        }),
      );
    });
  });
}
