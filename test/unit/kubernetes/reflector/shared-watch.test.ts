import { beforeEach, describe, expect, test } from 'vitest';
import type { Failure } from '../../../../src/kubernetes/reflector/failure.ts';
import type { WatchEvent, WatchSink } from '../../../../src/kubernetes/reflector/lister-watcher.ts';
import { SharedWatch } from '../../../../src/kubernetes/reflector/shared-watch.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { bookmark, event, initialEventsEnd, node } from '../objects.ts';
import { ScriptedSource } from './scripted-source.ts';

/** A sink that notes what it gets, and knows the keys that a store would have. */
class NotingSink implements WatchSink {
  readonly story: string[] = [];
  readonly keys = new Set<string>();
  pause: Promise<void> | undefined;
  fault: (() => Failure | undefined) | undefined;

  accepted = (): void => void this.story.push('accepted');
  bytes = (): void => void this.story.push('bytes');
  busy = (): Promise<void> | undefined => this.pause;

  event({ type, object }: WatchEvent): Failure | undefined {
    const { name, resourceVersion } = object['metadata'] as { name?: string; resourceVersion: string };
    this.story.push([type, name, resourceVersion].filter(Boolean).join(' '));
    if (name && type === 'DELETED') this.keys.delete(name);
    else if (name) this.keys.add(name);
    return this.fault?.();
  }
}

let clock: FakeClock;
let shared: SharedWatch;
let own: ScriptedSource;
let whole: ScriptedSource;
let sink: NotingSink;
let wholeSink: NotingSink;
let letGo: AbortController;
let stop: AbortController;
let ended: Promise<Failure>;
let wholeEnded: Promise<Failure>;

beforeEach(() => {
  clock = new FakeClock();
  shared = new SharedWatch(clock);
  own = new ScriptedSource();
  whole = new ScriptedSource();
  sink = new NotingSink();
  wholeSink = new NotingSink();
  letGo = new AbortController();
  stop = new AbortController();
});

/** A watch of the objects whose name does not begin with `x`. */
function follow(resourceVersion: string, initialEvents = false): void {
  const selects = ({ metadata }: { metadata: { name: string } }) => !metadata.name.startsWith('x');
  const source = shared.follow(own, { selects, has: (key) => sink.keys.has(key) });
  const request = { resourceVersion, timeoutSeconds: 300, ...(initialEvents && { initialEvents }) };
  ended = source.watch(request, sink, stop.signal);
  own.lastWatch.sink.accepted();
}

function watchWhole(resourceVersion: string, initialEvents = false): void {
  const request = { resourceVersion, timeoutSeconds: 300, ...(initialEvents && { initialEvents }) };
  wholeEnded = shared.publish(whole).watch(request, wholeSink, letGo.signal);
  whole.lastWatch.sink.accepted();
}

const tellWhole = (...events: readonly WatchEvent[]): void => {
  for (const one of events) whole.lastWatch.sink.event(one);
};
const tellOwn = (...events: readonly WatchEvent[]): void => {
  for (const one of events) own.lastWatch.sink.event(one);
};
const hasOwnWatch = (): boolean => !own.lastWatch.signal.aborted;

