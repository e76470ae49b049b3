import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { eventually, type Service, startService } from './stand.ts';

/** While a fault lasts for minutes: far below every time-out, far above the tenth of a second of the loops that look for work. */
export const STRIDE_MS = 1_000;
/** Between two looks: long enough to be through a back-off of 30 s soon. */
const STEP_MS = 250;
/** While an answer is waited for: short, so that work in the thread pool does not seem to take its time-out. */
const SMALL_STEP_MS = 20;

/** A clock that moves only when a test waits for something, so that back-offs and polls cost no time. */
export class DrivenClock extends FakeClock {
  constructor() {
    super(Date.now()); // the simulated cluster and other replicas live in the present
  }

  /** Lets time pass until this has come about. */
  async during<T>(promise: Promise<T>, stepMs = SMALL_STEP_MS): Promise<T> {
    const settled = { already: false };
    const done = (): void => {
      settled.already = true;
    };
    promise.then(done, done);
    await eventually(
      () => settled.already,
      Boolean,
      () => this.#pass(stepMs),
    );
    return promise;
  }

  /** Lets time pass until it is so. Longer steps are for what comes after half a minute or more, and costs much to read. */
  until = <T>(read: () => T | Promise<T>, isSo: (value: T) => boolean, stepMs = STEP_MS): Promise<T> =>
    eventually(read, isSo, () => this.#pass(stepMs));

  /** Lets so much time pass, a second at once. After each, requests can fail and be made again. */
  async spend(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STRIDE_MS) await this.leap(Math.min(left, STRIDE_MS));
  }

  /**
   * Then a moment of real time for sockets, and a turn of the thread pool, where passwords are hashed: when the pool gets little of a
   * core, time passes more slowly, so that a hash does not seem to take minutes.
   */
  async #pass(ms: number): Promise<void> {
    await this.advance(ms);
    await Promise.all([sleep(1), access('.')]);
  }
}

/** Gatehouse on a clock that the test drives, which others may share; not ready yet. */
export async function startDriven(
  cluster: Parameters<typeof startService>[0],
  change: Parameters<typeof startService>[1] = {},
  clock = new DrivenClock(),
): Promise<{ readonly clock: DrivenClock; readonly service: Service }> {
  const service = await startService(cluster, { ...change, clock, untilReady: false });
  atEnd(() => clock.during(service.gatehouse.stop(), STEP_MS)); // a drain waits on the clock, too
  return { clock, service };
}

/** The same, ready. A wait in vain says which checks fail. */
export async function startDrivenReady(...parameters: Parameters<typeof startDriven>): ReturnType<typeof startDriven> {
  const { clock, service } = await startDriven(...parameters);
  await clock.until(
    async () => {
      const { status, text } = await service.call('/readyz?verbose');
      return { status, text, elapsedMs: clock.monotonic(), log: status === 200 ? [] : service.gatehouse.log.slice(-5) };
    },
    ({ status }) => status === 200,
  );
  return { clock, service };
}
