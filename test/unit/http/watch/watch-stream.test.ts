import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../../src/http/exchange.ts';
import { WatchStream, type WatchStreamParts } from '../../../../src/http/watch/watch-stream.ts';
import { serviceUnavailable } from '../../../../src/status-error.ts';

const TIMES = { recheckMs: 10_000, bookmarkMs: 45_000, retryMs: 2_500, sendTimeoutMs: 600_000 };
const ENDS_AT = 1_800_000;

/** What a client was sent, without the framing of chunks. */
class FakeResponse extends EventEmitter {
  readonly sent: string[] = [];
  chunkedEncoding = false;
  hasRoom = true;
  destroyed = false;
  readonly socket = { bytesWritten: 0, writableLength: 0 };

  write(bytes: Uint8Array): boolean {
    this.sent.push(Buffer.from(bytes).toString());
    return this.hasRoom;
  }

  end(): void {
    this.sent.push('END');
  }

  destroy(): void {
    this.destroyed = true;
  }
}

/** A stream since 1,000 ms, of a watch that has these events and this bookmark. */
function begin(change: Partial<WatchStreamParts> = {}, bookmark: string | null = 'bookmark') {
  const response = new FakeResponse();
  const events: (string | Error)[] = [];
  const calls = { rechecks: 0, drains: 0 };
  const bytes = (text: string | undefined): Uint8Array | undefined =>
    text === undefined ? undefined : Buffer.from(text);
  const watch = {
    get isBehind() {
      return events.length > 0;
    },
    isBeginning: false,
    next: () => {
      const event = events.shift();
      if (event instanceof Error) throw event;
      return bytes(event);
    },
    bookmark: () => bytes(bookmark ?? undefined),
    keepAlive: () => bytes('alive'),
  };
  const exchange = { response, coding: 'identity', bodyBytes: 0, requestId: 'r-1' } as unknown as Exchange;
  const stream = new WatchStream({
    exchange,
    watch,
    form: 'json',
    recheck: () => void calls.rechecks++,
    times: TIMES,
    startedAt: 1_000,
    endsAt: ENDS_AT,
    onDrain: () => calls.drains++,
    ...change,
  });
  return { stream, response, events, calls, watch, exchange };
}

describe('a stream that nothing happens to', () => {
  test('judges its bearer anew after the interval, from its beginning on', () => {
    const { stream, calls } = begin();
    const due = (now: number): [boolean, number] => {
      const isDue = stream.isDue(now);
      stream.work(now);
      return [isDue, calls.rechecks];
    };
    expect([1_000, 10_999, 11_000, 20_999, 21_000].map(due)).toEqual([
      [false, 0],
      [false, 0],
      [true, 1],
      [false, 1],
      [true, 2],
    ]);
  });

  test('tells a bookmark after the interval, from its beginning on', () => {
    const { stream, response } = begin();
    const sentAt = (now: number): number => {
      stream.work(now);
      return response.sent.length;
    };
    expect([1_000, 45_999, 46_000, 90_999, 91_000].map(sentAt)).toEqual([0, 0, 1, 1, 2]);
    expect(response.sent).toEqual(['bookmark', 'bookmark']);
  });

  test('tells a sign of life where there is no bookmark, behind the events on the way to one', () => {
    const { stream, response, events } = begin({}, null);
    events.push('one');
    for (const now of [46_000, 46_100, 46_200]) stream.work(now);
    expect(response.sent).toEqual(['one', 'alive']);
  });

  test('tells a client of server-sent events first when to come back', () => {
    expect(begin({ form: 'events' }).response.sent).toEqual(['retry: 2500\n\n']);
    expect(begin().response.sent).toEqual([]);
  });
});

