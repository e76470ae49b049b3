import { describe, expect, test } from 'vitest';
import { makeCache, makeNode, namesOf } from '../node-objects.ts';
import { WatchClient } from '../watch/watch-client.ts';

type Members = Readonly<Record<string, unknown>>;
type Cache = ReturnType<typeof makeCache>;

const owner = (uid: string, kind = 'Machine') => ({ ownerReferences: [{ uid, kind, name: 'm' }] });
const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });

let version = 0;
const put = (cache: Cache, metadata: Members, rest: Members = {}): void =>
  cache.putNode(makeNode('node-a', { resourceVersion: `${++version}`, ...metadata }, rest));

/** Each: what the filter asks for, a node that it takes, and the same with one thing changed that it does not take. */
const CHANGES: readonly [string, string, [Members, Members?], [Members, Members?]][] = [
  ['a label', 'labelSelector=tier%3Done', [{ labels: { tier: 'one' } }], [{ labels: { tier: 'two' } }]],
  ['a label that goes', 'labelSelector=tier', [{ labels: { tier: 'one' } }], [{ labels: {} }]],
  ['a label for another', 'labelSelector=tier', [{ labels: { tier: 'one' } }], [{ labels: { rank: 'one' } }]],
  ['all labels', 'labelSelector=tier', [{ labels: { tier: 'one' } }], [{}]],
  ['an annotation', 'annotation=a%3Db', [{ annotations: { a: 'b' } }], [{ annotations: { a: 'c' } }]],
  ['an annotation that goes', 'annotation=a', [{ annotations: { a: 'b' } }], [{ annotations: {} }]],
  ['the status', 'status=running', [{}, ready('True')], [{}, ready('False')]],
  ['the uid of an owner', 'ownerReference=one', [owner('one')], [owner('two')]],
  ['the kind of an owner', 'ownerKind=Machine', [owner('one')], [owner('one', 'Rack')]],
  ['the owners', 'ownerKind=Machine', [owner('one')], [{ ownerReferences: [] }]],
];

function start(query: string, [metadata, rest]: [Members, Members?]): { cache: Cache; client: WatchClient } {
  const cache = makeCache();
  put(cache, metadata, rest);
  const client = new WatchClient(cache.lister, { query });
  client.takeAll();
  client.keepAlive();
  client.told.length = 0;
  return { cache, client };
}

const tell = (client: WatchClient): string[] => {
  client.takeAll();
  return client.told.filter(({ type }) => type !== 'BOOKMARK').map(({ type }) => type);
};

describe('a node that leaves a filter and comes back', () => {
  test.each(CHANGES)('by %s is told as gone and as new', (_what, query, within, without) => {
    const { cache, client } = start(query, within);
    expect(namesOf(cache.lister, query)).toEqual(['node-a']);
    put(cache, ...without);
    expect(namesOf(cache.lister, query)).toEqual([]);
    expect(tell(client)).toEqual(['DELETED']);
    put(cache, ...within);
    expect(tell(client)).toEqual(['DELETED', 'ADDED']);
    expect(client.items.size).toBe(1);
  });

  test.each(CHANGES)('by %s is told as gone to a client that was away', (_what, query, within, without) => {
    const { cache, client } = start(query, within);
    put(cache, ...without);
    client.reconnect();
    client.takeAll();
    expect([...client.items.keys()]).toEqual([]);
    put(cache, ...within);
    client.reconnect();
    client.takeAll();
    expect([...client.items.keys()]).toEqual(['node-a']);
  });

  test.each(CHANGES)('by %s is told as new to a client whose filter never had it', (_what, query, within, without) => {
    const { cache, client } = start(query, without);
    expect(client.items.size).toBe(0);
    put(cache, ...within);
    expect(tell(client)).toEqual(['ADDED']);
  });
});

describe('a node that changes within a filter', () => {
  const [one, two] = [{ labels: { tier: 'one' } }, { labels: { tier: 'two' } }];

  test('is told as changed, not as new', () => {
    const { cache, client } = start('labelSelector=tier%3Done', [one]);
    put(cache, { ...one, annotations: { seen: 'once' } });
    expect(tell(client)).toEqual(['MODIFIED']);
  });

  test('is told as changed when it came into the filter before', () => {
    const { cache, client } = start('labelSelector=tier%3Done', [two]);
    put(cache, one);
    expect(tell(client)).toEqual(['ADDED']);
    put(cache, { ...one, annotations: { seen: 'once' } });
    expect(tell(client)).toEqual(['ADDED', 'MODIFIED']);
  });
});

describe('a client that lags behind thousands of changes', () => {
  test('is told of each node once, the newest state of all and the end of what went', () => {
    const cache = makeCache();
    for (const name of ['a', 'b', 'c']) cache.putNode(makeNode(`node-${name}`, { resourceVersion: `${++version}` }));
    const client = new WatchClient(cache.lister);
    client.takeAll();
    client.told.length = 0;
    cache.putNode(makeNode('node-b', { resourceVersion: `${++version}`, labels: { seldom: 'changed' } }));
    cache.nodes.remove('node-c', `${++version}`);
    for (let times = 0; times < 5_000; times++) {
      cache.putNode(makeNode('node-a', { resourceVersion: `${++version}` }));
    }
    client.takeAll();
    expect(client.told.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(
      expect.arrayContaining(['MODIFIED node-b', 'DELETED node-c', 'MODIFIED node-a']),
    );
    expect(client.told.filter(({ type }) => type !== 'BOOKMARK')).toHaveLength(3);
    expect([...client.items.keys()].sort()).toEqual(namesOf(cache.lister, 'sortBy=name&ascending=true'));
  });
});
