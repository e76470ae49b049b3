import { beforeEach, describe, expect, test } from 'vitest';
import { type Json, unique } from './api-client.ts';
import { as, bindingOf, grant, newRole, RBAC, RBAC_GROUP } from './rights.ts';
import { failure, type Suite } from './suite.ts';

const BINDINGS = `${RBAC}/clusterrolebindings`;
const ROLES = `${RBAC}/clusterroles`;

const WRITE_RBAC = {
  verbs: ['create', 'update', 'patch', 'delete'],
  apiGroups: [RBAC_GROUP],
  resources: ['clusterroles', 'clusterrolebindings', 'rolebindings'],
};
const READ_NODES = { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] };
const READ_PODS = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

export function describeEscalation(suite: Suite): void {
  describe('a writer of roles and bindings', () => {
    let writer: string;
    let url: string;
    beforeEach(async () => {
      writer = unique('writer');
      const probe = { verb: 'create', group: RBAC_GROUP, resource: 'clusterrolebindings' };
      await grant(suite, writer, [WRITE_RBAC, READ_NODES], probe);
    });
    const bind = async (role: string, subject: Json = {}): Promise<Json> => {
      const body = { ...bindingOf(role, unique('user')), ...subject };
      url = `${BINDINGS}/${body.metadata.name}`;
      return { ...(await suite.api.post(BINDINGS, body, as(writer))), name: body.metadata.name };
    };
    const held = (
      name: string,
      kind: string,
      missing: readonly string[],
      groups = '["system:authenticated"]',
    ): object =>
      failure(
        403,
        'Forbidden',
        `${kind}.${RBAC_GROUP} "${name}" is forbidden: user "${writer}" (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${missing.join('\n')}`,
        { name, group: RBAC_GROUP, kind },
      );

    test('binds a role whose rights he holds', async () => {
      expect((await bind(await newRole(suite, [READ_NODES]))).status).toBe(201);
      expect((await suite.api.get(url)).status).toBe(200);
    });

    test('binds no role with a right that he lacks, and is told which', async () => {
      const role = await newRole(suite, [READ_PODS, { verbs: ['get'], nonResourceURLs: ['/metrics'] }]);
      const { status, body, name } = await bind(role);
      expect(status).toBe(403);
      const missing = [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      ];
      expect(body).toEqual(held(name, 'clusterrolebindings', missing));
      expect((await suite.api.get(url)).status).toBe(404);
    });

    test('is refused by a dry run as well', async () => {
      const body = bindingOf(await newRole(suite, [READ_PODS]), unique('user'));
      expect((await suite.api.post(`${BINDINGS}?dryRun=All`, body, as(writer))).status).toBe(403);
    });

    test('binds any role that he may bind by name', async () => {
      const role = await newRole(suite, [READ_PODS]);
      const [verb, resource] = ['bind', 'clusterroles'];
      const rule = { verbs: [verb], apiGroups: [RBAC_GROUP], resources: [resource], resourceNames: [role] };
      await grant(suite, writer, [rule], { verb, group: RBAC_GROUP, resource, name: role });
      expect((await bind(role)).status).toBe(201);
      expect((await bind(await newRole(suite, [READ_PODS]))).status).toBe(403);
    });

    test('binds no role that does not exist', async () => {
      const { status, body } = await bind('absent');
      expect(status).toBe(404);
      // The message has the name of the role, but the kind of the binding.
      const message = `clusterrolebindings.${RBAC_GROUP} "absent" not found`;
      expect(body).toEqual(
        failure(404, 'NotFound', message, { name: 'absent', group: RBAC_GROUP, kind: 'clusterrolebindings' }),
      );
    });

    test('in system:masters binds what he wants', async () => {
      const body = bindingOf(await newRole(suite, [READ_PODS]), unique('user'));
      expect((await suite.api.post(BINDINGS, body, as(writer, ['system:masters']))).status).toBe(201);
    });

    test('changes a binding only where he holds all rights of its role', async () => {
      const body = bindingOf(await newRole(suite, [READ_PODS]), unique('user'));
      const binding = await suite.api.create(BINDINGS, body);
      const at = `${BINDINGS}/${binding.metadata.name}`;
      const labelled = { ...binding, metadata: { ...binding.metadata, labels: { a: '1' } } };
      const { status } = await suite.api.put(at, labelled, as(writer));
      expect(status).toBe(403);
      const withFinalizer = { ...binding, metadata: { ...binding.metadata, finalizers: ['example.com/one'] } };
      expect((await suite.api.put(at, withFinalizer, as(writer))).status).toBe(200);
    });

    test('binds in a namespace what he holds there', async () => {
      const namespace = await suite.api.newNamespace();
      const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`;
      const [mine, other] = [await newRole(suite, [READ_NODES]), await newRole(suite, [READ_PODS])];
      expect((await suite.api.post(bindings, bindingOf(mine, 'x'), as(writer))).status).toBe(201);
      expect((await suite.api.post(bindings, bindingOf(other, 'x'), as(writer))).status).toBe(403);
    });

    test('makes no role with a right that he lacks', async () => {
      const make = (rules: readonly Json[], name = unique('role')) =>
        suite.api.post(ROLES, { metadata: { name }, rules }, as(writer, ['developers']));
      expect((await make([READ_NODES])).status).toBe(201);
      const all = { verbs: ['*'], apiGroups: ['*'], resources: ['nodes'] };
      const named = {
        verbs: ['get'],
        apiGroups: [''],
        resources: ['secrets', 'nodes/status'],
        resourceNames: ['keys'],
      };
      const { status, body } = await make([all, named], 'role-that-is-refused');
      expect(status).toBe(403);
      const missing = [
        '{APIGroups:[""], Resources:["nodes/status"], ResourceNames:["keys"], Verbs:["get"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["keys"], Verbs:["get"]}',
        '{APIGroups:["*"], Resources:["nodes"], Verbs:["*"]}',
      ];
      const groups = '["developers" "system:authenticated"]';
      expect(body).toEqual(held('role-that-is-refused', 'clusterroles', missing, groups));
    });

    test('makes any role where he may escalate', async () => {
      const [verb, resource] = ['escalate', 'clusterroles'];
      await grant(suite, writer, [{ verbs: [verb], apiGroups: [RBAC_GROUP], resources: [resource] }], {
        verb,
        group: RBAC_GROUP,
        resource,
      });
      const body = { metadata: { name: unique('role') }, rules: [READ_PODS] };
      expect((await suite.api.post(ROLES, body, as(writer))).status).toBe(201);
    });
  });
}
