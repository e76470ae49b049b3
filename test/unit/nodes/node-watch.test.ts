import { describe, expect, test } from 'vitest';
import type { Freshness } from '../../../src/kubernetes/freshness.ts';
import { parseNodeListQuery } from '../../../src/nodes/list-query.ts';
import { parseNodeWatchQuery } from '../../../src/nodes/watch-query.ts';
import { StatusError } from '../../../src/status-error.ts';
import { listOf, MAX_STALENESS_MS, makeCache, makeNode, makePod, namesOf, synced, textOf } from './node-objects.ts';
import { WatchClient } from './watch-client.ts';

type Cache = ReturnType<typeof makeCache>;

const openWatch = ({ lister }: Cache, query = '', form: 'json' | 'events' = 'json') =>
  lister.watch(parseNodeWatchQuery(`watch=true&${query}`), form);

/** Brings the list up to the moment, as a look at the watches does, then takes the next batch. */
function nextText(cache: Cache, watch: ReturnType<typeof openWatch>): string | undefined {
  cache.lister.refresh();
  const bytes = watch.next();
  return bytes && Buffer.from(bytes).toString();
}

const story = ({ told }: WatchClient): string[] =>
  told.map(({ type, object }) => (type === 'BOOKMARK' ? type : `${type} ${object.metadata.name}`));

/** With these nodes, and a client that has been told of all of them. */
function start(names: readonly string[] = ['node-a', 'node-b'], query = '') {
  const cache = makeCache();
  for (const name of names) cache.putNode(makeNode(name, { labels: { tier: 'one' } }));
  const client = new WatchClient(cache.lister, query);
  client.takeAll();
  client.told.length = 0;
  return { cache, client };
}

const changed = (name: string, resourceVersion: string, metadata: object = {}) =>
  makeNode(name, { resourceVersion, labels: { tier: 'one' }, ...metadata });

function refusalOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error.answer;
  }
  throw new Error('it was not refused');
}

