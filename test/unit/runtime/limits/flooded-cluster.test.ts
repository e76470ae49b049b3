import { describe, expect, test } from 'vitest';
import { SharedCalls } from '../../../../src/runtime/limits/shared-calls.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** As for access reviews. */
const LIMITS = {
  maxInFlight: 64,
  maxInFlightOfOne: 16,
  firstInFlight: 32,
  firstInFlightOfOne: 8,
  maxWaiting: 192,
  maxWaitingOfOne: 48,
  timeoutMs: 3_000,
};
/** Those who flood ask over so many connections in all, each again as soon as it was answered. */
const CONNECTIONS = 300;
/** A refusal holds its connection for so long. */
const REFUSED_MS = 400;
const STEP_MS = 50;
const SECONDS = 10;

interface Capacity {
  /** One after the other, each when the one before it is done. */
  readonly perSecond: number;
  /** One more is answered 429 at once. */
  readonly atOnce?: number;
}

/** A cluster with so much room. What was given up by us is worked off all the same. */
function createCluster(clock: FakeClock, { perSecond, atOnce = Number.POSITIVE_INFINITY }: Capacity) {
  let freeAt = 0;
  let inside = 0;
  return async (signal: AbortSignal): Promise<string> => {
    if (inside >= atOnce) throw Object.assign(new Error('too many'), { status: { code: 429 }, retryAfterMs: 1_000 });
    inside++;
    const now = clock.monotonic();
    freeAt = Math.max(now, freeAt) + 1_000 / perSecond;
    const answer = clock.sleep(freeAt - now).finally(() => inside--);
    await Promise.race([answer, new Promise((_, reject) => signal.addEventListener('abort', reject))]);
    return 'yes';
  };
}

/** What came of the questions of somebody who asks one a second while so many others flood. */
async function besideFlood(flows: number, capacity: Capacity): Promise<unknown[]> {
  const clock = new FakeClock();
  const logger = { info: () => undefined, warn: () => undefined, debug: () => undefined };
  const words = { fail: 'fail', recover: 'recover' };
  const calls = new SharedCalls<string>({ ...LIMITS, words }, { clock, random: systemRandom, logger });
  const call = createCluster(clock, capacity);
  let asked = 0;
  let isOver = false;
  const ask = (flow: string): Promise<unknown> =>
    calls.ask({ key: `${asked++}`, flow }, call).catch((error: Error) => `${error.constructor.name}: ${error.message}`);
  const connection = async (flow: string): Promise<void> => {
    while (!isOver) if ((await ask(flow)) !== 'yes') await clock.sleep(REFUSED_MS);
  };
  for (let index = 0; index < CONNECTIONS; index++) void connection(`flood ${index % flows}`);
  const ends: unknown[] = [];
  for (let second = 0; second < SECONDS; second++) {
    await pass(clock, 1_000);
    void ask('other').then((end) => ends.push(end));
  }
  await pass(clock, 9_000);
  isOver = true;
  return ends;
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) await clock.advance(STEP_MS);
}

describe('beside a flood, whoever asks one question a second is answered each', () => {
  const ANSWERED = Array(SECONDS).fill('yes');

  test.each([5, 20])('by a cluster that answers 20 a second; %i flows flood', async (flows) => {
    expect(await besideFlood(flows, { perSecond: 20 })).toEqual(ANSWERED);
  });

  test.each([5])('by a cluster that answers 429 above ten at a time; %i flows flood', async (flows) => {
    expect(await besideFlood(flows, { perSecond: 200, atOnce: 10 })).toEqual(ANSWERED);
  });
});
