import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { neverProven } from '../../../../src/data-age.ts';
import { SecretWatch } from '../../../../src/kubernetes/secrets/secrets.ts';
import { Backoff } from '../../../../src/runtime/backoff.ts';
import type { StoredSecret } from '../../../../src/secret-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { bookmark, event } from '../objects.ts';
import { ScriptedSource } from '../reflector/scripted-source.ts';

const noJitter = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const secret = (version: string) => ({
  kind: 'Secret',
  metadata: { name: 'keys', uid: 'u', resourceVersion: version },
});

/** A watch whose reads are answered by the test, one promise each. */
async function follow(taken: () => void = () => undefined) {
  const source = new ScriptedSource();
  const clock = new FakeClock();
  const reads: PromiseWithResolvers<StoredSecret | undefined>[] = [];
  const seen: string[] = [];
  const read = (): Promise<StoredSecret | undefined> => {
    const answer = Promise.withResolvers<StoredSecret | undefined>();
    reads.push(answer);
    return answer.promise;
  };
  const lines: { level: number; msg: string; end?: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const onChange = (stored: StoredSecret | undefined): void => {
    seen.push(stored?.version ?? 'absent');
    taken();
  };
  const backoff = new Backoff(clock, noJitter);
  const proof = neverProven();
  const watch = new SecretWatch({ name: 'keys', source, proof, read, onChange, clock, logger, backoff });
  const controller = new AbortController();
  const running = watch.run(controller.signal);
  stops.push(async () => {
    controller.abort();
    await running;
  });
  await clock.advance(0);
  return { source, clock, reads, seen, lines, watch, ageMs: () => clock.monotonic() - proof.at };
}

describe('a watch of a Secret', () => {
  test('tells of a Secret that was deleted before the watch began, although a bookmark came first', async () => {
    const { source, clock, reads, seen } = await follow();
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(bookmark('9'));
    reads[0]?.resolve(undefined);
    await clock.advance(0);
    expect(seen).toEqual(['absent']);
  });

  test('begins again when the read that confirms an absent Secret fails', async () => {
    const { source, clock, reads, seen } = await follow();
    source.lastWatch.sink.accepted();
    reads[0]?.reject(new Error('no answer'));
    await clock.advance(2_000);
    expect(source.watches.length).toBe(2);
    source.lastWatch.sink.accepted();
    reads[1]?.resolve(undefined);
    await clock.advance(0);
    expect(seen).toEqual(['absent']);
  });

  test('believes an event over a read that was under way', async () => {
    const { source, clock, reads, seen } = await follow();
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    reads[0]?.resolve({ data: {}, version: '11' });
    await clock.advance(0);
    expect(seen).toEqual(['12']);
  });

  test('tells a state once, however often watches begin with it', async () => {
    const { source, clock, seen } = await follow();
    for (let round = 1; round <= 3; round++) {
      source.lastWatch.sink.accepted();
      source.lastWatch.sink.event(event('ADDED', secret('12')));
      source.lastWatch.end({ kind: 'closed' });
      await clock.advance(5_000);
    }
    expect([source.watches.length, seen]).toEqual([4, ['12']]);
  });

  test('is proven current by what it is told, by a bookmark after it, and by a read', async () => {
    const { source, clock, reads, ageMs } = await follow();
    expect(ageMs()).toBe(Number.POSITIVE_INFINITY);
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(bookmark('9'));
    expect(ageMs()).toBe(Number.POSITIVE_INFINITY);
    reads[0]?.resolve(undefined);
    await clock.advance(0);
    expect(ageMs()).toBe(0);
    await clock.advance(60_000);
    expect(ageMs()).toBe(60_000);
    source.lastWatch.sink.event(bookmark('10'));
    expect(ageMs()).toBe(0);
    await clock.advance(1_000);
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    expect(ageMs()).toBe(0);
  });

  test('ignores a read that ends after its watch did', async () => {
    const { source, clock, reads, seen } = await follow();
    source.lastWatch.sink.accepted();
    source.lastWatch.end({ kind: 'reset' });
    await clock.advance(0);
    reads[0]?.resolve({ data: {}, version: '11' });
    await clock.advance(0);
    expect(seen).toEqual([]);
  });

  test('asks for the newest state, for seven and a half minutes', async () => {
    const { source } = await follow();
    expect(source.lastWatch.request).toEqual({ resourceVersion: '', timeoutSeconds: 450 });
  });

  test('takes no bookmark and nothing without a version for a state', async () => {
    const { source, seen } = await follow();
    source.lastWatch.sink.accepted();
    expect(source.lastWatch.sink.event(event('BOOKMARK', secret('12')))).toBeUndefined();
    expect(source.lastWatch.sink.event(event('ADDED', { kind: 'Table' }))).toBeUndefined();
    expect(seen).toEqual([]);
  });

  test('tells of a Secret that was deleted', async () => {
    const { source, seen } = await follow();
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    source.lastWatch.sink.event(event('DELETED', secret('13')));
    expect(seen).toEqual(['12', 'absent']);
  });

  test('ends with an ERROR event', async () => {
    const { source } = await follow();
    source.lastWatch.sink.accepted();
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'old' };
    expect(source.lastWatch.sink.event(event('ERROR', status))).toMatchObject({ kind: 'expired' });
  });

  test('begins at once after the first 410, though no watch before it was taken', async () => {
    const { source, clock } = await follow();
    source.lastWatch.end({ kind: 'refused' });
    await clock.advance(800);
    source.lastWatch.sink.accepted();
    source.lastWatch.end({ kind: 'expired' });
    await clock.advance(0);
    expect(source.watches.length).toBe(3);
  });

  test('warns of the first failure in a row alone, tells its end, and nothing of an end that is usual', async () => {
    const { source, clock, lines } = await follow();
    const end = async (kind: 'refused' | 'reset' | 'closed' | 'quiet'): Promise<void> => {
      source.lastWatch.end({ kind });
      await clock.advance(20_000);
    };
    await end('closed');
    await end('quiet');
    expect(lines).toEqual([]);
    await end('refused');
    await end('refused');
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    await end('reset');
    expect(lines).toMatchObject([
      { level: 40, msg: 'a watch of a Secret failed', secret: 'keys', end: 'refused' },
      { level: 30, msg: 'the cluster answers again', secret: 'keys' },
      { level: 40, msg: 'a watch of a Secret failed', secret: 'keys', end: 'reset' },
    ]);
  });

  test('goes on when a read fails that an event has made needless', async () => {
    const { source, clock, reads } = await follow();
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    reads[0]?.reject(new Error('no answer'));
    await clock.advance(0);
    expect(source.lastWatch.signal.aborted).toBe(false);
  });

  test('waits before it asks a cluster again that refused it, and does not wait after a stream that brought the state', async () => {
    const { source, clock } = await follow();
    source.lastWatch.end({ kind: 'refused' });
    await clock.advance(799);
    expect(source.watches.length).toBe(1);
    await clock.advance(1);
    expect(source.watches.length).toBe(2);
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    source.lastWatch.end({ kind: 'closed' });
    await clock.advance(0);
    expect(source.watches.length).toBe(3);
  });

  test('ends without a word when it is told to', async () => {
    const { lines } = await follow();
    await stops.pop()?.();
    expect(lines).toEqual([]);
  });

  test('goes on when the one who is told throws, and says so', async () => {
    const { source, seen, lines } = await follow(() => {
      throw new Error('a bug');
    });
    source.lastWatch.sink.accepted();
    source.lastWatch.sink.event(event('ADDED', secret('12')));
    source.lastWatch.sink.event(event('MODIFIED', secret('13')));
    expect(seen).toEqual(['12', '13']);
    expect(lines[0]).toMatchObject({ level: 50, secret: 'keys', msg: 'a change of a Secret was not taken' });
  });
});
