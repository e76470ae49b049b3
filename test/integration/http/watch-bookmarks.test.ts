import { describe, expect, test } from 'vitest';
import type { Verification } from '../../../src/oauth/tokens/identity.ts';
import { StatusError, serviceUnavailable, tooManyRequests } from '../../../src/status-error.ts';
import { applyEvents, type WatchEvent } from '../../support/watcher.ts';
import { listOf, makeNode } from '../../unit/resources/node-objects.ts';
import { eventually, fakeVerifier } from './app-under-test.ts';
import { advance, open, start, watching } from './watch-under-test.ts';

type Started = Awaited<ReturnType<typeof start>>;

const BOOKMARK_MS = 60_000;

/** Changes a node every second; answers the names and versions of the list of each version. */
async function keepBusy({ cache, clock }: Started, ms: number, each: (now: number) => Promise<void>) {
  const lists = new Map<string, unknown>();
  for (let passed = 0, at = 2; passed < ms; passed += 1_000, at++) {
    cache.putNode(makeNode('node-a', { resourceVersion: `${2 * at}` }, { status: { version: at } }));
    if (at % 20 === 0) cache.putNode(makeNode(`node-${at}`, { resourceVersion: `${2 * at + 1}` }));
    const { items } = listOf(cache.lister);
    lists.set(`${cache.nodes.progress.objects.state.newest}.${items.length}.0.0`, versionsOf(items));
    await clock.advance(1_000);
    await each(clock.monotonic());
  }
  return lists;
}

/** In the list and in the watch: what the watch has before it goes on counts the changes of all nodes. */
const versionsOf = (items: Iterable<WatchEvent['object']>) =>
  Object.fromEntries([...items].map(({ metadata, status }) => [metadata.name, status?.version]));

describe('a stream that is never idle', () => {
  test.each(['application/json', 'text/event-stream'])(
    'has a bookmark each minute, with what was told before it: %s',
    async (accept) => {
      const started = await start();
      const watcher = await open(started.app, '', { accept });
      const events = (): WatchEvent[] =>
        (accept === 'application/json' ? watcher.text : watcher.text.replaceAll(/^(?!data: ).*\n|^data: /gm, ''))
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line));
      const seenAt: number[] = [];
      const lists = await keepBusy(started, 140_000, async (now) => {
        const bookmarks = events().filter(({ type }) => type === 'BOOKMARK').length;
        while (seenAt.length < bookmarks) seenAt.push(now);
      });
      expect(seenAt.length).toBeGreaterThanOrEqual(3);
      for (const [at, time] of seenAt.entries()) expect(time - (seenAt[at - 1] ?? 0)).toBeLessThanOrEqual(BOOKMARK_MS);
      const all = events();
      let compared = 0;
      for (const [at, { type, object }] of all.entries()) {
        if (type !== 'BOOKMARK' || !lists.has(object.metadata.resourceVersion)) continue;
        compared++;
        const known = applyEvents(all.slice(0, at)).values() as Iterable<WatchEvent['object']>;
        expect(versionsOf(known)).toEqual(lists.get(object.metadata.resourceVersion));
      }
      expect(compared).toBeGreaterThanOrEqual(3);
    },
  );
});

describe('the end of a stream', () => {
  const ANSWERS = {
    401: (): Verification => ({ fault: 'revoked' }),
    429: (): never => {
      throw tooManyRequests();
    },
    503: (): never => {
      throw serviceUnavailable('sessions are not known', 1);
    },
  };

  test.each([401, 429, 503] as const)('by ERROR %s has the version to go on from before it', async (code) => {
    const state = { broken: false };
    const verify: typeof fakeVerifier.verify = (text) => (state.broken ? ANSWERS[code]() : fakeVerifier.verify(text));
    const { app, cache, clock } = await start({ verifier: { verify } });
    const watcher = await watching(app);
    cache.putNode(makeNode('node-c'));
    await advance(clock, 1_000);
    state.broken = true;
    await advance(clock, 60_000);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.events.slice(3)).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'node-c' } } },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '1.3.0.0' } } },
      { type: 'ERROR', object: { code } },
    ]);
  });

  test('by ERROR 403 has it too, and for server-sent events the id', async () => {
    const rights = { allowed: true };
    const authorizer = { authorize: () => ({ ...rights, source: 'cache' as const }) };
    const { app, clock } = await start({ authorizer });
    const watcher = await open(app, '', { accept: 'text/event-stream' });
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    rights.allowed = false;
    await advance(clock, 31_000);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.text).toMatch(
      /\nevent: BOOKMARK\ndata: .*"1\.2\.0\.0"\}\}\}\nid: 1\.2\.0\.0\n\nevent: ERROR\ndata: \{"type":"ERROR",.*"code":403\}\}\n\n$/,
    );
  });

  test.each([
    ['410, whose version is forgotten', new StatusError('Expired', { message: 'too old' })],
    ['a fault of ours', new Error('private')],
  ])('claims nothing before %s', async (_, error) => {
    const broken = {
      isBehind: true,
      isBeginning: false,
      next: (): never => {
        throw error;
      },
      bookmark: (): never => {
        throw new Error('asked');
      },
      keepAlive: () => undefined,
    };
    const { app, clock } = await start({}, { watches: { refresh: () => 1, watch: () => broken } });
    const watcher = await open(app);
    await advance(clock, 300);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.story).toEqual(['ERROR']);
  });
});
