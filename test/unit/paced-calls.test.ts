import { describe, expect, test } from 'vitest';
import { type CallLimits, CallsPaused, TooManyCalls } from '../../src/bounded-calls.ts';
import type { CallFault } from '../../src/call-pause.ts';
import { PacedCalls } from '../../src/paced-calls.ts';
import { systemRandom } from '../../src/random.ts';
import { FakeClock } from '../support/fake-clock.ts';

interface Pending {
  readonly key: string;
  answer(): void;
  fail(fault?: CallFault): void;
}

/** Eight calls at a time, four of one party: with eight in a second it floods. */
function create(change: Partial<CallLimits> = {}) {
  const clock = new FakeClock();
  const log: unknown[] = [];
  const logger = {
    info: (message: string) => void log.push(message),
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
  const calls = new PacedCalls<string>({ ...limits, words }, { clock, random: systemRandom, logger });
  const pending: Pending[] = [];
  const ends = new Map<string, unknown>();
  /** Asks; what came of it is noted under the key. */
  const ask = (party: string, key: string): void => {
    const call = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const fail = (fault = {}): void => reject(Object.assign(new Error('failed'), fault));
        pending.push({ key, answer: () => resolve('yes'), fail });
      });
    calls.ask({ key, party }, call).then(
      (answer) => ends.set(key, answer),
      (error: Error) => ends.set(key, error.constructor),
    );
  };
  const flood = (party: string, count: number): void => {
    for (let index = 0; index < count; index++) ask(party, `${party}${index}`);
  };
  const of = (key: string): Pending => pending.find((one) => one.key === key)!;
  /** The cluster answers what it was asked so far for this party: its places are free again. */
  const answerAll = (party: string): void => {
    for (const one of pending) if (one.key.startsWith(party)) one.answer();
  };
  return { clock, log, calls, pending, ends, ask, flood, of, answerAll };
}

const TOO_OFTEN = { status: { code: 429 }, retryAfterMs: 2_000 };