describe('a watch of the nodes', () => {
  test('tells every node in the order of the list, byte by byte as it stands there, then the version of the list', () => {
    const cache = makeCache();
    for (const name of ['node-a', 'node-c', 'node-b']) cache.putNode(makeNode(name));
    const watch = openWatch(cache);
    const list = cache.lister.list(parseNodeListQuery(''));
    const items = JSON.parse(textOf(list.body('identity'))).items as object[];
    const lines = items.map((item) => `{"type":"ADDED","object":${JSON.stringify(item)}}\n`);
    expect(nextText(cache, watch)).toBe(lines.join(''));
    expect(nextText(cache, watch)).toBe(
      `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":${list.etag('identity')},"annotations":{"k8s.io/initial-events-end":"true"}}}}\n`,
    );
    expect(nextText(cache, watch)).toBeUndefined();
    expect(watch.isBehind).toBe(false);
  });

  test('of no nodes is a bookmark', () => {
    const cache = makeCache();
    expect(nextText(cache, openWatch(cache))).toContain('"BOOKMARK"');
  });

  test('frames the same lines as server-sent events, with an id where the reader is up to date', () => {
    const cache = makeCache({ usage: false });
    cache.putNode(makeNode('node-a'));
    const watch = openWatch(cache, '', 'events');
    const item = JSON.stringify(listOf(cache.lister).items[0]);
    expect(nextText(cache, watch)).toBe('event: reset\ndata: {"type":"RESET"}\n\n');
    expect(nextText(cache, watch)).toBe(`event: ADDED\ndata: {"type":"ADDED","object":${item}}\n\n`);
    expect(nextText(cache, watch)).toMatch(/^event: BOOKMARK\ndata: \{"type":"BOOKMARK",.*\}\nid: e1-1\n\n$/);
    cache.putNode(changed('node-a', '2'));
    cache.putNode(makeNode('node-b'));
    const [second, first] = listOf(cache.lister).items.map((one) => JSON.stringify(one));
    expect(nextText(cache, watch)).toBe(
      `event: MODIFIED\ndata: {"type":"MODIFIED","object":${first}}\n\nevent: ADDED\ndata: {"type":"ADDED","object":${second}}\nid: e1-3\n\n`,
    );
    expect(Buffer.from(watch.keepAlive() ?? []).toString()).toContain('id: e1-3\n\n');
  });

  test('tells who lags of the newest state of each node, once', () => {
    const { cache, client } = start();
    for (let version = 2; version < 100; version++) cache.putNode(changed('node-a', String(version)));
    cache.putNode(changed('node-b', '200'));
    client.takeAll();
    expect(story(client)).toEqual(['MODIFIED node-a', 'MODIFIED node-b']);
    expect(client.told[0]?.object.metadata.resourceVersion).toBe('99');
  });

  test('tells nothing of a node that came and went meanwhile', () => {
    const { cache, client } = start();
    cache.putNode(makeNode('node-z'));
    cache.nodes.remove('node-z');
    client.takeAll();
    expect(story(client)).toEqual([]);
  });

  test('tells who went, and nothing of what it was', () => {
    const { cache, client } = start();
    cache.putNode(changed('node-a', '2', { labels: { tier: 'last' } }));
    cache.nodes.remove('node-a');
    cache.putNode(changed('node-b', '3'));
    client.takeAll();
    const metadata = { name: 'node-a', uid: 'uid-node-a', resourceVersion: '2' };
    expect(client.told).toEqual([
      { type: 'DELETED', object: { kind: 'Node', apiVersion: 'v1', metadata } },
      { type: 'MODIFIED', object: listOf(cache.lister).items[0] },
    ]);
  });

  test('tells a node that was made anew as ADDED, with its other uid', () => {
    const { cache, client } = start();
    cache.nodes.remove('node-a');
    cache.putNode(makeNode('node-a', { uid: 'another', resourceVersion: '9' }));
    client.takeAll();
    expect(story(client)).toEqual(['ADDED node-a']);
    expect(client.told[0]?.object.metadata.uid).toBe('another');
  });

  test('tells changed usage once, however many pods came and went', () => {
    const { cache, client } = start();
    for (const cpu of ['1', '2', '3']) {
      cache.putPod(makePod({ containers: [{ resources: { requests: { cpu } } }] }, { name: 'pod' }));
    }
    client.takeAll();
    expect(story(client)).toEqual(['MODIFIED node-a']);
    expect(client.told[0]?.object.metadata.annotations['node.gatehouse.io/cpu-requests']).toBe('3');
  });

  test.each([true, false])('tells only what differs after a relist (same history: %s)', (sameHistory) => {
    const { cache, client } = start(['node-a', 'node-b', 'node-c']);
    const kept = [changed('node-a', '1'), changed('node-c', '2')];
    cache.nodes.replace(
      kept.map((node) => cache.nodes.toEntry(node)),
      { sameHistory },
    );
    client.takeAll();
    expect(story(client)).toEqual(['DELETED node-b', 'MODIFIED node-c']);
  });

  test('tells another node of the same number in another history', () => {
    const { cache, client } = start();
    const other = changed('node-a', '1', { labels: { tier: 'other' } });
    cache.nodes.replace([other, changed('node-b', '1')].map((node) => cache.nodes.toEntry(node)));
    client.takeAll();
    expect(story(client)).toEqual(['MODIFIED node-a']);
  });

  test('gives all who stand at the same place the same bytes', () => {
    const { cache } = start();
    const watches = [openWatch(cache), openWatch(cache)];
    const first = watches.map((watch) => watch.next());
    expect(first[0]).toBe(first[1]);
    for (const watch of watches) watch.next();
    cache.putNode(changed('node-a', '2'));
    const [one, other] = watches.map((watch) => watch.next());
    expect(one).toBe(other);
  });

  test('comes in batches of 64 KiB and one node at most', () => {
    const cache = makeCache();
    for (let at = 0; at < 40; at++) cache.putNode(makeNode(`node-${at}`, {}, { spec: { note: 'x'.repeat(12_000) } }));
    const watch = openWatch(cache);
    const sizes: number[] = [];
    for (let bytes = watch.next(); bytes; bytes = watch.next()) sizes.push(bytes.length);
    expect(sizes).toHaveLength(8); // six nodes fill a batch
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024 + 13_000);
  });

  test('has no bookmarks where none are wanted, and comments for server-sent events', () => {
    const { cache } = start();
    const json = openWatch(cache, 'allowWatchBookmarks=false');
    const events = openWatch(cache, 'allowWatchBookmarks=false', 'events');
    events.next(); // reset
    for (const watch of [json, events]) {
      expect(nextText(cache, watch)).not.toContain('BOOKMARK');
      expect(nextText(cache, watch)).toBeUndefined();
    }
    expect(json.keepAlive()).toBeUndefined();
    expect(Buffer.from(events.keepAlive() ?? []).toString()).toBe(':\n\n');
  });
});

