import { describe, expect, test } from 'vitest';
import type { Freshness } from '../../../../src/kubernetes/reflector/store.ts';
import { replaceAll } from '../../../support/replace-all.ts';
import {
  listOf,
  MAX_STALENESS_MS,
  makeNode,
  makePod,
  parseNodeListQuery,
  provenBefore,
  synced,
} from '../node-objects.ts';
import { WatchClient } from './watch-client.ts';
import { changed, makeCache, nextText, openWatch, refusalOf, start, story } from './watched-cache.ts';

describe('a watch of the nodes', () => {
  test('tells every node in the order of the list, byte by byte as it stands there, with its type and a version of the watch', () => {
    const cache = makeCache();
    for (const name of ['node-a', 'node-c', 'node-b']) cache.putNode(makeNode(name));
    const watch = openWatch(cache);
    // The last of them ends the first state.
    const versions: Record<string, string> = {
      'node-a': '3.3.0.0',
      'node-b': '3.3.0.0-0-e1.3',
      'node-c': '2.2.0.0-0-e1.2',
    };
    const lines = listOf(cache.lister).items.map(({ metadata, ...item }) => {
      const object = {
        kind: 'Node',
        apiVersion: 'v1',
        metadata: { ...metadata, resourceVersion: versions[metadata.name] },
      };
      return `{"type":"ADDED","object":${JSON.stringify({ ...object, ...item })}}\n`;
    });
    expect(nextText(cache, watch)).toBe(lines.join(''));
    expect(nextText(cache, watch)).toBe(
      '{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"3.3.0.0","annotations":{"k8s.io/initial-events-end":"true"}}}}\n',
    );
    expect(nextText(cache, watch)).toBeUndefined();
    expect(watch.isBehind).toBe(false);
  });

  test('looks at a thousand nodes a turn for those that it wants, at the beginning and after many changes', () => {
    const cache = makeCache({ usage: false });
    const putAll = (): void => {
      for (let at = 2_500; at > 0; at--) cache.putNode(makeNode(`node-${10_000 + at}`, { labels: { at: `${at}` } }));
    };
    putAll();
    const watch = openWatch(cache, 'labelSelector=at%3D1');
    for (const type of ['ADDED', 'MODIFIED']) {
      const seen = Array.from({ length: 3 }, () => [nextText(cache, watch), watch.isBehind] as const);
      expect(seen.slice(0, 2)).toEqual([
        [undefined, true],
        [undefined, true],
      ]);
      expect(JSON.parse(seen[2]?.[0] ?? '')).toMatchObject({ type, object: { metadata: { name: 'node-10001' } } });
      while (watch.isBehind) watch.next();
      putAll();
    }
  });

  test('of no nodes is a bookmark', () => {
    const cache = makeCache();
    expect(nextText(cache, openWatch(cache))).toContain('"BOOKMARK"');
  });

  test('frames the same lines as server-sent events, with an id from which a reader goes on', () => {
    const cache = makeCache({ usage: false });
    cache.putNode(makeNode('node-a'));
    const watch = openWatch(cache, '', 'events');
    expect(nextText(cache, watch)).toBe('event: reset\ndata: {"type":"RESET"}\nid:\n\n');
    const object = (name: string, version: string) =>
      `{"kind":"Node","apiVersion":"v1","metadata":{"name":"${name}","selfLink":"/api/v1/nodes/${name}","uid":"uid-${name}","resourceVersion":"${version}"}}`;
    const event = (type: string, name: string, version: string) =>
      `event: ${type}\ndata: {"type":"${type}","object":${object(name, version)}}\nid: ${version}\n\n`;
    expect(nextText(cache, watch)).toBe(event('ADDED', 'node-a', '1.1.0.0'));
    expect(nextText(cache, watch)).toMatch(/^event: BOOKMARK\ndata: \{"type":"BOOKMARK",.*\}\nid: 1\.1\.0\.0\n\n$/);
    cache.putNode(makeNode('node-a'));
    cache.putNode(makeNode('node-b'));
    expect(nextText(cache, watch)).toBe(
      event('MODIFIED', 'node-a', '2.1.0.0-1.1.0.0-e1.2') + event('ADDED', 'node-b', '3.2.0.0'),
    );
    expect(Buffer.from(watch.keepAlive() ?? []).toString()).toContain('id: 3.2.0.0\n\n');
  });

  test('gives no id to server-sent events of a first state that is not complete: nobody can go on from there', () => {
    const cache = makeCache({ usage: false });
    for (const name of ['node-a', 'node-b']) cache.putNode(makeNode(name));
    const watch = openWatch(cache, '', 'events');
    watch.next(); // reset
    const text = nextText(cache, watch) ?? '';
    expect(text.split('\n\n').map((event) => /\nid: (.*)$/.exec(event)?.[1])).toEqual([
      undefined,
      '2.2.0.0',
      undefined,
    ]);
  });

  test('tells who lags of the newest state of each node, once', () => {
    const { cache, client } = start();
    for (let version = 2; version < 100; version++) cache.putNode(changed('node-a'));
    cache.putNode(changed('node-b'));
    client.takeAll();
    expect(story(client)).toEqual(['MODIFIED node-a', 'MODIFIED node-b']);
    expect(client.told[0]?.object.metadata.resourceVersion).toBe('100.2.0.0-2.2.0.0-e1.100');
  });

  test('tells nothing of a node that came and went meanwhile', () => {
    const { cache, client } = start();
    cache.putNode(makeNode('node-z'));
    cache.removeNode('node-z');
    client.takeAll();
    expect(story(client)).toEqual([]);
  });

  test('tells who went, and nothing of what it was', () => {
    const { cache, client } = start();
    cache.putNode(changed('node-a', { labels: { tier: 'last' } }));
    cache.removeNode('node-a');
    cache.putNode(changed('node-b'));
    client.takeAll();
    const metadata = { name: 'node-a', uid: 'uid-node-a', resourceVersion: '4.1.0.0-2.2.0.0-e1.4' };
    expect(client.told[0]).toEqual({ type: 'DELETED', object: { kind: 'Node', apiVersion: 'v1', metadata } });
    expect(story(client)).toEqual(['DELETED node-a', 'MODIFIED node-b']);
  });

  test('tells a node that was made anew as ADDED, with its other uid', () => {
    const { cache, client } = start();
    cache.removeNode('node-a');
    cache.putNode(makeNode('node-a', { uid: 'another' }));
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
    const kept = [changed('node-a', { resourceVersion: '1' }), changed('node-c', { resourceVersion: '4' })];
    replaceAll(
      cache.nodes,
      kept.map((node) => cache.nodes.toEntry(node)),
      { sameHistory, resourceVersion: '9' },
    );
    client.takeAll();
    expect(story(client)).toEqual(['DELETED node-b', 'MODIFIED node-c']);
  });

  test('tells another node of the same number in another history', () => {
    const { cache, client } = start();
    const other = changed('node-a', { resourceVersion: '1', labels: { tier: 'other' } });
    replaceAll(
      cache.nodes,
      [other, changed('node-b', { resourceVersion: '2' })].map((node) => cache.nodes.toEntry(node)),
      { sameHistory: false, resourceVersion: '2' },
    );
    client.takeAll();
    expect(story(client)).toEqual(['MODIFIED node-a']);
  });

  test('gives all who stand at the same place the same bytes', () => {
    const { cache } = start();
    const watches = [openWatch(cache), openWatch(cache)];
    const first = watches.map((watch) => watch.next());
    expect(first[0]).toBe(first[1]);
    for (const watch of watches) watch.next();
    cache.putNode(changed('node-a'));
    const [one, other] = watches.map((watch) => watch.next());
    expect(one).toBe(other);
  });

  describe('of many nodes', () => {
    const large = (name: string, labels = {}) => makeNode(name, { labels }, { spec: { note: 'x'.repeat(4_000) } });

    /** With four batches of nodes, and the first of them as a watcher got it. */
    const startLarge = () => {
      const cache = makeCache();
      for (let at = 10; at < 70; at++) cache.putNode(large(`node-${at}`));
      const begin = (query = ''): Uint8Array | undefined => {
        cache.lister.refresh();
        return openWatch(cache, query).next();
      };
      const first = begin();
      const told = [
        ...Buffer.from(first ?? '')
          .toString()
          .matchAll(/"name":"(node-\d+)"/g),
      ].map(([, name]) => name ?? '');
      const [inIt = ''] = told;
      const notInIt = told.includes('node-10') ? 'node-69' : 'node-10';
      return { cache, begin, first, inIt, notInIt };
    };

    test('gives a watcher that begins later the same bytes as one before, while only nodes behind them change', () => {
      const { cache, begin, first, notInIt } = startLarge();
      cache.putNode(large(notInIt, { changed: 'yes' }));
      expect(begin()).toBe(first);
      expect(begin('labelSelector=changed')).not.toBe(first);
    });

    test.each<[string, (cache: ReturnType<typeof makeCache>, name: string) => unknown]>([
      ['changes', (cache, name) => cache.putNode(large(name, { changed: 'yes' }))],
      ['goes', (cache, name) => cache.removeNode(name)],
      ['comes', (cache) => cache.putNode(large('node-99'))],
    ])('gives a watcher that begins later the nodes as they are when one of them %s', (_, happen) => {
      const { cache, begin, first, inIt } = startLarge();
      happen(cache, inIt);
      expect(begin()).not.toBe(first);
      const client = new WatchClient(cache.lister);
      client.takeAll();
      const { items } = listOf(cache.lister);
      expect([...client.items.keys()]).toEqual(items.map(({ metadata }) => metadata.name));
      expect(client.told.filter(({ object }) => object.metadata.labels?.changed).map(({ type }) => type)).toEqual(
        items.filter(({ metadata }) => (metadata['labels'] as { changed?: string }).changed).map(() => 'ADDED'),
      );
    });
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
    const client = new WatchClient(cache.lister, { query: SELECTOR });
    client.takeAll();
    expect(story(client)).toEqual(['ADDED node-a', 'BOOKMARK']);
  });

  test('tells a node that matches no more as DELETED, and one that begins to as ADDED', () => {
    const { cache, client } = start(undefined, SELECTOR);
    cache.putNode(changed('node-a', { labels: { tier: 'two' } }));
    client.takeAll();
    cache.putNode(changed('node-a'));
    client.takeAll();
    expect(story(client)).toEqual(['DELETED node-a', 'ADDED node-a']);
  });

  test('tells nothing of nodes that do not match and did not, after a resume neither', () => {
    const { cache, client } = start(undefined, SELECTOR);
    cache.putNode(makeNode('other'));
    client.takeAll();
    client.keepAlive();
    client.told.length = 0;
    for (let version = 2; version < 10; version++) cache.putNode(makeNode('other'));
    client.takeAll();
    client.reconnect();
    client.takeAll();
    expect(story(client)).toEqual(['BOOKMARK']);
  });

  test('tells nothing of a node that never matched, whatever changes of it', () => {
    const { cache, client } = start(undefined, SELECTOR);
    for (const tier of ['two', 'three']) {
      cache.putNode(makeNode('other', { labels: { tier } }));
      client.takeAll();
      client.keepAlive();
      client.reconnect();
    }
    cache.removeNode('other');
    client.takeAll();
    expect(story(client).filter((event) => event !== 'BOOKMARK')).toEqual([]);
  });

  test('is told of who matched for a time that it may have been told of, after a resume', () => {
    const { cache, client } = start(['node-a'], SELECTOR);
    cache.putNode(makeNode('other', { labels: { tier: 'one' } }));
    client.take();
    cache.putNode(makeNode('other', { labels: { tier: 'two' } }));
    cache.putNode(makeNode('other', { labels: { tier: 'three' } }));
    client.reconnect();
    client.takeAll();
    expect(story(client)).toEqual(['ADDED other', 'DELETED other', 'BOOKMARK']);
  });

  test('is told of a removal too many when more changed than is remembered', () => {
    const { cache, client } = start(undefined, SELECTOR);
    cache.putNode(makeNode('other', { labels: { tier: 'two' } }));
    client.takeAll();
    client.keepAlive();
    client.told.length = 0;
    for (let at = 2; at < 6; at++) cache.putNode(makeNode('other', { labels: { at: `${at}` } }));
    client.takeAll();
    expect(story(client)).toEqual([]);
    client.keepAlive();
    for (let at = 6; at < 12; at++) cache.putNode(makeNode('other', { labels: { at: `${at}` } }));
    client.takeAll();
    expect(story(client)).toEqual(['BOOKMARK', 'DELETED other']);
  });

  test('of few among 15,000 gets next to nothing when an annotation of all of them changes', () => {
    const cache = makeCache({ usage: false });
    const put = (at: number, note: string): void =>
      cache.putNode(
        makeNode(`node-${at}`, {
          annotations: { note },
          labels: { tier: at < 3 ? 'one' : 'two' },
        }),
      );
    for (let at = 0; at < 15_000; at++) put(at, '1');
    const clients = [SELECTOR, `${SELECTOR}&annotation=note%3D1`].map(
      (query) => new WatchClient(cache.lister, { query }),
    );
    for (const client of clients) client.takeAll();
    for (const client of clients) client.told.length = 0;
    for (let at = 0; at < 15_000; at++) put(at, '2');
    for (const client of clients) client.takeAll();
    const stories = clients.map((client) => story(client).slice(0, 10).join());
    expect(stories).toEqual(['MODIFIED', 'DELETED'].map((type) => [0, 1, 2].map((at) => `${type} node-${at}`).join()));
  });

  test('by the status word goes by it', () => {
    const { cache, client } = start(undefined, 'status=running');
    cache.putNode(makeNode('node-a', {}, { spec: { unschedulable: true } }));
    client.takeAll();
    expect(story(client)).toEqual(['DELETED node-a']);
  });
});

