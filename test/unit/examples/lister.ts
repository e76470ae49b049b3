import assert from 'node:assert/strict';
import type { Lister } from '../../../src/resources/cache.ts';
import { createListQueryParser } from '../../../src/resources/query/list-query.ts';
import { makeCache, makeNode, NODE_KIND } from '../resources/node-objects.ts';

const parse = createListQueryParser(NODE_KIND);
function firstByName(lister: Lister): string {
  const answer = lister.list(parse('sortBy=name&ascending=true&limit=1'));
  return JSON.parse(Buffer.concat(answer.body('identity').pieces).toString()).items[0].metadata.name;
}

const { lister, putNode } = makeCache(); // test/unit/resources/node-objects.ts
putNode(makeNode('worker-2'));
putNode(makeNode('worker-1'));
assert.equal(firstByName(lister), 'worker-1');
assert.equal(lister.get('worker-3'), undefined);
