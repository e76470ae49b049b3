import { FakeClock } from '../../support/fake-clock.ts';
import { atEnd, eventually, type Service, startService } from './stand.ts';

/** Enough turns of the clock for back-offs of 30 s, and few enough that an hour does not pass meanwhile. */
const STEP_MS = 250;

/** A clock that moves only when a test waits for something, so that back-offs and polls cost no time. */
export class DrivenClock extends FakeClock {
  constructor() {
    super(Date.now()); // the simulated cluster and other replicas live in the present
  }

  /** Lets time pass until this has come about. */
  async during<T>(promise: Promise<T>): Promise<T> {
    const settled = { already: false };
    const done = (): void => {
      settled.already = true;
    };
    promise.then(done, done);
    await this.until(() => settled.already, Boolean);
    return promise;
  }

  /** Lets time pass until it is so. */
  until = <T>(read: () => T | Promise<T>, isSo: (value: T) => boolean): Promise<T> =>
    eventually(read, isSo, () => this.advance(STEP_MS));
}

/** Gatehouse on a clock that the test drives; not ready yet. */
export async function startDriven(
  cluster: Parameters<typeof startService>[0],
  change: Parameters<typeof startService>[1] = {},
): Promise<{ readonly clock: DrivenClock; readonly service: Service }> {
  const clock = new DrivenClock();
  const service = await startService(cluster, { ...change, clock, untilReady: false });
  atEnd(() => clock.during(service.gatehouse.stop())); // a drain waits on the clock, too
  return { clock, service };
}

/** The same, ready. */
export async function startDrivenReady(...parameters: Parameters<typeof startDriven>): ReturnType<typeof startDriven> {
  const { clock, service } = await startDriven(...parameters);
  await clock.until(service.readiness, (code) => code === 200);
  return { clock, service };
}