describe('a filtered watch', () => {
  const SELECTOR = 'labelSelector=tier%3Done';

  test('begins with the nodes that match', () => {
    const cache = makeCache();
    cache.putNode(makeNode('node-a', { labels: { tier: 'one' } }));
    cache.putNode(makeNode('node-b'));
    const client = new WatchClient(cache.lister, SELECTOR);
    client.takeAll();
    expect(story(client)).toEqual(['ADDED node-a', 'BOOKMARK']);
  });

  test('tells a node that matches no more as DELETED, and one that begins to as ADDED', () => {
    const { cache, client } = start(undefined, SELECTOR);
    cache.putNode(changed('node-a', '2', { labels: { tier: 'two' } }));
    client.takeAll();
    cache.putNode(changed('node-a', '3'));
    client.takeAll();
    expect(story(client)).toEqual(['DELETED node-a', 'ADDED node-a']);
  });

  test('tells nothing of nodes that do not match and did not, after a resume neither', () => {
    const { cache, client } = start(undefined, SELECTOR);
    cache.putNode(makeNode('other'));
    client.takeAll();
    client.keepAlive();
    client.told.length = 0;
    for (let version = 2; version < 10; version++) cache.putNode(makeNode('other', { resourceVersion: `${version}` }));
    client.takeAll();
    client.reconnect();
    client.takeAll();
    expect(story(client)).toEqual(['BOOKMARK']);
  });

  test('tells nothing of a node that never matched, whatever changes of it', () => {
    const { cache, client } = start(undefined, SELECTOR);
    for (const tier of ['two', 'three']) {
      cache.putNode(makeNode('other', { resourceVersion: tier, labels: { tier } }));
      client.takeAll();
      client.keepAlive();
      client.reconnect();
    }
    cache.nodes.remove('other');
    client.takeAll();
    expect(story(client).filter((event) => event !== 'BOOKMARK')).toEqual([]);
  });

  test('is told of who matched for a time that it may have been told of, after a resume', () => {
    const { cache, client } = start(['node-a'], SELECTOR);
    cache.putNode(makeNode('other', { resourceVersion: '1', labels: { tier: 'one' } }));
    client.take();
    cache.putNode(makeNode('other', { resourceVersion: '2', labels: { tier: 'two' } }));
    cache.putNode(makeNode('other', { resourceVersion: '3', labels: { tier: 'three' } }));
    client.reconnect();
    client.takeAll();
    expect(story(client)).toEqual(['ADDED other', 'DELETED other', 'BOOKMARK']);
  });

  test('is told of a removal too many when more changed than is remembered', () => {
    const { cache, client } = start(undefined, SELECTOR);
    cache.putNode(makeNode('other', { resourceVersion: '1', labels: { tier: 'two' } }));
    client.takeAll();
    client.keepAlive();
    client.told.length = 0;
    for (let at = 2; at < 6; at++)
      cache.putNode(makeNode('other', { resourceVersion: `${at}`, labels: { at: `${at}` } }));
    client.takeAll();
    expect(story(client)).toEqual([]);
    client.keepAlive();
    for (let at = 6; at < 12; at++)
      cache.putNode(makeNode('other', { resourceVersion: `${at}`, labels: { at: `${at}` } }));
    client.takeAll();
    expect(story(client)).toEqual(['BOOKMARK', 'DELETED other']);
  });

  test('of few among 15,000 gets next to nothing when an annotation of all of them changes', () => {
    const cache = makeCache({ usage: false });
    const put = (at: number, note: string): void =>
      cache.putNode(
        makeNode(`node-${at}`, {
          ...{ resourceVersion: note, annotations: { note } },
          labels: { tier: at < 3 ? 'one' : 'two' },
        }),
      );
    for (let at = 0; at < 15_000; at++) put(at, '1');
    const clients = [SELECTOR, `${SELECTOR}&annotation=note%3D1`].map((query) => new WatchClient(cache.lister, query));
    for (const client of clients) client.takeAll();
    for (const client of clients) client.told.length = 0;
    for (let at = 0; at < 15_000; at++) put(at, '2');
    for (const client of clients) client.takeAll();
    const stories = clients.map((client) => story(client).slice(0, 10).join());
    expect(stories).toEqual(['MODIFIED', 'DELETED'].map((type) => [0, 1, 2].map((at) => `${type} node-${at}`).join()));
  });

  test('by the status word goes by it', () => {
    const { cache, client } = start(undefined, 'status=running');
    cache.putNode(makeNode('node-a', { resourceVersion: '2' }, { spec: { unschedulable: true } }));
    client.takeAll();
    expect(story(client)).toEqual(['DELETED node-a']);
  });
});