describe('paced calls', () => {
  test('refuse a party what is above its share, say so once a minute, and are not paused by it', async () => {
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
    expect([ends.get('o'), calls.isPaused, log]).toEqual(['yes', false, [['overload', 'flood']]]);
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

  test('asked too often (429) pause the party that asks the most, and nobody else', async () => {
    const { clock, calls, ends, flood, ask, of, answerAll } = create();
    flood('flood', 8);
    ask('other', 'o');
    await clock.advance(0);
    of('o').fail(TOO_OFTEN); // the answer hits somebody else by chance
    await clock.advance(0);
    answerAll('flood');
    expect([calls.isPaused, calls.refuses('flood'), calls.refuses('other')]).toEqual([false, true, false]);
    expect([ends.get('flood4'), ends.get('flood5')]).toEqual([TooManyCalls, TooManyCalls]);
    ask('flood', 'more');
    ask('other', 'o2');
    await clock.advance(0);
    of('o2').answer();
    await clock.advance(0);
    expect([ends.get('o2'), ends.get('more')]).toEqual(['yes', TooManyCalls]);
  });

  test('of a flood that are all answered 429 pause nobody else', async () => {
    const { clock, calls, ends, flood, ask, of, answerAll } = create();
    flood('flood', 8);
    flood('other', 3);
    await clock.advance(0);
    answerAll('other');
    for (let index = 0; index < 4; index++) of(`flood${index}`).fail(TOO_OFTEN);
    await clock.advance(0);
    expect([calls.isPaused, calls.refuses('other')]).toEqual([false, false]);
    expect([0, 1, 2, 3].map((index) => ends.get(`flood${index}`))).toEqual(Array(4).fill(TooManyCalls));
    ask('other', 'o');
    await clock.advance(0);
    of('o').answer();
    await clock.advance(0);
    expect(ends.get('o')).toBe('yes');
  });

  test('of somebody else that met the 429 of a flood are asked again, after what the cluster asks for', async () => {
    const { clock, ends, flood, ask, pending, answerAll } = create();
    flood('flood', 8);
    ask('other', 'o');
    const last = () => pending.filter(({ key }) => key === 'o');
    await clock.advance(0);
    last()[0]!.fail(TOO_OFTEN);
    answerAll('flood');
    await clock.advance(1_999);
    expect([last().length, ends.get('o')]).toEqual([1, undefined]);
    await clock.advance(1);
    expect(last().length).toBe(2);
    last()[1]!.answer();
    await clock.advance(0);
    expect(ends.get('o')).toBe('yes');
  });

  test('of somebody else that meet it five times are refused, and nobody is called the cause who is not', async () => {
    const { clock, log, ends, flood, ask, pending, answerAll } = create();
    const last = () => pending.filter(({ key }) => key === 'o');
    ask('other', 'o');
    for (let time = 1; time <= 5; time++) {
      expect(ends.get('o')).toBeUndefined();
      flood(`flood${time} `, 8);
      await clock.advance(0);
      expect(last().length).toBe(time);
      last()[time - 1]!.fail(TOO_OFTEN);
      await clock.advance(0);
      answerAll('flood');
      await clock.advance(2_000);
    }
    expect(ends.get('o')).toBe(TooManyCalls);
    expect(log.filter((line) => String(line) === 'overload,other')).toEqual([]);
  });

  test('are asked again of a party that was paused, after 5 s at most', async () => {
    const { clock, calls, flood, of } = create();
    flood('flood', 8);
    await clock.advance(0);
    of('flood0').fail({ ...TOO_OFTEN, retryAfterMs: 240_000 });
    await clock.advance(4_999);
    expect(calls.refuses('flood')).toBe(true);
    await clock.advance(1);
    expect(calls.refuses('flood')).toBe(false);
  });

  test('of many parties that flood together, each a little, pause them one by one', async () => {
    const { clock, calls, ask, of } = create({ maxInFlightOfOne: 8 });
    for (const party of ['a', 'b', 'c', 'd']) for (const key of ['0', '1']) ask(party, party + key);
    await clock.advance(0);
    for (const key of ['a0', 'b0', 'c0']) of(key).fail(TOO_OFTEN);
    await clock.advance(0);
    expect(calls.isPaused).toBe(false);
    expect(['a', 'b', 'c', 'd'].filter((party) => calls.refuses(party)).length).toBe(3);
  });

  test('of a party that polls are not taken for the flood when somebody else is answered 429', async () => {
    const { clock, calls, ends, ask, of } = create();
    for (let index = 0; index < 4; index++) {
      ask('polls', `${index}`);
      await clock.advance(0);
      of(`${index}`).answer();
      await clock.advance(100);
    }
    ask('other', 'o');
    await clock.advance(0);
    of('o').fail(TOO_OFTEN);
    await clock.advance(0);
    expect([calls.refuses('polls'), calls.isPaused, ends.get('o')]).toEqual([false, false, Error]);
  });

  test('that the cluster calls wrong themselves (422) end the pause: the cluster is well', async () => {
    const { clock, calls, ask, of } = create();
    for (const key of ['0', '1']) ask(`p${key}`, key);
    await clock.advance(0);
    for (const key of ['0', '1']) of(key).fail();
    await clock.advance(0);
    expect(calls.isPaused).toBe(true);
    await clock.advance(30_000);
    ask('p', 'probe');
    await clock.advance(0);
    of('probe').fail({ status: { code: 422 } });
    await clock.advance(0);
    expect(calls.isPaused).toBe(false);
  });

  test('are told of as a want of places, not of a share, when others have them all', async () => {
    const { clock, log, ends, ask } = create();
    for (let party = 0; party < 16; party++) ask(`p${party}`, `${party}`);
    ask('late', 'late');
    await clock.advance(0);
    expect([ends.get('late'), log]).toEqual([TooManyCalls, [['full', undefined]]]);
  });

  test('asked too often by nobody in particular are paused for all, as soon as three were told', async () => {
    const { clock, calls, ends, ask, of } = create();
    for (const party of ['a', 'b', 'c', 'd']) ask(party, party);
    await clock.advance(0);
    of('a').fail(TOO_OFTEN);
    await clock.advance(0);
    expect([calls.isPaused, ends.get('a')]).toEqual([true, Error]);
    for (const party of ['b', 'c']) of(party).fail(TOO_OFTEN);
    await clock.advance(1_999);
    ask('e', 'e');
    await clock.advance(0);
    expect(ends.get('e')).toBe(CallsPaused);
    of('d').answer();
    await clock.advance(0);
    expect(calls.isPaused).toBe(false);
  });

  test.each([429, 503])(
    'that one party is told not to ask (%i) while nobody else asks hold nobody else back',
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
      expect([ends.get('again'), ends.get('o'), calls.isPaused]).toEqual([CallsPaused, 'yes', false]);
    },
  );

  test('of a party that was paused are its own fault at the next 429, however few they are', async () => {
    const { clock, calls, ends, flood, ask, of } = create();
    flood('flood', 8);
    await clock.advance(0);
    for (const index of [0, 1, 2, 3]) of(`flood${index}`).fail(TOO_OFTEN);
    for (const waitMs of [4_000, 61_999]) {
      await clock.advance(waitMs);
      ask('flood', `after ${waitMs}`);
      await clock.advance(0);
      of(`after ${waitMs}`).fail(TOO_OFTEN);
      await clock.advance(0);
      expect([calls.isPaused, ends.get(`after ${waitMs}`)]).toEqual([false, TooManyCalls]);
    }
    await clock.advance(62_000);
    ask('flood', 'late');
    await clock.advance(0);
    of('late').fail(TOO_OFTEN);
    await clock.advance(0);
    expect([calls.isPaused, ends.get('late')]).toEqual([true, Error]);
  });

  test('that are refused while their party is paused count: it floods on', async () => {
    const { clock, calls, ends, flood, ask, of, pending } = create();
    flood('flood', 8);
    ask('other', 'o');
    await clock.advance(0);
    of('o').fail(TOO_OFTEN);
    await clock.advance(0);
    for (const index of [0, 1, 2, 3]) of(`flood${index}`).answer();
    await clock.advance(1_900);
    for (let time = 0; time < 7; time++) expect(calls.refuses('flood')).toBe(true);
    await clock.advance(100);
    expect(calls.refuses('flood')).toBe(false);
    ask('flood', 'more');
    await clock.advance(0);
    pending.findLast(({ key }) => key === 'o')!.fail(TOO_OFTEN);
    await clock.advance(0);
    expect([calls.refuses('flood'), ends.get('o')]).toEqual([true, undefined]);
  });

  test('that wait while the others fail are told of the pause, not of an overload', async () => {
    const { clock, ends, flood, of } = create();
    flood('a', 8);
    await clock.advance(0);
    of('a0').fail();
    of('a1').fail();
    await clock.advance(0);
    expect([ends.get('a0'), ends.get('a1'), ends.get('a6')]).toEqual([Error, Error, CallsPaused]);
  });

  describe('that fail for one party', () => {
    const start = async () => {
      const rig = create();
      const { clock, ask, of } = rig;
      /** Asks and has the cluster answer. */
      const answered = async (party: string, key: string): Promise<void> => {
        ask(party, key);
        await clock.advance(0);
        of(key).answer();
        await clock.advance(0);
      };
      const failed = async (party: string, key: string): Promise<void> => {
        ask(party, key);
        await clock.advance(0);
        of(key).fail();
        await clock.advance(0);
      };
      await answered('good', 'first');
      return { ...rig, answered, failed };
    };

    test('while others are answered are paused for that party alone, for a second', async () => {
      const { clock, calls, ends, ask, pending, answered, failed } = await start();
      for (let round = 0; round < 20; round++) {
        await failed('bad', `bad${round}`);
        ask('bad', `refused${round}`);
        await clock.advance(0);
        expect([calls.isPaused, ends.get(`bad${round}`), ends.get(`refused${round}`)]).toEqual([
          false,
          Error,
          CallsPaused,
        ]);
        await answered('good', `good${round}`);
        expect(ends.get(`good${round}`)).toBe('yes');
        await clock.advance(1_000);
      }
      expect(pending.length).toBe(41);
    });

    test('while nobody else asks are paused for all; another party need not wait for its probe, which ends the pause', async () => {
      const { clock, calls, ends, answered, failed } = await start();
      await clock.advance(3_000);
      await failed('bad', 'bad0');
      await failed('bad', 'bad1');
      expect(calls.isPaused).toBe(true);
      await answered('good', 'good');
      expect([ends.get('good'), calls.isPaused]).toEqual(['yes', false]);
    });

    test('leave a due probe to a party that was turned away, for a second', async () => {
      const { clock, ends, ask, failed, answered } = await start();
      await clock.advance(3_000);
      for (const party of ['a', 'b', 'c']) await failed(party, party);
      ask('good', 'early');
      await clock.advance(1_700); // the pause is 0.8 to 1.6 s
      ask('a', 'again');
      await clock.advance(0);
      expect([ends.get('early'), ends.get('again')]).toEqual([CallsPaused, CallsPaused]);
      await answered('good', 'probe');
      expect(ends.get('probe')).toBe('yes');
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
    expect([ends.get('c'), ends.get('a0'), calls.isPaused]).toEqual(['yes', TooManyCalls, false]);
  });
});
