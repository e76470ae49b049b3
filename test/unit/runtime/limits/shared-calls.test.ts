import { describe, expect, test } from 'vitest';
import { type CallLimits, CallsPaused, TooManyCalls } from '../../../../src/runtime/limits/bounded-calls.ts';
import type { CallFault } from '../../../../src/runtime/limits/circuit-breaker.ts';
import { SharedCalls } from '../../../../src/runtime/limits/shared-calls.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

interface Pending {
  readonly key: string;
  answer(): void;
  fail(fault?: CallFault): void;
}

/** Eight calls at a time, four of one flow. */
function create(change: Partial<CallLimits> = {}) {
  const clock = new FakeClock();
  const log: unknown[] = [];
  const logger = {
    info: (_: object, message: string) => void log.push(message),
    debug: () => undefined,
    warn: (members: object, message: string) => void log.push([message, (members as { party?: string }).party]),
  };
  const words = { fail: 'fail', recover: 'recover', overload: 'overload', full: 'full' };
  const limits = {
    maxInFlight: 8,
    maxInFlightOfOne: 4,
    maxWaiting: 8,
    maxWaitingOfOne: 4,
    timeoutMs: 3_000,
    ...change,
  };
  const calls = new SharedCalls<string>(
    { ...limits, leastFailedFlows: 3, words },
    { clock, random: systemRandom, logger },
  );
  const pending: Pending[] = [];
  const ends = new Map<string, unknown>();
  /** Asks; what came of it is noted under the key. */
  const ask = (flow: string, key: string): void => {
    const call = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const fail = (fault = {}): void => reject(Object.assign(new Error('failed'), fault));
        pending.push({ key, answer: () => resolve('yes'), fail });
      });
    calls.ask({ key, flow }, call).then(
      (answer) => ends.set(key, answer),
      (error: Error) => ends.set(key, error.constructor),
    );
  };
  const flood = (flow: string, count: number): void => {
    for (let index = 0; index < count; index++) ask(flow, `${flow}${index}`);
  };
  const of = (key: string): Pending => pending.find((one) => one.key === key)!;
  return { clock, log, calls, pending, ends, ask, flood, of };
}

const TOO_OFTEN = { status: { code: 429 }, retryAfterMs: 2_000 };

