import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Agent, EventSource } from 'undici';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { replaceAll } from '../../support/replace-all.ts';
import { makeCache, makeNode } from '../../unit/resources/node-objects.ts';
import { eventually } from './app-under-test.ts';
import { advance, LIST, open, start } from './watch-under-test.ts';

const EVENTS = { accept: 'text/event-stream' };
/** More than are remembered. */
const MANY = 1_001;

type Cache = ReturnType<typeof makeCache>;

function comeAndGo({ putNode, removeNode }: Cache): void {
  for (let at = 0; at < MANY; at++) {
    putNode(makeNode(`gone-${at}`));
    removeNode(`gone-${at}`);
  }
}

/** `event` of each, an object's name with it. */
const storyOf = (text: string): string[] =>
  [...text.matchAll(/^event: (\w+)\ndata: (?:.*?"name":"([^"]*)")?/gm)].map(([, type, name]) =>
    [type, name].filter(Boolean).join(' '),
  );

const FIRST_STATE = ['reset', 'ADDED node-b', 'ADDED node-a', 'BOOKMARK'];

describe('server-sent events', () => {
  test('begin a first state with `reset`: what its client has is to be forgotten', async () => {
    const { app } = await start();
    const watcher = await open(app, '', EVENTS);
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    expect(watcher.text).toMatch(/^retry: 1000\n\nevent: reset\ndata: \{"type":"RESET"\}\nid:\n\nevent: ADDED\n/);
    expect(storyOf(watcher.text)).toEqual(FIRST_STATE);
  });

  test('go on from `lastEventId` in the query, as clients without headers of their own send it', async () => {
    const { app, cache } = await start();
    cache.putNode(makeNode('node-c'));
    const watcher = await open(app, '&resourceVersion=nonsense&lastEventId=e1-2', EVENTS);
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    expect([watcher.status, storyOf(watcher.text)]).toEqual([200, ['ADDED node-c', 'BOOKMARK']]);
  });

  test.each([
    ['of another process', 'e2-2'],
    ['that no list had', 'something else'],
  ])('go on from a Last-Event-ID %s with `reset` and the first state', async (_, id) => {
    const { app } = await start();
    const watcher = await open(app, '&resourceVersion=e1-1', { ...EVENTS, 'last-event-id': id });
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    expect([watcher.status, storyOf(watcher.text)]).toEqual([200, FIRST_STATE]);
  });

  test('go on so from one that is too old, and from a resourceVersion that is', async () => {
    const { app, cache } = await start();
    comeAndGo(cache);
    for (const [query, headers] of [
      ['', { 'last-event-id': 'e1-2' }],
      ['&resourceVersion=e1-2', {}],
    ] as const) {
      const watcher = await open(app, query, { ...EVENTS, ...headers });
      await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
      expect([watcher.status, storyOf(watcher.text)]).toEqual([200, FIRST_STATE]);
    }
  });

  test('go on from a good one without', async () => {
    const { app, cache } = await start();
    cache.putNode(makeNode('node-c'));
    const watcher = await open(app, '', { ...EVENTS, 'last-event-id': 'e1-2' });
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    expect(storyOf(watcher.text)).toEqual(['ADDED node-c', 'BOOKMARK']);
  });

  test('say to a client that lags behind what is remembered `reset`, on the same stream', async () => {
    const { app, cache, clock } = await start();
    const watcher = await open(app, '', EVENTS);
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    comeAndGo(cache);
    cache.removeNode('node-a');
    await advance(clock, 1_000);
    await eventually(() => storyOf(watcher.text).length > 4 && storyOf(watcher.text).at(-1) === 'BOOKMARK');
    expect(storyOf(watcher.text).slice(4)).toEqual(['reset', 'ADDED node-b', 'BOOKMARK']);
    expect(watcher.ending).toBeUndefined();
  });

  test('of JSON lines are still 410', async () => {
    const { app } = await start();
    const gone = await app.get(`${LIST}?watch=1&resourceVersion=e2-2`);
    expect([gone.status, await gone.text()]).toEqual([
      410,
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: e2-2: begin again without one","reason":"Expired","code":410}',
    ]);
  });
});

describe("a browser's EventSource", () => {
  /** One address for two replicas, as a Service is; the second one takes over when `fail` is called. */
  async function startPair() {
    const replicas = [await start(), await start({}, { watches: otherCache().lister })];
    const state = { active: 0 };
    const open = new Set<Socket>();
    const front = createServer((client) => {
      const server = connect(replicas[state.active]?.app.port ?? 0, '127.0.0.1');
      for (const socket of [client, server]) open.add(socket.on('error', () => {}));
      client.pipe(server).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    atEnd(() => front.close());
    const fail = (): void => {
      state.active = 1;
      for (const socket of open) socket.destroy();
    };
    atEnd(fail);
    return { port: (front.address() as { port: number }).port, fail };
  }

  function otherCache() {
    const cache = makeCache({ epoch: 'e2' });
    const listed = ['node-b', 'node-c'].map((name) => cache.nodes.toEntry(makeNode(name, { resourceVersion: '5' })));
    replaceAll(cache.nodes, listed, { sameHistory: false, resourceVersion: '9' });
    return cache;
  }

  test('goes on at another replica by itself, and has its list', async () => {
    const { port, fail } = await startPair();
    const dispatcher = new Agent().compose(
      (dispatch) => (options, handler) =>
        dispatch({ ...options, headers: { ...(options.headers as object), authorization: 'Bearer good' } }, handler),
    );
    const source = new EventSource(`http://127.0.0.1:${port}${LIST}?watch=true`, { node: { dispatcher } });
    atEnd(() => source.close());
    const items = new Map<string, unknown>();
    const bookmarks: string[] = [];
    source.addEventListener('reset', () => items.clear());
    const put = ({ data }: { data: string }): void => {
      const { object } = JSON.parse(data);
      items.set(object.metadata.name, object);
    };
    source.addEventListener('ADDED', put as never);
    source.addEventListener('BOOKMARK', (({ lastEventId }: { lastEventId: string }) =>
      bookmarks.push(lastEventId)) as never);
    await eventually(() => bookmarks.includes('1.2.0.0'));
    expect([...items.keys()]).toEqual(['node-b', 'node-a']);
    fail();
    await eventually(() => bookmarks.length === 2);
    expect([...items.keys()]).toEqual(['node-c', 'node-b']);
  });
});
