import { describe, expect, test } from 'vitest';
import { type AskedOf, CALL_KINDS, isLongRunning, kindOf, mayUpgrade } from '../../../src/gateway/call.ts';

const asked = (change: Partial<AskedOf>): AskedOf => ({
  ...{ isResource: true, prefix: 'api', verb: 'get', group: '', resource: 'pods' },
  ...{ namespace: 'a', name: 'b', subresource: '' },
  ...change,
});

describe('the kind of a call', () => {
  test.each([
    ['object', {}],
    ['object', { verb: 'list' }],
    ['object', { subresource: 'status' }],
    ['discovery', { isResource: false, prefix: '', verb: 'get' }],
    ['discovery', { isResource: false, subresource: 'proxy' }],
    ['watch', { verb: 'watch' }],
    ['watch', { verb: 'watch', prefix: 'apis', group: 'apps', resource: 'deployments' }],
    ['log', { subresource: 'log' }],
    ['exec', { subresource: 'exec', verb: 'create' }],
    ['attach', { subresource: 'attach', verb: 'create' }],
    ['portforward', { subresource: 'portforward', verb: 'create' }],
    ['proxy', { subresource: 'proxy' }],
    ['proxy', { subresource: 'proxy', resource: 'nodes' }],
    ['proxy', { verb: 'proxy', resource: 'services' }],
    // A resource of somebody else may have any word as its subresource.
    ['object', { prefix: 'apis', group: 'example.com', subresource: 'proxy' }],
    ['object', { prefix: 'apis', group: 'example.com', verb: 'proxy' }],
    ['object', { prefix: 'apis', group: 'example.com', subresource: 'exec' }],
    ['object', { resource: 'services', subresource: 'exec' }],
  ] as const)('is %s of %j', (kind, change) => {
    expect(kindOf(asked(change))).toBe(kind);
  });

  test('tells which calls last as long as their ends like, and which connections may become another protocol', () => {
    expect(CALL_KINDS.filter((kind) => !isLongRunning(kind))).toEqual(['object', 'discovery']);
    const streams = ['exec', 'attach', 'portforward', 'proxy'];
    expect(CALL_KINDS.filter((kind) => mayUpgrade(kind, 'spdy/3.1'))).toEqual(streams);
    expect(CALL_KINDS.filter((kind) => mayUpgrade(kind, 'websocket'))).toEqual(['watch', ...streams]);
  });
});
