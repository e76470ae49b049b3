import { describe, expect, test } from 'vitest';
import { listOf, makeCache, makeNode, makePod, parseNodeWatchQuery } from '../node-objects.ts';

type Cache = ReturnType<typeof makeCache>;

const TYPE = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

function openWatch({ lister }: Cache, query = '', form: 'json' | 'events' = 'json') {
  lister.refresh();
  return lister.watch({ ...parseNodeWatchQuery(`watch=1&${query}`), metadataOnly: true }, form);
}

/** The events that are to be had now. */
function eventsOf(cache: Cache, watch: ReturnType<typeof openWatch>) {
  cache.lister.refresh();
  const text: string[] = [];
  for (let bytes = watch.next(); bytes; bytes = watch.next()) text.push(Buffer.from(bytes).toString());
  return text
    .join('')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const drained = makeNode(
  'node-a',
  { labels: { tier: 'öne' }, annotations: { note: 'a "quoted" {' } },
  { spec: { unschedulable: true, podCIDR: '10.0.0.0/24' } },
);

describe('a watch of metadata alone', () => {
  test.each([true, false])(
    'tells the metadata of the list, and the status word as an annotation (usage: %s)',
    (usage) => {
      const cache = makeCache({ usage });
      cache.putNode(drained);
      if (usage) cache.putPod(makePod({ nodeName: 'node-a', containers: [{ resources: { requests: { cpu: '2' } } }] }));
      const [added, bookmark] = eventsOf(cache, openWatch(cache));
      const [item] = listOf(cache.lister).items;
      const { annotations, resourceVersion, ...metadata } = added.object.metadata;
      const { annotations: listed, ...expected } = item?.metadata ?? { annotations: {} };
      expect(added).toMatchObject({ type: 'ADDED', object: TYPE });
      expect(Object.keys(added.object)).toEqual(['kind', 'apiVersion', 'metadata']);
      expect({ ...metadata, resourceVersion: '1' }).toEqual({ ...expected, resourceVersion: '1' });
      expect(annotations).toEqual({ ...listed, 'node.gatehouse.io/status': 'unschedulable' });
      expect(annotations['node.gatehouse.io/cpu-requests']).toBe(usage ? '2' : undefined);
      expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: TYPE });
    },
  );

  test('tells a node that has neither labels nor annotations', () => {
    const cache = makeCache({ usage: false });
    cache.putNode(makeNode('node-a'));
    expect(eventsOf(cache, openWatch(cache))[0].object.metadata.annotations).toEqual({
      'node.gatehouse.io/status': 'running',
    });
  });

  test('tells what changes, and a removal of that kind', () => {
    const cache = makeCache();
    cache.putNode(makeNode('node-a'));
    const watch = openWatch(cache);
    eventsOf(cache, watch);
    cache.putNode(makeNode('node-a', { resourceVersion: '2' }, { spec: { unschedulable: true } }));
    const [modified] = eventsOf(cache, watch);
    expect(modified).toMatchObject({
      type: 'MODIFIED',
      object: { ...TYPE, metadata: { annotations: { 'node.gatehouse.io/status': 'unschedulable' } } },
    });
    cache.removeNode('node-a');
    expect(eventsOf(cache, watch)).toMatchObject([
      { type: 'DELETED', object: { ...TYPE, metadata: { name: 'node-a', uid: 'uid-node-a' } } },
    ]);
  });

  test('chooses by what filters read of the whole node', () => {
    const cache = makeCache();
    cache.putNode(drained);
    cache.putNode(makeNode('node-b'));
    const told = eventsOf(cache, openWatch(cache, 'status=unschedulable'));
    expect(told.map(({ object }) => object.metadata.name)).toEqual(['node-a', undefined]);
  });

  test('shares its bytes with those who see the same, and with nobody who is told whole nodes', () => {
    const cache = makeCache();
    cache.putNode(drained);
    const whole = cache.lister.watch(parseNodeWatchQuery('watch=1'), 'json').next();
    const [one, other] = [openWatch(cache).next(), openWatch(cache).next()];
    expect(one).toBe(other);
    expect(one).not.toBe(whole);
  });

  test('gives all who stand at the same version the same bookmark', () => {
    const cache = makeCache();
    cache.putNode(drained);
    const [one, other] = [openWatch(cache), openWatch(cache)];
    for (const watch of [one, other]) eventsOf(cache, watch);
    expect(one.bookmark()).toBe(other.bookmark());
  });

  test('fills its batches by what it sends', () => {
    const cache = makeCache();
    for (let at = 0; at < 100; at++) {
      cache.putNode(makeNode(`node-${at}`, {}, { spec: { note: 'x'.repeat(12_000) } }));
    }
    const text = Buffer.from(openWatch(cache).next() ?? []).toString();
    expect(text.split('\n')).toHaveLength(101); // all of them in one
  });
});
