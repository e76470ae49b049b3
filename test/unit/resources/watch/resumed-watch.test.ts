import { describe, expect, test } from 'vitest';
import { replaceAll } from '../../../support/replace-all.ts';
import { makeNode, namesOf, parseNodeListQuery } from '../node-objects.ts';
import { changed, makeCache, nextText, openWatch, refusalOf, start, story } from './watched-cache.ts';

describe('a resumed watch', () => {
  test('tells that a node went which it told after the bookmark', () => {
    const { cache, client } = start();
    cache.putNode(makeNode('ghost', {}));
    client.take();
    cache.removeNode('ghost');
    client.reconnect();
    client.takeAll();
    expect(story(client)).toEqual(['ADDED ghost', 'DELETED ghost', 'BOOKMARK']);
  });

  test('gives what was missed versions as new as the newest state of any node, for each is told in its newest', () => {
    const { cache } = start();
    cache.putNode(changed('node-a'));
    cache.putNode(changed('node-b'));
    const lines = nextText(cache, openWatch(cache, 'resourceVersion=2.2.0.0'))?.trim().split('\n') ?? [];
    expect(lines.map((line) => JSON.parse(line).object.metadata.resourceVersion)).toEqual([
      '4.2.0.0-2.2.0.0-e1.3',
      '4.2.0.0-2.2.0.0-e1.4',
    ]);
  });

  test('goes on from the tag of a list, though nobody watched meanwhile', () => {
    const { cache } = start();
    const list = cache.lister.list(parseNodeListQuery(''));
    for (const tag of [list.etag('identity'), list.etag('gzip')]) {
      const watch = openWatch(cache, `resourceVersion=${tag.slice(1, -1)}`);
      expect(nextText(cache, watch)).toMatch(
        /^\{"type":"BOOKMARK","object":\{[^}]*"resourceVersion":"2\.2\.0\.0"\}\}\}\n$/,
      );
    }
    cache.putNode(changed('node-b'));
    cache.removeNode('node-a');
    const watch = openWatch(cache, 'resourceVersion=e1-2');
    const lines = nextText(cache, watch)?.split('\n') ?? [];
    expect(lines.map((line) => line.slice(0, 18))).toEqual(['{"type":"MODIFIED"', '{"type":"DELETED",', '']);
  });

  test('is 410 for a client that may have a node which came and went before the first list, though its last whole list is this one', () => {
    const cache = makeCache();
    const nodes = ['a', 'b'].map((name, at) => cache.nodes.toEntry(makeNode(name, { resourceVersion: `${at + 1}` })));
    replaceAll(cache.nodes, nodes, { resourceVersion: '9' });
    const open = (version: string) => openWatch(cache, `resourceVersion=${version}`);
    expect(nextText(cache, open('2.2.0.0'))).toContain('BOOKMARK');
    expect(refusalOf(() => open('5.3.0.0-2.2.0.0-e9.7'))).toMatchObject({ code: 410 });
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
      cache.removeNode(`gone-${at}`);
    }
    expect(openWatch(cache, 'resourceVersion=e1-2').isBehind).toBe(true);
    cache.putNode(makeNode('last'));
    cache.removeNode('last');
    expect(refusalOf(() => openWatch(cache, 'resourceVersion=e1-2'))).toMatchObject({ code: 410 });
    expect(refusalOf(() => old.next())).toMatchObject({ code: 410, reason: 'Expired', message: message('2.2.0.0') });
  });

  test('begins again when a node that it missed the end of is forgotten meanwhile, and its name is one that it does not see', () => {
    const { cache, client } = start(['node-a', 'node-b', 'node-z'], 'labelSelector=tier%3Done');
    const large = { spec: { note: 'x'.repeat(70_000) } };
    for (const name of ['node-a', 'node-b']) cache.putNode(makeNode(name, { labels: { tier: 'one' } }, large));
    cache.removeNode('node-z');
    client.reconnect();
    client.take();
    expect(story(client)).toEqual(['MODIFIED node-a']);
    for (let at = 0; at < 1_000; at++) {
      cache.putNode(makeNode(`gone-${at}`));
      cache.removeNode(`gone-${at}`);
    }
    cache.putNode(makeNode('node-z', { uid: 'another', labels: { tier: 'two' } }));
    client.takeAll();
    expect(client.expired).toBe(1);
    expect([...client.items.keys()].sort()).toEqual(['node-a', 'node-b']);
  });

  test('is 410 when 16 MiB of nodes went since', () => {
    const { cache } = start();
    for (let at = 0; at < 17; at++) {
      cache.putNode(makeNode(`large-${at}`, {}, { spec: { note: 'x'.repeat(2 ** 20) } }));
      cache.removeNode(`large-${at}`);
    }
    expect(refusalOf(() => openWatch(cache, 'resourceVersion=e1-2'))).toMatchObject({ code: 410 });
    expect(namesOf(cache.lister)).toHaveLength(2);
  });

  test('a client that was told 410 and begins anew ends with the list', () => {
    const { cache, client } = start();
    for (let at = 0; at < 1_001; at++) {
      cache.putNode(makeNode(`gone-${at}`));
      cache.removeNode(`gone-${at}`);
    }
    cache.removeNode('node-a');
    client.reconnect();
    client.takeAll();
    expect([...client.items.keys()]).toEqual(['node-b']);
  });
});
