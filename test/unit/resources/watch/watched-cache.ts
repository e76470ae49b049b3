import { StatusError } from '../../../../src/status-error.ts';
import * as objects from '../node-objects.ts';
import { makeNode, parseNodeWatchQuery } from '../node-objects.ts';
import { WatchClient } from './watch-client.ts';

type Cache = ReturnType<typeof makeCache>;

/** Whatever version a node has in a test: each change is newer than all before, as in a cluster. */
export function makeCache(...options: Parameters<typeof objects.makeCache>) {
  const cache = objects.makeCache(...options);
  const next = (): string => String(BigInt(cache.nodes.progress.objects.state.newest) + 1n);
  const putNode: typeof cache.putNode = (node) =>
    cache.putNode({ ...node, metadata: { ...node.metadata, resourceVersion: next() } });
  return { ...cache, putNode };
}

export const openWatch = ({ lister }: Cache, query = '', form: 'json' | 'events' = 'json') =>
  lister.watch(parseNodeWatchQuery(`watch=true&${query}`), form);

/** Brings the list up to the moment, as a look at the watches does, then takes the next batch. */
export function nextText(cache: Cache, watch: ReturnType<typeof openWatch>): string | undefined {
  cache.lister.refresh();
  const bytes = watch.next();
  return bytes && Buffer.from(bytes).toString();
}

export const story = ({ told }: WatchClient): string[] =>
  told.map(({ type, object }) => (type === 'BOOKMARK' ? type : `${type} ${object.metadata.name}`));

/** With these nodes, and a client that has been told of all of them. */
export function start(names: readonly string[] = ['node-a', 'node-b'], query = '') {
  const cache = makeCache();
  for (const name of names) cache.putNode(makeNode(name, { labels: { tier: 'one' } }));
  const client = new WatchClient(cache.lister, { query });
  client.takeAll();
  client.told.length = 0;
  return { cache, client };
}

export const changed = (name: string, metadata: object = {}) =>
  makeNode(name, { labels: { tier: 'one' }, ...metadata });

export function refusalOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error.answer;
  }
  throw new Error('it was not refused');
}
