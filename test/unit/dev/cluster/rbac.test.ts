import { describe, expect, test } from 'vitest';
import { ObjectStore } from '../../../../dev/cluster/object-store.ts';
import { decide, type ResourceAttributes } from '../../../../dev/cluster/rbac.ts';
import { seededRandom } from '../../../../dev/cluster/seeded-random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const SUBJECTS = [
  { kind: 'User', name: 'alice' },
  { kind: 'Group', name: 'readers' },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'tools' },
];

/** A store in which alice, the readers and a robot are bound to one role with one rule. */
function storeWith(rule: object, namespace?: string): ObjectStore {
  const store = new ObjectStore({ clock: new FakeClock(), random: seededRandom(1) });
  const metadata = { name: 'it', ...(namespace === undefined ? {} : { namespace }) };
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  store.create(`${kind.toLowerCase()}s`, { metadata, rules: [rule] });
  store.create(`${kind.toLowerCase()}bindings`, { metadata, roleRef: { kind, name: 'it' }, subjects: SUBJECTS });
  return store;
}

const mayAlice = (store: ObjectStore, resourceAttributes: ResourceAttributes): boolean =>
  decide(store, { user: 'alice', resourceAttributes }).allowed;

const LIST_NODES = { apiGroups: [''], resources: ['nodes'], verbs: ['list'] };
const nodes = { verb: 'list', resource: 'nodes' };

describe('RBAC over the stored roles', () => {
  test.each([
    [{ user: 'alice' }, true],
    [{ user: 'bob', groups: ['readers'] }, true],
    [{ user: 'system:serviceaccount:tools:robot' }, true],
    [{ user: 'system:serviceaccount:other:robot' }, false],
    [{ user: 'bob', groups: ['writers'] }, false],
    [{ user: 'readers' }, false],
    [{ user: 'bob', groups: ['system:masters'] }, true],
  ])('%j may: %s', (subject, allowed) => {
    expect(decide(storeWith(LIST_NODES), { ...subject, resourceAttributes: nodes }).allowed).toBe(allowed);
  });

  test('gives the binding as reason', () => {
    const spec = { user: 'system:serviceaccount:tools:robot', resourceAttributes: nodes };
    expect(decide(storeWith(LIST_NODES), spec).reason).toBe(
      'RBAC: allowed by ClusterRoleBinding "it" of ClusterRole "it" to ServiceAccount "robot/tools"',
    );
  });

  test.each([
    [LIST_NODES, nodes, true],
    [LIST_NODES, { ...nodes, verb: 'watch' }, false],
    [LIST_NODES, { ...nodes, group: 'resources.gatehouse.io' }, false],
    [LIST_NODES, { ...nodes, subresource: 'status' }, false],
    [{ ...LIST_NODES, resources: ['nodes/status'] }, { ...nodes, subresource: 'status' }, true],
    [{ ...LIST_NODES, resources: ['*/status'] }, { ...nodes, subresource: 'status' }, true],
    [{ ...LIST_NODES, resources: ['*'] }, { ...nodes, subresource: 'status' }, true],
    [{ ...LIST_NODES, verbs: ['*'], apiGroups: ['*'] }, { verb: 'get', group: 'x', resource: 'nodes' }, true],
    [{ ...LIST_NODES, resourceNames: ['a'] }, { ...nodes, name: 'a' }, true],
    [{ ...LIST_NODES, resourceNames: ['a'] }, { ...nodes, name: 'b' }, false],
    [{ ...LIST_NODES, resourceNames: ['a'] }, nodes, false],
  ])('the rule %j for %j: %s', (rule, attributes, allowed) => {
    expect(mayAlice(storeWith(rule), attributes)).toBe(allowed);
  });

  test('a Role counts in its own namespace only', () => {
    const store = storeWith({ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }, 'here');
    const secrets = { verb: 'get', resource: 'secrets' };
    expect(mayAlice(store, { ...secrets, namespace: 'here' })).toBe(true);
    expect(mayAlice(store, { ...secrets, namespace: 'there' })).toBe(false);
    expect(mayAlice(store, secrets)).toBe(false);
  });

  test.each([
    ['/metrics', true],
    ['/logs/x', true],
    ['/logs', false],
  ])('a rule for paths allows %s: %s', (path, allowed) => {
    const store = storeWith({ nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] });
    expect(decide(store, { user: 'alice', nonResourceAttributes: { path, verb: 'get' } }).allowed).toBe(allowed);
  });
});