describe('a stream whose client has no room', () => {
  test('is told nothing more until it takes bytes again', () => {
    const { stream, response, events, calls } = begin();
    events.push('one', 'two');
    response.hasRoom = false;
    stream.work(1_100);
    expect(stream.isDue(1_200)).toBe(false);
    stream.work(1_200);
    expect(response.sent).toEqual(['one']);
    response.emit('drain');
    expect([calls.drains, stream.isDue(1_300)]).toEqual([1, true]);
    stream.work(1_300);
    expect(response.sent).toEqual(['one', 'two']);
  });

  test('is cut off when its socket got rid of no byte for ten minutes', () => {
    const begun = begin();
    const { stream, response, exchange } = begun;
    const took = waitingSince(1_000, begun);
    took(100, 300_000);
    took(100, 899_999);
    expect([response.destroyed, stream.end]).toEqual([false, 'client']);
    took(100, 900_000);
    expect([response.destroyed, stream.end, exchange.reason]).toEqual([true, 'slow', 'slow']);
  });

  test('is not cut off when its socket had room meanwhile', () => {
    const begun = begin();
    const { response } = begun;
    const took = waitingSince(1_000, begun);
    response.emit('drain');
    took(0, 900_000);
    expect(response.destroyed).toBe(false);
  });
});

/** Writes what finds no room in the socket; returns what looks later at a client that took so many bytes. */
function waitingSince(now: number, { stream, response, events }: ReturnType<typeof begin>) {
  events.push('one');
  response.hasRoom = false;
  stream.work(now);
  return (bytes: number, at: number): void => {
    Object.assign(response.socket, { bytesWritten: bytes + 600, writableLength: 600 });
    stream.cutIfStalled(at);
  };
}

describe('the end of a stream', () => {
  test('tells its bookmark last, and does nothing more', () => {
    const { stream, response, events, exchange } = begin();
    expect([stream.stop(), stream.stop()]).toEqual([true, false]);
    events.push('one');
    expect(stream.isDue(1_100)).toBe(true);
    stream.work(1_100);
    stream.work(60_000);
    expect(response.sent).toEqual(['bookmark', 'END']);
    expect([stream.end, exchange.reason, exchange.failure, stream.isDue(60_000)]).toEqual([
      'stopping',
      'stopping',
      undefined,
      false,
    ]);
  });

  test('writes nothing where there is nothing to tell: an empty chunk would end the body twice', () => {
    const { stream, response } = begin({}, null);
    stream.stop();
    stream.work(1_100);
    expect(response.sent).toEqual(['END']);
  });

  test('comes with its time, but not in the middle of a first state', () => {
    const { stream, watch, response } = begin();
    watch.isBeginning = true;
    stream.work(ENDS_AT);
    expect(stream.end).toBe('client');
    watch.isBeginning = false;
    expect(stream.isDue(ENDS_AT)).toBe(true);
    stream.work(ENDS_AT);
    expect([stream.end, response.sent.at(-1)]).toEqual(['timeout', 'END']);
  });

  test('by an error tells the bookmark and the error', () => {
    const { stream, response, exchange } = begin();
    stream.fail(serviceUnavailable('no', 5));
    stream.work(1_100);
    expect([stream.end, exchange.reason, response.sent.length]).toEqual(['unavailable', 'unavailable', 2]);
    expect(response.sent[0]).toMatch(/^bookmark\{"type":"ERROR","object":.*"code":503/);
  });

  test('by an error that says when to come back tells a client of server-sent events so', () => {
    const { stream, response } = begin({ form: 'events' });
    stream.fail(serviceUnavailable('no', 5));
    stream.work(1_100);
    expect(response.sent[1]).toMatch(/^bookmarkretry: 5000\n\nevent: ERROR\n/);
  });

  test('by a bug of ours tells no version', () => {
    const { stream, response, events } = begin();
    events.push(new Error('a bug'));
    stream.work(1_100);
    stream.work(1_200);
    expect(stream.end).toBe('failed');
    expect(response.sent[0]).toMatch(/^\{"type":"ERROR","object":.*"code":500/);
  });

  test('by a client that took nothing of its last bytes is a cut, under the reason it ended for', () => {
    const { stream, response, exchange } = begin();
    stream.stop();
    stream.work(1_000);
    stream.cutIfStalled(600_999);
    expect(response.destroyed).toBe(false);
    stream.cutIfStalled(601_000);
    expect([response.destroyed, stream.end, exchange.reason]).toEqual([true, 'stopping', 'stopping']);
  });
});
