import { describe, expect, test } from 'vitest';
import { replaceAll } from '../../../support/replace-all.ts';
import { makeNode, makePod } from '../node-objects.ts';
import { WatchClient } from './watch-client.ts';
import { makeCache, nextText, openWatch, refusalOf, start, story } from './watched-cache.ts';

/** Another replica that has heard of these nodes. */
function replica(names: readonly string[]) {
  const cache = makeCache({ epoch: 'e2' });
  for (const name of names) cache.putNode(makeNode(name, { labels: { tier: 'one' } }));
  return cache;
}

/** What is left of d, which changed last, and others, as a first list of later shows it. */
function fill({ nodes, pods }: ReturnType<typeof makeCache>, kind: 'nodes' | 'pods', names: readonly string[]): void {
  const metadata = (name: string) => ({ name, uid: name, resourceVersion: String('abcd'.indexOf(name) + 1) });
  const list = { sameHistory: false, resourceVersion: '4' };
  if (kind === 'nodes')
    replaceAll(
      nodes,
      names.map((name) => nodes.toEntry(makeNode(name, metadata(name)))),
      list,
    );
  else
    replaceAll(
      pods,
      names.map((name) => pods.toEntry(makePod({}, metadata(name)))),
      list,
    );
}

const keyOf = (kind: 'nodes' | 'pods', name: string): string => (kind === 'nodes' ? name : `default/${name}`);

const versionsIn = (text: string | undefined): string[] =>
  [...(text ?? '').matchAll(/"resourceVersion":"([^"]*)"/g)].map(([, version = '']) => version);

describe('a watch that goes on at another replica', () => {
  test('is told what happened since, and no first state', () => {
    const { client } = start();
    client.reconnect(replica(['node-a', 'node-b', 'node-c']).lister);
    client.takeAll();
    expect(story(client)).toEqual(['ADDED node-c', 'BOOKMARK']);
  });

  test('is told nothing while that one is behind, and goes on when it no longer is', () => {
    const { client } = start(['node-a', 'node-b', 'node-c']);
    const behind = replica(['node-a', 'node-b']);
    client.reconnect(behind.lister);
    client.takeAll();
    expect([client.isBehind, story(client)]).toEqual([false, []]);
    behind.putNode(makeNode('node-c'));
    behind.putNode(makeNode('node-d'));
    expect(client.isBehind).toBe(true);
    client.takeAll();
    expect(story(client)).toEqual(['ADDED node-d', 'BOOKMARK']);
  });

  test.each(['nodes', 'pods'] as const)('waits for one that has not heard yet that some %s went', (kind) => {
    const [listed, behind] = [replica([]), replica([])];
    for (const cache of [listed, behind]) fill(cache, kind, cache === listed ? ['d'] : ['a', 'b', 'c', 'd']);
    const client = new WatchClient(listed.lister);
    client.takeAll();
    client.reconnect(behind.lister);
    for (const [gone, version] of [
      ['a', '11'],
      ['b', '12'],
    ] as const) {
      expect(client.isBehind).toBe(false);
      behind[kind].remove(keyOf(kind, gone), version);
    }
    expect(client.isBehind).toBe(false);
    behind[kind].remove(keyOf(kind, 'c'), '13');
    expect(client.isBehind).toBe(true);
  });

  test('is 410 when that one is behind for 30 s', async () => {
    const behind = replica(['node-a']);
    const watch = openWatch(behind, 'resourceVersion=2.2.0.0');
    await behind.clock.advance(29_000);
    expect([watch.isBehind, watch.next()]).toEqual([false, undefined]);
    await behind.clock.advance(1_000);
    expect(watch.isBehind).toBe(true);
    expect(refusalOf(() => watch.next())).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 2.2.0.0: begin again without one',
    });
  });

  test.each(['2', '12345', 'nonsense', '1.1.0.0-0', '1.1.0.0-0-e1.1', '1.0-0', 'e1-2'])(
    'is 410 for %s, from which nobody can go on there',
    (version) => {
      const answer = refusalOf(() => openWatch(replica(['node-a', 'node-b']), `resourceVersion=${version}`));
      expect([answer.code, answer.reason]).toEqual([410, 'Expired']);
    },
  );

  test('is 410 where pods are counted and here were none, or the other way round', () => {
    expect(refusalOf(() => openWatch(makeCache({ usage: false }), 'resourceVersion=0.0.7.1')).code).toBe(410);
  });
});