describe('a follower of a shared watch', () => {
  test('has a watch of its own until both watches are at the same version', () => {
    follow('10');
    tellOwn(event('ADDED', node('a', '11')));
    watchWhole('15');
    expect(hasOwnWatch()).toBe(true);
    tellOwn(event('ADDED', node('b', '16')));
    expect(hasOwnWatch()).toBe(true);
    tellWhole(event('ADDED', node('b', '16')), event('ADDED', node('c', '17')));
    expect(hasOwnWatch()).toBe(false);
    expect(sink.story).toEqual(['accepted', 'ADDED a 11', 'ADDED b 16', 'ADDED c 17']);
  });

  test('gets the changes that the shared watch brought before the two met', () => {
    watchWhole('10');
    follow('10');
    expect(hasOwnWatch()).toBe(false);
    own = new ScriptedSource();
    sink = new NotingSink();
    follow('9');
    tellWhole(event('ADDED', node('a', '11')), event('ADDED', node('x', '12')), event('ADDED', node('b', '13')));
    expect(hasOwnWatch()).toBe(true);
    tellOwn(event('ADDED', node('a', '11')));
    expect(hasOwnWatch()).toBe(false);
    expect(sink.story).toEqual(['accepted', 'ADDED a 11', 'ADDED b 13']);
  });

  test('keeps its own watch while the shared one is more than 256 changes ahead', () => {
    watchWhole('1000');
    follow('999');
    for (let version = 1001; version <= 1300; version++) tellWhole(event('MODIFIED', node('a', `${version}`)));
    tellOwn(event('MODIFIED', node('a', '1043')));
    expect(hasOwnWatch()).toBe(true);
    tellOwn(event('MODIFIED', node('a', '1044')));
    expect(hasOwnWatch()).toBe(false);
    expect(sink.story.length).toBe(1 + 2 + 256);
  });

  test('gets the events that its field selector would have brought', () => {
    watchWhole('10');
    follow('10');
    tellWhole(
      event('ADDED', node('a', '11')),
      event('MODIFIED', node('a', '12')),
      event('ADDED', node('x-1', '13')),
      event('DELETED', node('x-1', '14')),
      bookmark('15'),
      event('DELETED', node('a', '16')),
    );
    sink.keys.add('x-2'); // was selected until now
    tellWhole(event('MODIFIED', node('x-2', '17')));
    sink.keys.delete('b');
    tellWhole(event('MODIFIED', node('b', '18'))); // is selected from now on
    expect(sink.story.slice(1)).toEqual([
      'ADDED a 11',
      'MODIFIED a 12',
      'BOOKMARK 15',
      'DELETED a 16',
      'DELETED x-2 17',
      'ADDED b 18',
    ]);
  });

  test('hears the bytes of the shared watch, and no longer those of its own', () => {
    watchWhole('10');
    follow('10');
    whole.lastWatch.sink.bytes();
    own.lastWatch.sink.bytes();
    own.lastWatch.sink.event(event('ADDED', node('late', '11')));
    expect(sink.story).toEqual(['accepted', 'bytes']);
  });

  test('goes over after the whole list of each watch, and not before it is in its store', async () => {
    follow('', true);
    tellOwn(event('ADDED', node('a', '11')));
    watchWhole('', true);
    tellWhole(event('ADDED', node('a', '11')));
    const taken = Promise.withResolvers<void>();
    wholeSink.pause = taken.promise;
    tellWhole(initialEventsEnd('20'));
    tellOwn(initialEventsEnd('20'));
    expect(hasOwnWatch()).toBe(true);
    wholeSink.pause = undefined;
    const ownTaken = Promise.withResolvers<void>();
    sink.pause = ownTaken.promise;
    taken.resolve();
    await clock.advance(0);
    expect(hasOwnWatch()).toBe(true);
    sink.pause = undefined;
    ownTaken.resolve();
    await clock.advance(0);
    expect(hasOwnWatch()).toBe(false);
  });

  test('ends as if the server had closed its watch as soon as the shared one is let go', async () => {
    watchWhole('10');
    follow('10');
    letGo.abort();
    expect(await ended).toEqual({ kind: 'closed' });
    expect(await wholeEnded).toEqual({ kind: 'aborted' });
  });

  test('goes on while the shared watch is opened again within a second where it ended', async () => {
    watchWhole('10');
    follow('10');
    tellWhole(event('ADDED', node('a', '11')));
    whole.lastWatch.end({ kind: 'closed' });
    await clock.advance(999);
    watchWhole('11');
    await clock.advance(60_000);
    tellWhole(event('ADDED', node('b', '12')));
    expect(sink.story).toEqual(['accepted', 'ADDED a 11', 'ADDED b 12']);
    expect(own.watches.length).toBe(1);
  });

  test.each([
    ['is not open again within a second', async () => clock.advance(1_000)],
    ['begins again at another version', async () => watchWhole('12')],
    [
      'lists again',
      async () => {
        watchWhole('', true);
        tellWhole(initialEventsEnd('12'));
      },
    ],
  ])('ends when the shared watch was closed and %s', async (_, next) => {
    watchWhole('10');
    follow('10');
    tellWhole(event('ADDED', node('a', '11')));
    whole.lastWatch.end({ kind: 'closed' });
    await clock.advance(0);
    await next();
    expect(await ended).toEqual({ kind: 'closed' });
  });

  test.each([
    ['reset', 'reset'],
    ['expired', 'closed'],
    ['stream_error', 'closed'],
  ] as const)('ends at once when the shared watch fails: after %s with %s', async (kind, seen) => {
    watchWhole('10');
    follow('10');
    whole.lastWatch.end({ kind });
    expect(await ended).toEqual({ kind: seen });
  });

  test('ends alone when its own reflector ends it or cannot take an event', async () => {
    watchWhole('10');
    follow('10');
    stop.abort();
    expect(await ended).toEqual({ kind: 'aborted' });
    stop = new AbortController();
    follow('10');
    sink.fault = () => {
      throw new TypeError('a bug');
    };
    tellWhole(event('ADDED', node('a', '11')), event('ADDED', node('b', '12')));
    expect(await ended).toEqual({ kind: 'unreadable', detail: 'an event could not be taken: TypeError' });
    expect(wholeSink.story.slice(1)).toEqual(['ADDED a 11', 'ADDED b 12']);
  });

  test('ends as its own watch did while it has one', async () => {
    follow('10');
    own.lastWatch.end({ kind: 'expired' });
    expect(await ended).toEqual({ kind: 'expired' });
  });

  test('asks for its lists itself', async () => {
    const source = shared.follow(own, { selects: () => true, has: () => false });
    own.answerLists({ kind: 'page', resourceVersion: '7', continueToken: '', items: [] });
    const listed = await source.list({ version: '', limit: 5 }, () => {}, stop.signal);
    expect([listed.kind, own.lists, whole.lists]).toEqual(['page', [{ version: '', limit: 5 }], []]);
  });
});
