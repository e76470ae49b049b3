import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { applyEvents, Watcher } from '../support/watcher.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { node, pod } from './manifests.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const NAMES = ['node-a', 'node-b', 'node-c'];

interface NodeList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** An object of the watch has its type, and a version of the watch in the place of its own. */
// biome-ignore lint/suspicious/noExplicitAny: a node as JSON
function asListed({ kind: _kind, apiVersion: _apiVersion, metadata, ...rest }: any): object {
  return { ...rest, metadata: { ...metadata, resourceVersion: '' } };
}

describe('the live list of a real cluster', () => {
  let cluster: ControlPlane;
  let gatehouse: Gatehouse;
  let token: string;
  const watchers: Watcher[] = [];

  beforeAll(async () => {
    cluster = await startControlPlane();
    for (const name of NAMES) await cluster.kubectl(['create', '-f', '-'], node(name));
    gatehouse = await startGatehouse(cluster, { ada: ['operators'] });
    await cluster.kubectl([
      ...['create', 'clusterrolebinding', 'operators'],
      ...['--clusterrole=gatehouse-system:gatehouse:administrators', '--group=operators'],
    ]);
    token = await gatehouse.signIn('ada');
    await eventually(list, ({ items }) => items?.length === NAMES.length); // RBAC sees a new binding a moment later
  });
  afterEach(() => {
    for (const watcher of watchers.splice(0)) watcher.close();
  });
  afterAll(async () => {
    await gatehouse?.stop();
    await cluster?.stop();
  });

  const list = async (): Promise<NodeList> => (await gatehouse.get(LIST, token)).body as NodeList;
  const itemNamed = async (name: string) => (await list()).items.find(({ metadata }) => metadata.name === name);

  async function watch(query = '', headers: Readonly<Record<string, string>> = {}): Promise<Watcher> {
    const url = `${gatehouse.url}${LIST}?watch=true${query}`;
    const watcher = await Watcher.open(url, { authorization: `Bearer ${token}`, ...headers });
    watchers.push(watcher);
    return watcher;
  }

  /** The events up to the one that reads like this. */
  const told = (watcher: Watcher, last: string): Promise<string[]> =>
    eventually(
      async () => watcher.story,
      (story) => story.at(-1) === last,
    );

  const label = (name: string, tier: string): Promise<string> =>
    cluster.kubectl(['label', 'node', name, `tier=${tier}`, '--overwrite']);

  test('begins with every node as it stands in the list, then a bookmark', async () => {
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    const { items } = await list();
    expect(watcher.events.map(({ type }) => type)).toEqual([...items.map(() => 'ADDED'), 'BOOKMARK']);
    expect(watcher.events.slice(0, -1).map(({ object }) => asListed(object))).toEqual(items.map(asListed));
    expect(watcher.events.at(-1)?.object).toEqual({
      kind: 'Node',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: expect.stringMatching(/^\d+\.3\.\d+\.0$/),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      },
    });
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(NAMES);
  });

  test('tells of a node that is changed, counted on, created and deleted in the cluster, as the list has it', async () => {
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    await label('node-a', 'new');
    await told(watcher, 'MODIFIED node-a');
    const item = await itemNamed('node-a');
    expect(asListed(watcher.events.at(-1)?.object)).toEqual(item && asListed(item));
    expect(watcher.events.at(-1)?.object.metadata.labels.tier).toBe('new');
    await cluster.kubectl(['create', '-f', '-'], pod('node-b'));
    await told(watcher, 'MODIFIED node-b');
    const counted = watcher.events.at(-1)?.object.metadata.annotations['node.gatehouse.io/cpu-requests'];
    expect(counted).toBe('1');
    await cluster.kubectl(['create', '-f', '-'], node('node-d'));
    await told(watcher, 'ADDED node-d');
    await cluster.kubectl(['delete', 'node', 'node-d']);
    await told(watcher, 'DELETED node-d');
    const known = [...applyEvents(watcher.events).values()] as NodeList['items'];
    const byName = (items: NodeList['items']) => new Map(items.map((item) => [item.metadata.name, asListed(item)]));
    expect(byName(known)).toEqual(byName((await list()).items));
  });

  test('goes on from a bookmark with what happened since, once each, though nobody watched', async () => {
    const first = await watch('&timeoutSeconds=1');
    await eventually(
      async () => first.ending,
      (ending) => ending === 'complete',
    );
    await label('node-b', 'between');
    await cluster.kubectl(['create', '-f', '-'], node('node-e'));
    await cluster.kubectl(['delete', 'node', 'node-c']);
    await eventually(list, ({ items }) => {
      const names = items.map(({ metadata }) => metadata.name);
      return names.includes('node-e') && !names.includes('node-c');
    });
    const second = await watch(`&resourceVersion=${first.version}`);
    expect(await told(second, 'BOOKMARK')).toEqual(['MODIFIED node-b', 'ADDED node-e', 'DELETED node-c', 'BOOKMARK']);
    const third = await watch(`&resourceVersion=${second.version}`);
    expect(await told(third, 'BOOKMARK')).toEqual(['BOOKMARK']);
  });

  test('goes on at another replica, and is 410 there for what that one cannot know', async () => {
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    const other = await startGatehouse(cluster, { ada: ['operators'] });
    const otherToken = await other.signIn('ada');
    const refusal = async (version: string): Promise<[number, string | undefined]> => {
      const { status, body } = await other.get(`${LIST}?watch=true&resourceVersion=${version}`, otherToken);
      return [status, (body as { reason?: string }).reason];
    };
    try {
      const headers = { authorization: `Bearer ${otherToken}` };
      const again = await Watcher.open(`${other.url}${LIST}?watch=true&resourceVersion=${watcher.version}`, headers);
      watchers.push(again);
      await told(again, 'BOOKMARK');
      await label('node-b', 'elsewhere');
      expect(await told(again, 'MODIFIED node-b')).toEqual(['BOOKMARK', 'MODIFIED node-b']);
      expect(await refusal(watcher.version.replace(/^\d+/, '1'))).toEqual([410, 'Expired']);
      const own = JSON.parse(await cluster.kubectl(['get', 'nodes', '-o', 'json', '--chunk-size=0']));
      expect(await refusal(own.items[0].metadata.resourceVersion)).toEqual([410, 'Expired']);
    } finally {
      await other.stop();
    }
  });

  test('tells the same as server-sent events, which go on from their last id', async () => {
    const accept = 'text/event-stream';
    const [lines, events] = [await watch(), await watch('', { accept })];
    await told(lines, 'BOOKMARK');
    await label('node-a', 'streamed');
    await told(lines, 'MODIFIED node-a');
    await eventually(
      async () => events.text,
      (text) => text.includes('event: MODIFIED') && text.endsWith('\n\n'),
    );
    const data = events.text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
    expect(data[0]).toBe('{"type":"RESET"}');
    expect(`${data.slice(1).join('\n')}\n`).toBe(lines.text);
    const id = /(?:^|\n)id: (.+)\n\n$/.exec(events.text)?.[1] ?? '';
    await label('node-a', 'streamed-on');
    await eventually(
      async () => lines.text,
      (text) => text.includes('"tier":"streamed-on"'),
    );
    const resumed = await watch('', { accept, 'last-event-id': id });
    await eventually(
      async () => resumed.text,
      (text) => text.includes('"tier":"streamed-on"'),
    );
    expect(resumed.text).toMatch(
      /^retry: \d+\n\nevent: MODIFIED\ndata: \{"type":"MODIFIED","object":\{"kind":"Node","apiVersion":"v1","metadata":\{"name":"node-a"/,
    );
  });

  test('goes on while the API server dies and returns, with what happened meanwhile', async () => {
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    await cluster.killApiServer();
    await cluster.startApiServer();
    await label('node-b', 'after');
    await eventually(
      async () => watcher.events.at(-1),
      (event) => event?.object.metadata.labels?.tier === 'after',
    );
    expect([watcher.ending, watcher.story.at(-1)]).toEqual([undefined, 'MODIFIED node-b']);
  });
});
