import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { EventDecoder } from '../../../../src/kubernetes/reflector/event-decoder.ts';
import type { Failure } from '../../../../src/kubernetes/reflector/failure.ts';
import type { WatchEvent } from '../../../../src/kubernetes/reflector/lister-watcher.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const line = (name: string): string => `{"type":"ADDED","object":{"metadata":{"name":"${name}"}}}\n`;
const nameOf = ({ object }: WatchEvent): string => (object['metadata'] as { name: string }).name;

/** Everything fits into its slice. */
const standing = new TimeSlices(new FakeClock());

/** A stream that was answered with this status, and what its sink was told; the sink refuses the event of `refused`. */
function start({ status = 200, headers = {} as Record<string, string>, refused = '' } = {}) {
  const told: string[] = [];
  const sink = {
    accepted: () => void told.push('accepted'),
    bytes: () => void told.push('bytes'),
    event: (event: WatchEvent) => {
      told.push(nameOf(event));
      return nameOf(event) === refused ? ({ kind: 'expired' } as Failure) : undefined;
    },
  };
  const stream: EventDecoder = new EventDecoder(sink, standing);
  stream.start(status, headers);
  const say = (text: string | Buffer): void => void stream.data(Buffer.from(text));
  const names = (): string[] => told.filter((one) => one !== 'accepted' && one !== 'bytes');
  return { stream, told, say, names };
}

/** The same where each event takes 3 ms. */
function startSlow() {
  const clock = { now: 0 };
  const busy = { until: undefined as Promise<void> | undefined };
  const names: string[] = [];
  const sink = {
    accepted: () => {},
    bytes: () => {},
    event: (event: WatchEvent) => {
      names.push(nameOf(event));
      clock.now += 3;
      return undefined;
    },
    busy: () => busy.until,
  };
  const stream = new EventDecoder(sink, new TimeSlices({ monotonic: () => clock.now }));
  stream.start(200, {});
  return { stream, names, busy };
}