describe('the first state', () => {
  const NOT_OLDER = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=2.2.0.0';

  test('is not older than the version that is asked for', () => {
    const behind = replica(['node-a']);
    const watch = openWatch(behind, NOT_OLDER);
    expect([watch.isBehind, nextText(behind, watch)]).toEqual([false, undefined]);
    behind.putNode(makeNode('node-b'));
    expect(nextText(behind, watch)?.match(/"ADDED"/g)).toHaveLength(2);
  });

  test('is left out on request: what happens from now on', () => {
    const cache = replica(['node-a']);
    const watch = openWatch(cache, 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan');
    expect(nextText(cache, watch)).toContain('"BOOKMARK"');
    cache.putNode(makeNode('node-b'));
    expect(nextText(cache, watch)).toContain('"ADDED"');
  });

  test('comes node by node with versions from which nobody goes on, but for the last', () => {
    const cache = replica(['node-a', 'node-b']);
    expect(versionsIn(nextText(cache, openWatch(cache)))).toEqual(['2.2.0.0-0-e2.2', '2.2.0.0']);
  });
});

describe('the version of a node in a watch', () => {
  test('changes with its usage', () => {
    const { cache, client } = start(['node-a']);
    cache.putPod(
      makePod(
        { nodeName: 'node-a', containers: [{ resources: { requests: { cpu: '1' } } }] },
        { resourceVersion: '7' },
      ),
    );
    client.takeAll();
    cache.putNode(makeNode('node-a', { labels: { tier: 'one' } }));
    client.takeAll();
    expect(client.told.map(({ object }) => object.metadata.resourceVersion)).toEqual(['1.1.7.1', '2.1.7.1']);
  });

  test('is another one in a first state when a list alone shows that a pod of it went', () => {
    const cache = replica(['node-a', 'node-b', 'node-c']);
    cache.putPod(
      makePod(
        { nodeName: 'node-b', containers: [{ resources: { requests: { cpu: '1' } } }] },
        { resourceVersion: '7' },
      ),
    );
    const ofNodeB = (): string | undefined => versionsIn(nextText(cache, openWatch(cache)))[1];
    const versions = [ofNodeB()];
    replaceAll(cache.pods, [], { sameHistory: true, resourceVersion: '9' });
    versions.push(ofNodeB());
    expect(versions).toEqual(['3.3.7.1-0-e2.4', '3.3.7.0-0-e2.5']);
  });

  test('is one of the process where the cluster has no numbers, and can be gone on from there', () => {
    const cache = makeCache();
    cache.nodes.put(cache.nodes.toEntry(makeNode('node-a', { resourceVersion: 'abc' })));
    const watch = openWatch(cache);
    expect(versionsIn(nextText(cache, watch))).toEqual(['e1-1']);
    cache.nodes.put(cache.nodes.toEntry(makeNode('node-a', { resourceVersion: 'abd' })));
    cache.nodes.put(cache.nodes.toEntry(makeNode('node-b', { resourceVersion: 'abe' })));
    watch.next();
    expect(versionsIn(nextText(cache, watch))).toEqual(['e1-2-1', 'e1-3']);
    const again = openWatch(cache, 'resourceVersion=e1-2-1');
    expect(versionsIn(nextText(cache, again))).toEqual(['e1-2-1', 'e1-3']);
  });
});
