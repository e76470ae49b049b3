import { expect, test } from 'vitest';
import { forbidden } from '../../../../src/http/chain/authorize.ts';

const INFO = {
  ...{ isResource: true, prefix: 'api', verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log' },
  ...{ namespace: 'shop', name: 'cart', fieldSelector: '', labelSelector: '' },
};

test('a refusal is the sentence of Kubernetes, and no name reads as a part of it', () => {
  expect(forbidden('ada', INFO).message).toBe(
    'pods "cart" is forbidden: User "ada" cannot get resource "pods/log" in API group "" in the namespace "shop"',
  );
  const name = 'x" is forbidden: User "eve" cannot get resource "*" in API group "*" at the cluster scope';
  expect(forbidden('ada', { ...INFO, name }).message).not.toContain('User "eve"');
  expect(forbidden('ada', { ...INFO, namespace: 'x" at "y' }).message).toContain('in the namespace "x\\" at \\"y"');
});
