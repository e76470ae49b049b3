import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { makeNode } from '../../unit/nodes/node-objects.ts';
import { eventually } from './app-under-test.ts';
import { LIST, metric, start } from './watch-under-test.ts';

type Started = Awaited<ReturnType<typeof start>>;

/** 18 MB: more than the kernel takes for a reader that reads slowly. */
function fill({ cache }: Started): void {
  for (let at = 0; at < 1_500; at++) {
    cache.putNode(makeNode(`large-${at}`, {}, { spec: { note: 'x'.repeat(12_000) } }));
  }
}

/** As much of the end of what came as the tests look at. */
const TAIL = 1_000;

/** A client that takes so many bytes a second of the test's clock, and no more. */
class SlowReader {
  readonly #clock: Started['clock'];
  readonly #socket: Socket;
  #isInHurry = false;
  #reads = 0;
  tail = '';
  isComplete = false;
  hasEnded = false;

  constructor({ app, clock }: Started, bytesASecond: number, query = '') {
    this.#clock = clock;
    const buffer = Buffer.alloc(bytesASecond);
    const callback = (length: number): boolean => {
      this.#reads++;
      this.tail = (this.tail + buffer.toString('latin1', 0, length)).slice(-TAIL);
      this.isComplete ||= this.tail.includes('k8s.io/initial-events-end');
      return this.#isInHurry;
    };
    this.#socket = connect({ port: app.port, host: '127.0.0.1', onread: { buffer, callback } });
    this.#socket
      .on('error', () => {})
      .on('close', () => {
        this.hasEnded = true;
      });
    this.#socket.write(`GET ${LIST}?watch=1${query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`);
    atEnd(() => this.#socket.destroy());
  }

  async read(seconds: number): Promise<void> {
    for (let second = 0; second < seconds && !this.hasEnded; second++) {
      const before = this.#reads;
      this.#socket.resume();
      // On a busy machine a second of the test's clock is over before its bytes have come.
      await eventually(() => this.#reads > before || this.hasEnded);
      await this.#clock.advance(1_000);
      await sleep(1);
    }
  }

  /** From here on without a pause. */
  hurry(): void {
    this.#isInHurry = true;
    this.#socket.resume();
  }
}

describe('a reader that is slow and never pauses', () => {
  test('is told a first state of 18 MB to its end, at 10 kB a second', async () => {
    const started = await start();
    fill(started);
    const reader = new SlowReader(started, 10_000);
    await reader.read(200);
    expect(reader.hasEnded).toBe(false);
    reader.hurry();
    await eventually(() => reader.isComplete || reader.hasEnded);
    expect(await metric(started.app, 'gatehouse_watches_ended_total{end="slow"}')).toMatch(/ 0$/);
    expect(reader.isComplete).toBe(true);
  });

  test('is told it to its end when its time is over meanwhile, then its stream ends', async () => {
    const started = await start();
    fill(started);
    const reader = new SlowReader(started, 20_000, '&timeoutSeconds=60');
    await reader.read(100);
    expect(reader.hasEnded).toBe(false);
    reader.hurry();
    await eventually(() => reader.hasEnded);
    expect(reader.tail).toContain('"BOOKMARK"');
    expect([reader.isComplete, reader.tail.endsWith('\r\n0\r\n\r\n')]).toEqual([true, true]);
    expect(await metric(started.app, 'gatehouse_watches_ended_total{end="timeout"}')).toMatch(/ 1$/);
  });

  test('is cut off when it takes next to nothing, 1 kB a second', async () => {
    const started = await start();
    fill(started);
    const reader = new SlowReader(started, 1_000);
    await reader.read(200);
    expect(await metric(started.app, 'gatehouse_watches_ended_total{end="slow"}')).toMatch(/ 1$/);
  });
});