describe('a cache that must not be read', () => {
  test.each<[string, Freshness]>([
    ['first synchronisation has not finished', { ...synced, hasSynced: () => false }],
    ['data is older than 12m0s', provenBefore(MAX_STALENESS_MS + 1)],
  ])('is 503 for a watch as for a list: %s', (why, pods) => {
    const cache = makeCache({ freshness: { nodes: synced, pods } });
    const expected = refusalOf(() => cache.lister.list(parseNodeListQuery('')));
    expect(expected.message).toContain(why);
    expect(refusalOf(() => openWatch(cache))).toEqual(expected);
    expect(refusalOf(() => cache.lister.refresh())).toEqual(expected);
  });

  test('is told that a node went that it was told of late in its first state', () => {
    const cache = makeCache();
    const put = (name: string, tier: string, note = '') =>
      cache.putNode(makeNode(name, { labels: { tier } }, { spec: { note } }));
    put('node-b', 'two');
    put('node-c', 'one', 'x'.repeat(70_000));
    const client = new WatchClient(cache.lister, { query: 'labelSelector=tier%3Done' });
    client.take();
    put('node-b', 'one');
    client.take();
    put('node-b', 'two');
    client.takeAll();
    expect(story(client)).toEqual(['ADDED node-c', 'ADDED node-b', 'DELETED node-b', 'BOOKMARK']);
  });
});