describe('paced calls', () => {
  test('refuse a flow what is above its share, say so once a minute, and are not paused by it', async () => {
    const { clock, log, calls, ends, flood, ask, of, pending } = create();
    flood('flood', 10);
    await clock.advance(0);
    expect([...ends]).toEqual([
      ['flood8', TooManyCalls],
      ['flood9', TooManyCalls],
    ]);
    ask('other', 'o');
    await clock.advance(0);
    of('o').answer();
    await clock.advance(0);
    expect([ends.get('o'), calls.isPausedFor('any'), log]).toEqual(['yes', false, [['overload', 'flood']]]);
    const answerAll = async (): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        for (const one of pending) one.answer();
        await clock.advance(0);
      }
    };
    for (const waitMs of [59_999, 1]) {
      await answerAll();
      await clock.advance(waitMs);
      flood('flood', 20);
      await clock.advance(0);
      expect(log.length).toBe(waitMs === 1 ? 2 : 1);
    }
    await answerAll();
  });

  describe('that are answered 429 while others are answered', () => {
    const start = async () => {
      const rig = create();
      rig.ask('other', 'first');
      await rig.clock.advance(0);
      rig.of('first').answer();
      await rig.clock.advance(0);
      /** The calls that were made for this question. */
      const callsOf = (key: string) => rig.pending.filter((one) => one.key === key);
      return { ...rig, callsOf };
    };

    test('are asked again when the cluster allows, and hold nobody else back', async () => {
      const { clock, calls, ends, ask, of, callsOf } = await start();
      ask('flow', 'q');
      await clock.advance(0);
      of('q').fail(TOO_OFTEN);
      await clock.advance(1_999);
      expect(callsOf('q').length).toBe(1);
      ask('other', 'o');
      await clock.advance(0);
      of('o').answer();
      await clock.advance(1);
      callsOf('q')[1]!.answer();
      await clock.advance(0);
      expect([ends.get('o'), ends.get('q'), calls.isPausedFor('any')]).toEqual(['yes', 'yes', false]);
    });

    test('are refused after 6 s, as a want of seats', async () => {
      const { clock, calls, ends, ask, of, pending } = await start();
      ask('flow', 'q');
      for (let second = 0; second < 8; second++) {
        await clock.advance(0);
        for (const one of pending) if (one.key === 'q') one.fail({ status: { code: 429 }, retryAfterMs: 1_000 });
        ask('other', `o${second}`);
        await clock.advance(0);
        of(`o${second}`).answer();
        await clock.advance(1_000);
      }
      expect([ends.get('q'), calls.isPausedFor('any')]).toEqual([TooManyCalls, false]);
    });

    test('are fewer at a time then, of that flow alone', async () => {
      const { clock, calls, flood, of, pending } = await start();
      flood('flow', 8);
      await clock.advance(0);
      expect(calls.load.inFlight).toBe(4);
      for (const key of ['flow0', 'flow1', 'flow2', 'flow3']) of(key).fail(TOO_OFTEN);
      await clock.advance(2_000);
      expect(calls.load.inFlight).toBe(2);
      for (const one of pending) one.answer();
      flood('other', 4);
      await clock.advance(0);
      expect(pending.filter(({ key }) => key.startsWith('other')).length).toBe(4);
    });
  });

  test('that the cluster calls wrong themselves (422) end the pause: the cluster is well', async () => {
    const { clock, calls, ask, of } = create();
    for (const key of ['0', '1', '2']) ask(`p${key}`, key);
    await clock.advance(0);
    for (const key of ['0', '1', '2']) of(key).fail();
    await clock.advance(0);
    expect(calls.isPausedFor('any')).toBe(true);
    await clock.advance(30_000);
    ask('p', 'probe');
    await clock.advance(0);
    of('probe').fail({ status: { code: 422 } });
    await clock.advance(0);
    expect(calls.isPausedFor('any')).toBe(false);
  });

  test('are told of as a want of seats, not of a share, when others have them all', async () => {
    const { clock, log, ends, ask } = create();
    for (let flow = 0; flow < 16; flow++) ask(`p${flow}`, `${flow}`);
    ask('late', 'late');
    await clock.advance(0);
    expect([ends.get('late'), log]).toEqual([TooManyCalls, [['full', undefined]]]);
  });

  test('that are answered 429 while nobody is answered are paused for all: one that was not told may try each second', async () => {
    const { clock, calls, ends, ask, of } = create();
    for (const flow of ['a', 'b', 'c', 'd']) ask(flow, flow);
    await clock.advance(0);
    of('a').fail(TOO_OFTEN);
    await clock.advance(0);
    expect([calls.isPausedFor('a'), calls.isPausedFor('any'), ends.get('a')]).toEqual([true, false, Error]);
    for (const flow of ['b', 'c']) of(flow).fail(TOO_OFTEN);
    await clock.advance(0);
    expect(calls.isPausedFor('any')).toBe(true);
    for (const flow of ['e', 'f', 'a']) ask(flow, `${flow}2`);
    await clock.advance(0);
    of('e2').fail(TOO_OFTEN);
    await clock.advance(0);
    ask('g', 'g');
    await clock.advance(999);
    ask('g', 'g2');
    await clock.advance(1);
    expect(['f2', 'a2', 'g', 'g2'].map((key) => ends.get(key))).toEqual(Array(4).fill(CallsPaused));
    ask('g', 'g3');
    await clock.advance(0);
    of('g3').answer();
    await clock.advance(0);
    expect([ends.get('g3'), calls.isPausedFor('any')]).toEqual(['yes', false]);
  });

  test.each([429, 503])(
    'that one flow is told not to ask (%i) while nobody else asks hold nobody else back',
    async (code) => {
      const { clock, calls, ends, ask, of } = create();
      ask('told', 'told');
      await clock.advance(0);
      of('told').fail({ status: { code }, retryAfterMs: 30_000 });
      await clock.advance(0);
      ask('told', 'again');
      ask('other', 'o');
      await clock.advance(0);
      of('o').answer();
      await clock.advance(0);
      expect([ends.get('again'), ends.get('o'), calls.isPausedFor('any')]).toEqual([CallsPaused, 'yes', false]);
    },
  );

  test('that wait while the others fail are told of the pause, not of an overload', async () => {
    const { clock, ends, flood, of } = create();
    flood('a', 8);
    await clock.advance(0);
    of('a0').fail();
    of('a1').fail();
    await clock.advance(0);
    expect([ends.get('a0'), ends.get('a1'), ends.get('a6')]).toEqual([Error, Error, CallsPaused]);
  });

  describe('that fail for one flow', () => {
    const start = async () => {
      const rig = create();
      const { clock, ask, of } = rig;
      /** Asks and has the cluster answer. */
      const answered = async (flow: string, key: string): Promise<void> => {
        ask(flow, key);
        await clock.advance(0);
        of(key).answer();
        await clock.advance(0);
      };
      const failed = async (flow: string, key: string): Promise<void> => {
        ask(flow, key);
        await clock.advance(0);
        of(key).fail();
        await clock.advance(0);
      };
      await answered('good', 'first');
      return { ...rig, answered, failed };
    };

    test('while others are answered pause nobody, and are its own', async () => {
      const { clock, calls, ends, answered, failed } = await start();
      for (let round = 0; round < 20; round++) {
        await failed('bad', `bad${round}`);
        await answered('good', `good${round}`);
        expect([calls.isPausedFor('any'), ends.get(`bad${round}`), ends.get(`good${round}`)]).toEqual([
          false,
          Error,
          'yes',
        ]);
        await clock.advance(1_000);
      }
    });

    test('one by one leave the cluster alone for a second after each', async () => {
      const { clock, ends, answered, failed, ask, pending } = await start();
      for (const key of ['1', '2', '3']) await failed('bad', key); // four at a time, then two, then one
      ask('bad', '4');
      await clock.advance(999);
      expect(pending.some(({ key }) => key === '4')).toBe(false);
      await answered('good', 'good');
      await clock.advance(1);
      expect([ends.get('good'), pending.some(({ key }) => key === '4')]).toEqual(['yes', true]);
    });

    test('or two, while nobody else asks, are paused for those alone', async () => {
      const { clock, calls, ends, answered, failed } = await start();
      await clock.advance(3_000);
      for (const key of ['bad0', 'bad1']) await failed('bad', key);
      await failed('worse', 'worse');
      expect(['bad', 'worse', 'good'].map((flow) => calls.isPausedFor(flow))).toEqual([true, true, false]);
      await answered('good', 'good');
      expect([ends.get('good'), calls.isPausedFor('bad')]).toEqual(['yes', false]);
    });

    test('and for two more are paused for all: who has not failed waits for the probe, and asks when it was answered', async () => {
      const { clock, ends, ask, of, failed } = await start();
      await clock.advance(3_000);
      for (const flow of ['a', 'b', 'c']) await failed(flow, flow);
      for (const key of ['probe', 'second', 'third']) ask('good', key);
      ask('a', 'again');
      await clock.advance(0);
      expect(['second', 'third', 'again'].map((key) => ends.get(key))).toEqual([undefined, undefined, CallsPaused]);
      of('probe').answer();
      await clock.advance(0);
      for (const key of ['second', 'third']) of(key).answer();
      await clock.advance(0);
      expect(['probe', 'second', 'third'].map((key) => ends.get(key))).toEqual(['yes', 'yes', 'yes']);
    });

    test('and for two more are paused for all: who waits for a probe that fails is told so with it', async () => {
      const { clock, ends, ask, of, failed } = await start();
      await clock.advance(3_000);
      for (const flow of ['a', 'b', 'c']) await failed(flow, flow);
      for (const key of ['probe', 'second']) ask('good', key);
      await clock.advance(0);
      of('probe').fail();
      await clock.advance(0);
      expect([ends.get('probe'), ends.get('second')]).toEqual([Error, CallsPaused]);
    });

    test('leave a due probe to a flow that was turned away, for a second', async () => {
      const { clock, ends, ask, of, failed } = await start();
      await clock.advance(3_000);
      for (const flow of ['a', 'b', 'c']) await failed(flow, flow);
      ask('stranger', 'early');
      await clock.advance(0);
      of('early').fail();
      await clock.advance(500);
      ask('good', 'too early');
      await clock.advance(1_200); // the pause is 0.8 to 1.6 s
      ask('a', 'again');
      ask('good', 'probe');
      await clock.advance(0);
      of('probe').answer();
      await clock.advance(0);
      expect(['too early', 'again', 'probe'].map((key) => ends.get(key))).toEqual([CallsPaused, CallsPaused, 'yes']);
    });
  });

  test('that time out while others are answered, as many are under way, are our overload', async () => {
    const { clock, calls, ends, ask, flood, of } = create();
    flood('a', 4);
    flood('b', 3);
    await clock.advance(2_000);
    ask('c', 'c');
    await clock.advance(0);
    of('c').answer();
    await clock.advance(1_000);
    expect([ends.get('c'), ends.get('a0'), calls.isPausedFor('any')]).toEqual(['yes', TooManyCalls, false]);
  });
});
