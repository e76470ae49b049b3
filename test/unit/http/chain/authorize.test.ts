import { describe, expect, test } from 'vitest';
import { forbidden } from '../../../../src/http/chain/authorize.ts';
import type { RequestInfo } from '../../../../src/http/request-info.ts';

const info: RequestInfo = {
  isResource: true,
  prefix: 'kapis',
  verb: 'list',
  group: 'resources.gatehouse.io',
  version: 'v1alpha3',
  namespace: '',
  resource: 'nodes',
  name: '',
  subresource: '',
  fieldSelector: '',
  labelSelector: '',
};

describe('HE-403 the refusal of a right', () => {
  test('names verb, resource, group and scope', () => {
    expect(forbidden('joe', info).answer).toEqual({
      code: 403,
      reason: 'Forbidden',
      message:
        'nodes.resources.gatehouse.io is forbidden: User "joe" cannot list resource "nodes" in API group "resources.gatehouse.io" at the cluster scope',
      details: { group: 'resources.gatehouse.io', kind: 'nodes' },
    });
  });

  test('names the object', () => {
    const { message, details } = forbidden('joe', { ...info, verb: 'get', name: 'n1' }).answer;
    expect(message).toMatch(
      /^nodes\.resources\.gatehouse\.io "n1" is forbidden: User "joe" cannot get resource "nodes"/,
    );
    expect(details).toEqual({ name: 'n1', group: 'resources.gatehouse.io', kind: 'nodes' });
  });

  test('names the namespace and the subresource', () => {
    const asked = { ...info, resource: 'pods', name: 'p', subresource: 'log', namespace: 'd' };
    expect(forbidden('joe', asked).answer.message).toBe(
      'pods.resources.gatehouse.io "p" is forbidden: User "joe" cannot list resource "pods/log" in API group "resources.gatehouse.io" in the namespace "d"',
    );
  });

  test('writes the core group as the empty one', () => {
    expect(forbidden('joe', { ...info, group: '' }).answer).toMatchObject({
      message: 'nodes is forbidden: User "joe" cannot list resource "nodes" in API group "" at the cluster scope',
      details: { kind: 'nodes' },
    });
  });
});
