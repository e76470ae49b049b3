import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { AnswerWriter } from '../../../../src/http/answer/answer.ts';
import { Exchange } from '../../../../src/http/exchange.ts';
import type { HttpMetrics } from '../../../../src/http/metrics.ts';
import { CollectedCallerChanges } from '../../../../src/http/watch/caller-changes.ts';
import { Watches, type WatchesParts, watchSeats } from '../../../../src/http/watch/watches.ts';
import type { WatchSource } from '../../../../src/resources/watch/watch.ts';
import type { WatchForm } from '../../../../src/resources/watch/watch-event.ts';
import type { WatchQuery } from '../../../../src/resources/watch/watch-query.ts';
import { serviceUnavailable } from '../../../../src/status-error.ts';
import { defaultLimits } from '../../../support/default-limits.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** The answer of one watch, without a connection. */
class FakeResponse extends EventEmitter {
  head: readonly string[] = [];
  text = '';
  hasRoom = true;
  headersSent = false;
  writableFinished = false;
  destroyed = false;
  statusCode = 0;
  chunkedEncoding = false;
  readonly socket = { bytesWritten: 0, writableLength: 0 };

  writeHead(status: number, head: readonly string[]): void {
    this.statusCode = status;
    this.head = head;
    this.headersSent = true;
  }

  flushHeaders(): void {}

  write(bytes: Uint8Array): boolean {
    this.text += Buffer.from(bytes).toString('latin1');
    return this.hasRoom;
  }

