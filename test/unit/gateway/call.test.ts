import { describe, expect, test } from 'vitest';
import {
  CALL_KINDS,
  type CallInfo,
  isLongRunning,
  isProxied,
  kindOf,
  upgradeKindOf,
} from '../../../src/gateway/call.ts';

const asked = (change: Partial<CallInfo>): CallInfo => ({
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
    // As at the API server: whatever the group and the resource.
    ['proxy', { prefix: 'apis', group: 'example.com', subresource: 'proxy' }],
    ['proxy', { prefix: 'apis', group: 'example.com', verb: 'proxy' }],
    ['exec', { prefix: 'apis', group: 'example.com', subresource: 'exec' }],
    ['log', { prefix: 'apis', group: 'example.com', namespace: '', subresource: 'log' }],
    ['exec', { resource: 'services', subresource: 'exec' }],
    ['object', { prefix: 'apis', group: 'subresources.kubevirt.io', subresource: 'console' }],
  ] as const)('is %s of %j', (kind, change) => {
    expect(kindOf(asked(change))).toBe(kind);
  });

  test('tells which calls last as long as their ends like', () => {
    expect(CALL_KINDS.filter((kind) => !isLongRunning(kind))).toEqual(['object', 'discovery']);
  });

  const KUBEVIRT = { prefix: 'apis', group: 'subresources.kubevirt.io', resource: 'virtualmachineinstances' };
  test.each([
    ['exec', 'exec', {}],
    ['attach', 'attach', {}],
    ['portforward', 'portforward', {}],
    ['proxy', 'proxy', {}],
    ['log', undefined, { subresource: 'log' }],
    ['watch', undefined, { verb: 'watch', subresource: '' }],
    [undefined, undefined, { subresource: '' }],
    [undefined, undefined, { subresource: 'status' }],
    [undefined, undefined, { isResource: false }],
    [undefined, undefined, { ...KUBEVIRT, subresource: '' }],
    ['proxy', 'proxy', { ...KUBEVIRT, subresource: 'console' }],
    ['proxy', 'proxy', { ...KUBEVIRT, subresource: 'vnc' }],
    ['portforward', 'portforward', { ...KUBEVIRT, subresource: 'portforward' }],
    ['log', 'log', { ...KUBEVIRT, subresource: 'log' }],
  ] as const)('becomes %s by websocket and %s by SPDY: %j', (websocket, spdy, change) => {
    const subresource = websocket ?? '';
    const one = asked({ subresource, ...change });
    expect([upgradeKindOf(one, 'websocket'), upgradeKindOf(one, 'spdy/3.1')]).toEqual([websocket, spdy]);
  });

  test.each([
    [true, true, { subresource: 'proxy' }],
    [true, true, { ...KUBEVIRT, verb: 'proxy' }],
    [true, true, { ...KUBEVIRT, subresource: 'proxy' }],
    [false, true, { ...KUBEVIRT, subresource: 'exec' }],
    [false, true, { ...KUBEVIRT, subresource: 'console' }],
    [false, false, { subresource: 'exec' }],
    [false, false, { verb: 'watch', ...{ prefix: 'apis', group: 'apps' } }],
  ] as const)('leads to a server that is not the cluster’s: %s, by an upgrade %s: %j', (plain, upgraded, change) => {
    expect([isProxied(asked(change), false), isProxied(asked(change), true)]).toEqual([plain, upgraded]);
  });
});