describe('the stream of a watch', () => {
  test('is accepted by its status, and gives every line of every chunk', () => {
    const { stream, told, say } = start();
    say(line('a') + line('b'));
    say(line('c'));
    expect(told).toEqual(['bytes', 'accepted', 'bytes', 'a', 'b', 'bytes', 'c']);
    expect([stream.ended(), stream.started, stream.signal.aborted]).toEqual([{ kind: 'closed' }, true, false]);
  });

  test('C-15 gives nothing of the same chunk that comes after garbage, and nothing of the next', () => {
    const { stream, say, names } = start();
    say(`${line('a')}garbage\n${line('b')}`);
    say(line('c'));
    expect(names()).toEqual(['a']);
    expect(stream.ended()).toEqual({ kind: 'unreadable', detail: 'no watch event' });
    expect([stream.failure?.kind, stream.signal.aborted]).toEqual(['unreadable', true]);
  });

  test('gives nothing after an event that ends it, and has ended for that reason', () => {
    const { stream, say, names } = start({ refused: 'b' });
    say(line('a') + line('b') + line('c'));
    expect(names()).toEqual(['a', 'b']);
    expect([stream.ended(), stream.failure]).toEqual([{ kind: 'expired' }, { kind: 'expired' }]);
  });

  test('gives nothing of the chunk in which it was stopped', () => {
    const told: string[] = [];
    const sink = {
      accepted: () => undefined,
      bytes: () => undefined,
      event: (event: WatchEvent) => {
        told.push(nameOf(event));
        stream.stop();
        return undefined;
      },
    };
    const stream: EventDecoder = new EventDecoder(sink, standing);
    stream.start(200, {});
    void stream.data(Buffer.from(line('a') + line('b')));
    expect(told).toEqual(['a']);
    expect(stream.failure).toBeUndefined();
  });

  test('is unreadable when its sink throws, in a later slice too, and nothing else is', async () => {
    let now = 0;
    const told: string[] = [];
    const sink = {
      accepted: () => undefined,
      bytes: () => undefined,
      event: (event: WatchEvent) => {
        told.push(nameOf(event));
        now += 5;
        if (told.length === 4) throw new RangeError('a secret');
        return undefined;
      },
    };
    const stream: EventDecoder = new EventDecoder(sink, new TimeSlices({ monotonic: () => now }));
    stream.start(200, {});
    await stream.data(Buffer.from(line('a') + line('b') + line('c') + line('d') + line('e')));
    await stream.read();
    expect(told).toEqual(['a', 'b', 'c', 'd']);
    expect(stream.ended()).toEqual({ kind: 'unreadable', detail: 'an event could not be taken: RangeError' });
  });

  test('C-14 is unreadable when its last line has no end', () => {
    const { stream, say, names } = start();
    say(`${line('a')}{"type"`);
    expect(stream.ended()).toEqual({ kind: 'unreadable', detail: 'the last line has no end' });
    expect(names()).toEqual(['a']);
  });

  test('C-16 is unreadable at a line over 8 MiB', () => {
    const { stream, say } = start();
    say(Buffer.alloc(8 * 1024 * 1024 + 1, 'x'));
    expect(stream.ended()).toEqual({ kind: 'unreadable', detail: 'line too long' });
    expect(stream.signal.aborted).toBe(true);
  });

  test('that is refused is read as a Status, however it is cut, and is no sign of life', () => {
    const { stream, told, say } = start({ status: 429, headers: { 'retry-after': '7' } });
    say('{"kind":"Status","rea');
    say('son":"TooManyRequests","code":429}');
    expect(stream.ended()).toEqual({ kind: 'throttled', retryAfterMs: 7_000, detail: '429 TooManyRequests' });
    expect(told).toEqual([]);
  });

  test('that is refused with a page goes by its status, of a long one too', () => {
    const short = start({ status: 500 });
    short.say('<html>');
    const long = start({ status: 500 });
    for (let left = 70; left > 0; left--) long.say('x'.repeat(1024));
    expect([short.stream.ended().kind, long.stream.ended().kind]).toEqual(['refused', 'refused']);
  });

  test('reads 8 ms of a flood a turn, in the middle of a chunk too, and asks for no more before it is read', async () => {
    const { stream, names, busy } = startSlow();
    expect(stream.data(Buffer.from(line('a') + line('b')))).toBeUndefined();
    const read = stream.data(Buffer.from(['c', 'd', 'e', 'f', 'g'].map(line).join('')));
    expect(names).toEqual(['a', 'b', 'c']);
    await nextTurn();
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    busy.until = Promise.resolve();
    await read;
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(stream.data(Buffer.from('\n'))).toBe(busy.until);
  });

  test('reads chunks that come too early in their order', async () => {
    const { stream, names } = startSlow();
    const chunks = [['a', 'b', 'c', 'd', 'e'], ['f', 'g', 'h', 'i'], ['j']];
    await Promise.all(chunks.map((chunk) => stream.data(Buffer.from(chunk.map(line).join('')))));
    expect(names).toEqual(chunks.flat());
  });

  test('asks for no more while its sink is busy with what a turn after read', async () => {
    const { stream, busy } = startSlow();
    let isFree = false;
    busy.until = nextTurn(undefined)
      .then(nextTurn)
      .then(() => {
        isFree = true;
      });
    await stream.data(Buffer.from(['a', 'b', 'c', 'd'].map(line).join('')));
    expect(isFree).toBe(true);
  });

  test('is read when it ends, unless it was stopped', async () => {
    const ended = startSlow();
    const stopped = startSlow();
    const chunk = Buffer.from(`${['a', 'b', 'c', 'd', 'e'].map(line).join('')}{"type"`);
    for (const { stream } of [ended, stopped]) void stream.data(chunk);
    stopped.stream.stop();
    await Promise.all([ended.stream.read(), stopped.stream.read()]);
    expect([ended.names, stopped.names]).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      ['a', 'b', 'c'],
    ]);
    expect(ended.stream.ended()).toEqual({ kind: 'unreadable', detail: 'the last line has no end' });
    expect(stopped.stream.failure).toBeUndefined();
  });

  test('that was never answered has not started', () => {
    const stream = new EventDecoder({ accepted: () => {}, bytes: () => {}, event: () => undefined }, standing);
    expect(stream.started).toBe(false);
  });
});
