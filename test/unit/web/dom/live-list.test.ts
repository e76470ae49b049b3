import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const PATH = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const SETTINGS = { platform: 'gatehouse', version: '1', features: {} };

/** A server whose list answers when the test lets it, and whose watch says what the test writes. */
class FakeServer {
  /** The version of the object in the answers. */
  version = '5';
  /** The lists that were asked for. */
  asked = 0;
  /** Answers lists at once in this way, instead of with one object. */
  instead: (() => Response) | undefined;
  #answer: (() => void) | undefined;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  readonly fetch = async (address: string): Promise<Response> => {
    if (address.endsWith('settings.json')) return Response.json(SETTINGS);
    if (address.includes('watch=true')) {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        this.#stream = controller;
      };
      return new Response(new ReadableStream({ start }));
    }
    this.asked++;
    if (this.instead) return this.instead();
    await new Promise<void>((resolve) => {
      this.#answer = resolve;
    });
    return Response.json({
      items: [{ metadata: { name: 'a', uid: '1', resourceVersion: this.version } }],
      totalItems: 1,
    });
  };

  /** Answers the list that is waited for. */
  answer(): void {
    this.#answer?.();
  }

  changes(type = 'MODIFIED', uid = '1', resourceVersion = '5'): void {
    const line = JSON.stringify({ type, object: { metadata: { uid, resourceVersion } } });
    this.#stream?.enqueue(new TextEncoder().encode(`${line}\n`));
  }
}

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  server = new FakeServer();
  vi.stubGlobal('fetch', server.fetch);
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('BroadcastChannel', class {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const passes = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** A list that has been read once. */
async function openList(parameters: Readonly<Record<string, string>>) {
  const { loadSettings } = await import('../../../../web/app/settings.ts');
  const { hasStream } = await import('../../../../web/live/stream-turn.ts');
  const { LiveList } = await import('../../../../web/live/live-list.ts');
  await loadSettings();
  hasStream.value = true;
  const list = new LiveList({ path: PATH, parameters });
  await settles();
  return list;
}

/** Lets the time pass in which whatever must be read is read. */
async function settles(): Promise<void> {
  for (let pass = 0; pass < 3; pass++) {
    await passes(1_000);
    server.answer();
  }
  await passes(0);
}

/** How often the list is read after this change. */
async function readsAfter(type: string, uid: string, version?: string): Promise<number> {
  const before = server.asked;
  server.changes(type, uid, version);
  await settles();
  return server.asked - before;
}

test.each([{}, { sortBy: 'name' }, { sortBy: 'createTime', ascending: 'true', status: 'warning' }])(
  'W-11 a change of an object that is not on the screen is not read, in the order %j',
  async (parameters) => {
    const list = await openList(parameters);
    expect(await readsAfter('MODIFIED', 'elsewhere')).toBe(0);
    expect(await readsAfter('MODIFIED', '1')).toBe(1);
    expect(await readsAfter('ADDED', 'elsewhere')).toBe(1);
    expect(await readsAfter('DELETED', 'elsewhere')).toBe(1);
    list.close();
  },
);

test('W-11 where an object may change its place, every change is read', async () => {
  const list = await openList({ sortBy: 'restarts' });
  expect(await readsAfter('MODIFIED', 'elsewhere')).toBe(1);
  list.close();
});

test('W-10 an answer that is older than what the stream told, of a replica that is behind, is read again until it is not, five times at most', async () => {
  const list = await openList({});
  expect(await readsAfter('MODIFIED', '1', '7')).toBeGreaterThan(1);
  server.version = '7';
  await settles();
  const before = server.asked;
  await settles();
  expect(server.asked - before).toBe(0);
  server.changes('MODIFIED', '1', '9');
  const asked = server.asked;
  for (let second = 0; second < 4; second++) await settles();
  expect(server.asked - asked).toBe(6);
  list.close();
});

test('W-10 a list is read at most once a second, however many changes come while it is read', async () => {
  const list = await openList({});
  server.asked = 0;
  await passes(1_000);
  const asked: number[] = [];
  for (let second = 0; second < 3; second++) {
    for (let change = 0; change < 5; change++) {
      server.changes();
      await passes(20);
    }
    server.answer();
    await passes(800);
    asked.push(server.asked);
    await passes(100);
  }
  list.close();
  expect(asked).toEqual([1, 2, 3]);
  expect([list.total.value, list.rows.value.get(0)?.metadata.name]).toEqual([1, 'a']);
});

test('W-13 a refused list is not asked for before the time that the server names, whatever changes and is scrolled to, unless the reader asks', async () => {
  const list = await openList({});
  server.instead = () => new Response('{}', { status: 429, headers: { 'Retry-After': '20' } });
  server.changes();
  await passes(1_000);
  server.asked = 0;
  for (let second = 0; second < 15; second++) {
    server.changes();
    list.show(second * 50, second * 50 + 20);
    await passes(1_000);
  }
  expect(server.asked).toBe(0);
  list.again();
  await passes(0);
  expect(server.asked).toBe(1);
  await passes(21_000);
  expect(server.asked).toBe(2);
  list.close();
});

test('W-13 a list in which nothing changes is asked for now and then, and an answer without news says how old the data is', async () => {
  const list = await openList({});
  server.instead = () => new Response(null, { status: 304, headers: { Age: '120' } });
  await passes(31_000);
  expect([list.isLive.value, list.age.value, list.total.value]).toEqual([true, 120, 1]);
  server.instead = () => new Response(null, { status: 304 });
  await passes(31_000);
  expect(list.age.value).toBe(0);
  list.close();
});