  end(): void {
    this.writableFinished = true;
    this.emit('close');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  /** Those of this answer, without those of every answer. */
  get headers(): Readonly<Record<string, string>> {
    const pairs = this.head.flatMap((name, at) => (at % 2 === 0 ? [[name, this.head[at + 1]]] : []));
    const { 'X-Request-Id': _, ...own } = Object.fromEntries(pairs.slice(4));
    return own;
  }
}

interface Asked {
  readonly query?: Partial<WatchQuery>;
  readonly form?: WatchForm;
  readonly method?: string;
  readonly acceptEncoding?: string;
  readonly user?: string;
}

/** Time that passes without a look, as in a process that was stopped. */
function monotonicWith(clock: FakeClock, skipped: { readonly ms: number }): () => number {
  const { monotonic } = clock;
  return () => monotonic() + skipped.ms;
}

/** The watches of a source at version 1, each of which has the events that the test gives to all. */
function begin(change: Partial<WatchesParts> = {}) {
  const fake = new FakeClock();
  const skipped = { ms: 0 };
  const clock = Object.assign(fake, { monotonic: monotonicWith(fake, skipped) });
  const stop = new AbortController();
  const changes = new CollectedCallerChanges(clock);
  const seen = { told: [] as number[], ended: [] as string[], rejected: [] as string[], rechecks: 0 };
  const state: { version: number; fault: Error | undefined } = { version: 1, fault: undefined };
  const queues: string[][] = [];
  const source: WatchSource = {
    refresh: () => {
      if (state.fault) throw state.fault;
      return state.version;
    },
    watch: () => {
      const events: string[] = [];
      queues.push(events);
      return {
        get isBehind() {
          return events.length > 0;
        },
        isBeginning: false,
        next: () => {
          const event = events.shift();
          return event === undefined ? undefined : Buffer.from(event);
        },
        bookmark: () => Buffer.from('[bookmark]'),
        keepAlive: () => undefined,
      };
    },
  };
  const metrics: Partial<HttpMetrics> = {
    watchesUpdated: (ms) => seen.told.push(ms),
    watchEnded: (end) => seen.ended.push(end),
    rejected: (reason) => seen.rejected.push(reason),
  };
  const limits = change.limits ?? { ...defaultLimits, maxWatches: 1_000, maxWatchesPerUser: 1_000 };
  const seats = watchSeats(limits, metrics as HttpMetrics);
  const watches = new Watches({
    source,
    seats,
    age: { staleSeconds: () => undefined },
    limits,
    writer: new AnswerWriter(clock, 30_000),
    metrics: metrics as HttpMetrics,
    clock,
    random: { bytes: (length) => Buffer.alloc(length), fraction: () => 0.5 },
    callerChanges: changes,
    closing: stop.signal,
    recheck: () => () => void seen.rechecks++,
    ...change,
  });
  const open = ({ query, form = 'json', method = 'GET', acceptEncoding, user = 'alice' }: Asked = {}) => {
    const response = new FakeResponse();
    const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
    const exchange = new Exchange({
      request: { method, headers, socket: {} } as unknown as IncomingMessage,
      response: response as unknown as ServerResponse,
      rawTarget: '/',
      requestId: 'r-1',
      startedAt: 0,
      source: '',
      corsHeaders: [],
    });
    exchange.authenticated({ name: user, uid: 'u', groups: [], clientId: 'c', sid: 's' });
    watches.open(exchange, { conditions: [], filterKey: '', bookmarks: true, ...query }, form);
    return Object.assign(response, { exchange });
  };
  /** A new version, of which every watch is told this. */
  const tell = (event: string): void => {
    state.version++;
    for (const events of queues) events.push(event);
  };
  const skip = (ms: number): void => {
    skipped.ms += ms;
  };
  return { changes, seats, clock, skip, seen, state, open, tell, stop: () => stop.abort() };
}

/** When it came true, in steps of the look; `undefined`: not within the time. */
async function timeOf(clock: FakeClock, isSo: () => boolean, withinMs: number): Promise<number | undefined> {
  const from = clock.monotonic();
  for (let ms = 0; ms <= withinMs; ms += 100) {
    if (isSo()) return clock.monotonic() - from;
    await clock.advance(100);
  }
  return undefined;
}

describe('the head of a watch', () => {
  const COMMON = {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
    'X-Accel-Buffering': 'no',
    Connection: 'close',
  };

  test.each([
    ['json', undefined, { 'Content-Type': 'application/json', ...COMMON }],
    ['json', 'gzip', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', ...COMMON }],
    ['events', undefined, { 'Content-Type': 'text/event-stream', ...COMMON }],
  ] as const)('says how it is sent, and that nobody may keep it: %s, %s', (form, acceptEncoding, expected) => {
    const { open } = begin();
    const response = open({ form, ...(acceptEncoding && { acceptEncoding }) });
    expect([response.statusCode, response.headers]).toEqual([200, expected]);
    expect(response.exchange.coding).toBe(acceptEncoding ?? 'identity');
  });

  test('says how old the data is where that has to be told', () => {
    const { open } = begin({ age: { staleSeconds: () => 300 } });
    expect(open().headers).toMatchObject({ Age: '300', Warning: '110 - "Response is Stale"' });
  });

  test('is all that a HEAD gets: it takes no seat and is looked at no more', () => {
    const { seats, clock, open } = begin({ limits: { ...defaultLimits, maxWatches: 1 } });
    const head = open({ method: 'HEAD' });
    expect([head.writableFinished, head.text, seats.taken, clock.pendingTimers]).toEqual([true, '', 0, 0]);
    expect(open().statusCode).toBe(200);
  });
});

describe('the seats of watches (HL-05)', () => {
  test('are refused before the list is asked, and given back at the end', () => {
    const { seats, seen, open } = begin({ limits: { ...defaultLimits, maxWatches: 5, maxWatchesPerUser: 1 } });
    const first = open();
    expect(() => open()).toThrow('User "alice" has 1 watches open and may have no more.');
    expect(open({ user: 'ben' }).statusCode).toBe(200);
    expect([seats.taken, seen.rejected]).toEqual([2, ['watches_per_user']]);
    first.emit('close');
    expect([seats.taken, seen.ended]).toEqual([1, ['client']]);
    expect(open().statusCode).toBe(200);
  });
});

describe('the caller of a watch', () => {
  test('is checked every 10 s', async () => {
    const { clock, seen, open } = begin();
    open();
    await clock.advance(9_900);
    expect(seen.rechecks).toBe(0);
    await clock.advance(200);
    expect(seen.rechecks).toBe(1);
  });

  test('is checked within 200 ms of a change, once for a thousand changes, and nobody else is', async () => {
    const { changes, clock, seen, open } = begin();
    open({ user: 'alice' });
    open({ user: 'ben' });
    for (let change = 0; change < 1_000; change++) changes.note('alice');
    await clock.advance(200);
    expect(seen.rechecks).toBe(1);
    await clock.advance(5_000);
    expect(seen.rechecks).toBe(1);
  });
});

describe('the times of a watch', () => {
  test('are drawn between half an hour and an hour for its end', async () => {
    const { clock, skip, seen, open } = begin();
    open();
    skip(2_699_800);
    await clock.advance(100);
    expect(seen.ended).toEqual([]);
    await clock.advance(200);
    expect(seen.ended).toEqual(['timeout']);
  });

  test('are as asked for its end', async () => {
    const { clock, seen, open } = begin();
    open({ query: { timeoutSeconds: 7 } });
    await clock.advance(6_900);
    expect(seen.ended).toEqual([]);
    await clock.advance(200);
    expect(seen.ended).toEqual(['timeout']);
  });

  test('are drawn between one and five seconds for a client to come back', () => {
    const { open } = begin();
    expect(open({ form: 'events' }).text).toBe('retry: 3000\n\n');
  });

  test('are 10 s for its caller to be judged again, and 45 s for a bookmark', async () => {
    const { clock, seen, open } = begin();
    const response = open();
    await clock.advance(9_900);
    expect(seen.rechecks).toBe(0);
    await clock.advance(100);
    expect(seen.rechecks).toBe(1);
    await clock.advance(34_900);
    expect([seen.rechecks, response.text]).toEqual([4, '']);
    await clock.advance(200);
    expect(response.text).toBe('[bookmark]');
  });

  test('are ten minutes for a client that reads nothing, while others are told', async () => {
    const { clock, seen, open, tell } = begin();
    const [slow, other] = [open(), open({ query: { timeoutSeconds: 86_400 } })];
    slow.hasRoom = false;
    tell('[one]');
    await clock.advance(599_900);
    expect([slow.text, slow.destroyed]).toEqual(['[one]', false]);
    await clock.advance(200);
    expect(slow.destroyed).toBe(true);
    expect([seen.ended, other.destroyed]).toEqual([['slow'], false]);
    tell('[two]');
    await clock.advance(200);
    expect(other.text.replaceAll('[bookmark]', '')).toBe('[one][two]');
  });
});

describe('the looks at the watches', () => {
  test('come each 100 ms while there are watches, and not when there are none', async () => {
    const { seats, clock, open, tell } = begin();
    expect(clock.pendingTimers).toBe(0);
    const [one, two] = [open(), open()];
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(99);
    tell('[one]');
    expect(one.text).toBe('');
    await clock.advance(1);
    expect([one.text, two.text]).toEqual(['[one]', '[one]']);
    tell('[two]');
    await clock.advance(99);
    expect(one.text).toBe('[one]');
    await clock.advance(1);
    expect(one.text).toBe('[one][two]');
    one.emit('close');
    await clock.advance(100);
    expect([seats.taken, clock.pendingTimers]).toEqual([1, 1]);
    two.emit('close');
    await clock.advance(100);
    expect([seats.taken, clock.pendingTimers]).toEqual([0, 0]);
    const three = open();
    tell('[three]');
    await clock.advance(100);
    expect([three.text, two.text]).toEqual(['[three]', '[one][two]']);
  });

  test('do not delay what a watch begins with, nor what waits for room, nor the second of two events', async () => {
    const { clock, open, tell } = begin();
    const response = open();
    tell('[one]');
    tell('[two]');
    await clock.advance(0);
    expect(response.text).toBe('[one][two]');
    response.hasRoom = false;
    tell('[three]');
    tell('[four]');
    await clock.advance(100);
    expect(response.text).toBe('[one][two][three]');
    response.hasRoom = true;
    response.emit('drain');
    await clock.advance(0);
    expect(response.text).toBe('[one][two][three][four]');
  });

  test('write nothing to a client that has left before its turn', async () => {
    const { clock, open, tell } = begin();
    const response = open();
    tell('[one]');
    response.emit('close');
    await clock.advance(200);
    expect(response.text).toBe('');
  });

  test('measure how long the telling of a change took, from its first look on', async () => {
    const { clock, seen, open, tell } = begin();
    open();
    await clock.advance(0);
    tell('[one]');
    open(); // which must not pass for the look that finds the change
    await clock.advance(100);
    expect(seen.told).toEqual([0]);
    await clock.advance(0);
    for (let events = 0; events < 200; events++) tell('[more]'); // one at a turn
    await clock.advance(100);
    tell('[last]');
    await clock.advance(100);
    expect(seen.told).toEqual([0]);
    for (let turn = 0; turn < 200 && seen.told.length < 2; turn++) await clock.advance(0);
    expect(seen.told).toEqual([0, 100]);
  });

  test.each([
    ['there is none', () => {}],
    ['no watch is told of it', ({ state }: ReturnType<typeof begin>) => void state.version++],
  ])('measure no change where %s', async (_, happen) => {
    const begun = begin();
    const { clock, skip, seen, open } = begun;
    const response = open();
    happen(begun);
    await clock.advance(200);
    skip(46_000);
    await clock.advance(200);
    expect([response.text, seen.told]).toEqual(['[bookmark]', []]);
  });

  test('measure no change that was there when the first watch began, or came while there were none', async () => {
    const { clock, skip, seen, state, open } = begin();
    for (let round = 0; round < 2; round++) {
      const response = open();
      await clock.advance(0);
      skip(46_000); // so that there is something to do at the first look
      await clock.advance(100);
      expect([response.text, seen.told]).toEqual(['[bookmark]', []]);
      response.emit('close');
      await clock.advance(200);
      expect(clock.pendingTimers).toBe(0);
      state.version++;
    }
  });

  test('end all watches when the list cannot be read any more', async () => {
    const { clock, seen, state, open } = begin();
    const [one, two] = [open(), open()];
    await clock.advance(1_000);
    state.fault = serviceUnavailable('too old', 30);
    await clock.advance(200);
    expect(seen.ended).toEqual(['unavailable', 'unavailable']);
    for (const { text } of [one, two]) expect(text).toMatch(/^\[bookmark\]\{"type":"ERROR".*"too old"/);
    expect(seen.told).toEqual([]);
  });
});

describe('a shutdown (R-07)', () => {
  test('ends the same share of the watches at each look, all of them within 5 s', async () => {
    const { seats, clock, seen, open, stop } = begin();
    const responses = Array.from({ length: 120 }, () => open());
    await clock.advance(1_000);
    stop();
    const ended: number[] = [];
    for (let look = 0; look < 4; look++) {
      await clock.advance(100);
      ended.push(120 - seats.taken);
    }
    expect(ended).toEqual([3, 6, 9, 12]);
    const rest = await timeOf(clock, () => seats.taken === 0, 5_000);
    expect(rest).toBeLessThanOrEqual(4_600);
    expect(responses.every(({ text }) => text === '[bookmark]')).toBe(true);
    expect(new Set(seen.ended)).toEqual(new Set(['stopping']));
  });

  test('lets no new watch in', () => {
    const { open, stop } = begin();
    stop();
    expect(() => open()).toThrow(
      expect.objectContaining({
        message: 'the server is stopping',
        answer: expect.objectContaining({ code: 503, details: { retryAfterSeconds: 1 } }),
      }),
    );
  });
});