describe('a resumed watch', () => {
  test('tells that a node went which it told after the bookmark', () => {
    const { cache, client } = start();
    cache.putNode(makeNode('ghost', { resourceVersion: '2' }));
    client.take();
    cache.nodes.remove('ghost');
    client.reconnect();
    client.takeAll();
    expect(story(client)).toEqual(['ADDED ghost', 'DELETED ghost', 'BOOKMARK']);
  });

  test('goes on from a bookmark, or from the tag of a list, though nobody watched meanwhile', () => {
    const { cache } = start();
    const list = cache.lister.list(parseNodeListQuery(''));
    for (const tag of [list.etag('identity'), list.etag('gzip')]) {
      const watch = openWatch(cache, `resourceVersion=${tag.slice(1, -1)}`);
      expect(nextText(cache, watch)).toMatch(/^\{"type":"BOOKMARK","object":\{[^}]*"resourceVersion":"e1-2"\}\}\}\n$/);
    }
    cache.putNode(changed('node-b', '2'));
    cache.nodes.remove('node-a');
    const watch = openWatch(cache, 'resourceVersion=e1-2');
    const lines = nextText(cache, watch)?.split('\n') ?? [];
    expect(lines.map((line) => line.slice(0, 18))).toEqual(['{"type":"MODIFIED"', '{"type":"DELETED",', '']);
  });

  const message = (version: string) => `too old resource version: ${version}: begin again without one`;

  test.each(['e2-1', 'e1-4', 'e1-999999999999999'])(
    'is 410 for %s: another process, or a version yet to come',
    (tag) => {
      const { cache } = start();
      expect(refusalOf(() => openWatch(cache, `resourceVersion=${tag}`))).toEqual({
        code: 410,
        reason: 'Expired',
        message: message(tag),
      });
    },
  );

  test('is 410 when more nodes went since than are remembered, and a running one that lags is, too', () => {
    const { cache } = start();
    const old = openWatch(cache, 'resourceVersion=e1-2');
    expect(nextText(cache, old)).toContain('BOOKMARK');
    for (let at = 0; at < 1_000; at++) {
      cache.putNode(makeNode(`gone-${at}`));
      cache.nodes.remove(`gone-${at}`);
    }
    expect(openWatch(cache, 'resourceVersion=e1-2').isBehind).toBe(true);
    cache.putNode(makeNode('last'));
    cache.nodes.remove('last');
    expect(refusalOf(() => openWatch(cache, 'resourceVersion=e1-2'))).toMatchObject({ code: 410 });
    expect(refusalOf(() => old.next())).toMatchObject({ code: 410, reason: 'Expired', message: message('e1-2') });
  });

  test('is 410 when 16 MiB of nodes went since', () => {
    const { cache } = start();
    for (let at = 0; at < 17; at++) {
      cache.putNode(makeNode(`large-${at}`, {}, { spec: { note: 'x'.repeat(2 ** 20) } }));
      cache.nodes.remove(`large-${at}`);
    }
    expect(refusalOf(() => openWatch(cache, 'resourceVersion=e1-2'))).toMatchObject({ code: 410 });
    expect(namesOf(cache.lister)).toHaveLength(2);
  });

  test('a client that was told 410 and begins anew ends with the list', () => {
    const { cache, client } = start();
    for (let at = 0; at < 1_001; at++) {
      cache.putNode(makeNode(`gone-${at}`));
      cache.nodes.remove(`gone-${at}`);
    }
    cache.nodes.remove('node-a');
    client.reconnect();
    client.takeAll();
    expect([...client.items.keys()]).toEqual(['node-b']);
  });
});

describe('a cache that must not be read', () => {
  test.each<[string, Freshness]>([
    ['first synchronisation has not finished', { ...synced, hasSynced: () => false }],
    ['data is older than 12m0s', { ...synced, stalenessMs: () => MAX_STALENESS_MS + 1 }],
  ])('is 503 for a watch as for a list: %s', (why, pods) => {
    const cache = makeCache({ freshness: { nodes: synced, pods } });
    const expected = refusalOf(() => cache.lister.list(parseNodeListQuery('')));
    expect(expected.message).toContain(why);
    expect(refusalOf(() => openWatch(cache))).toEqual(expected);
    expect(refusalOf(() => cache.lister.refresh())).toEqual(expected);
  });
});
