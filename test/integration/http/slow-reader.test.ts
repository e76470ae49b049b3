import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { makeNode } from '../../unit/resources/node-objects.ts';
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

/** The most that one read takes. */
const READ_BYTES = 10_000;
/** The test's clock moves in steps of this length. */
const STEP_SECONDS = 10;

/** A client that takes so many bytes a second of the test's clock, and no more. */
class SlowReader {
  readonly #clock: Started['clock'];
  readonly #socket: Socket;
  readonly #bytesASecond: number;
  #isInHurry = false;
  #bytes = 0;
  tail = '';
  isComplete = false;
  hasEnded = false;

  constructor({ app, clock }: Started, bytesASecond: number, query = '') {
    this.#clock = clock;
    this.#bytesASecond = bytesASecond;
    const buffer = Buffer.alloc(READ_BYTES);
    const callback = (length: number): boolean => {
      this.#bytes += length;
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

  /** The clock moves only after the bytes of the last step have come, so the rate is the same on a slow machine. */
  async read(seconds: number): Promise<void> {
    for (let second = 0; second < seconds && !this.hasEnded; second += STEP_SECONDS) {
      const goal = this.#bytes + STEP_SECONDS * this.#bytesASecond;
      while (this.#bytes < goal && !this.hasEnded) {
        this.#socket.resume();
        await nextTurn();
      }
      await this.#clock.advance(STEP_SECONDS * 1_000);
    }
  }

  /** From here on without a pause. */
  hurry(): void {
    this.#isInHurry = true;
    this.#socket.resume();
  }
}

describe('a reader that is slow and never pauses', () => {
  test('R-23 is told a first state of 18 MB to its end, at 10 kB a second', async () => {
    const started = await start();
    fill(started);
    const reader = new SlowReader(started, 10_000);
    await reader.read(1_300); // more than twice `sendTimeout`
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
});
