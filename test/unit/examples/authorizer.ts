import assert from 'node:assert/strict';
import type { Authorizer } from '../../../src/authorization/authorizer.ts';

const onlyReads: Authorizer = {
  authorize: (_subject, attributes) => {
    const { verb } = 'resource' in attributes ? attributes.resource : attributes.nonResource;
    return { allowed: ['get', 'list', 'watch'].includes(verb), source: 'always_allow' };
  },
};

const ada = { name: 'ada', uid: 'u-1', groups: [] };
const nodes = { group: '', version: 'v1', resource: 'nodes' };
const list = await onlyReads.authorize(ada, { resource: { ...nodes, verb: 'list' } });
const removal = await onlyReads.authorize(ada, { resource: { ...nodes, verb: 'delete' } });
assert.deepEqual([list.allowed, removal.allowed], [true, false]);
