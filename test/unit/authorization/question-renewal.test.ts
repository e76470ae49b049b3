import { describe, expect, test } from 'vitest';
import type { RequestAttributes } from '../../../src/authorization/authorizer.ts';
import { createDecisionKeys } from '../../../src/authorization/decision-cache.ts';
import { QuestionRenewal, type Room } from '../../../src/authorization/question-renewal.ts';
import { type RecentQuestion, RecentQuestions } from '../../../src/authorization/recent-questions.ts';
import type { CallFault } from '../../../src/runtime/limits/circuit-breaker.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const attributes: RequestAttributes = { nonResource: { path: '/x', verb: 'get' } };
const SECOND = 1_000;

/** A renewal by a cluster that answers at once, unless the test has other words for it. */
function start({ fraction = 0 }: { fraction?: number } = {}) {
  const clock = new FakeClock();
  const recent = new RecentQuestions(clock);
  const keyOf = createDecisionKeys();
  const answeredAt = new Map<string, number>();
  const asked: string[] = [];
  const outcomes: string[] = [];
  const cluster = {
    room: 'enough' as Room,
    answer: async (_name: string): Promise<boolean> => true,
  };
  const answers = {
    ageOf: ({ id }: RecentQuestion) => clock.monotonic() - (answeredAt.get(id.key) ?? Number.NEGATIVE_INFINITY),
    room: () => cluster.room,
    async renew({ id, subject }: RecentQuestion) {
      asked.push(subject.name);
      const began = clock.monotonic();
      const allowed = await cluster.answer(subject.name);
      answeredAt.set(id.key, began);
      return allowed;
    },
  };
  const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => fraction };
  const count = (outcome: string) => void outcomes.push(outcome);
  const stop = new AbortController();
  const running = new QuestionRenewal(600 * SECOND, { recent, answers, clock, random, count }).run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  const ask = (name: string, what = attributes): void => {
    const subject = { name, uid: '', groups: [] };
    recent.allowed(keyOf(subject, what), subject, what);
  };
  return { clock, recent, asked, outcomes, cluster, ask, stop, running };
}

const fault = (more: CallFault = {}) => Object.assign(new Error('the cluster is away'), more);

describe('the renewal of decisions', () => {
  test('asks at once for a question without an answer, and again after 90 s', async () => {
    const { clock, asked, ask, outcomes } = start();
    ask('ada');
    await clock.advance(SECOND);
    expect([asked, outcomes]).toEqual([['ada'], ['allowed']]);
    await clock.advance(88 * SECOND);
    expect(asked.length).toBe(1);
    await clock.advance(3 * SECOND);
    expect(asked.length).toBe(2);
  });

  test('asks by chance up to a quarter earlier', async () => {
    const { clock, asked, ask } = start({ fraction: 0.999 });
    ask('ada');
    await clock.advance(70 * SECOND);
    expect(asked.length).toBe(2);
  });

  test('R-11 keeps 2,000 answers younger than two minutes with at most 20 reviews a second', async () => {
    const { clock, asked, ask, recent } = start({ fraction: 0.5 });
    for (let index = 0; index < 2_000; index++) ask(`user-${index}`);
    const lastAt = new Map<string, number>();
    const ages: number[] = [];
    for (let second = 0; second < 480; second++) {
      const before = asked.length;
      await clock.advance(SECOND);
      for (const name of asked.slice(before)) lastAt.set(name, second);
      expect(asked.length - before).toBeLessThanOrEqual(21); // twenty between the ends of a second, and one at its end
      if (second > 120) ages.push(second - Math.min(...lastAt.values()));
    }
    expect(recent.counts.own).toBe(2_000);
    expect(lastAt.size).toBe(2_000);
    expect(Math.max(...ages)).toBeLessThanOrEqual(120);
  });

  test('asks nothing while there is no room, and no more than two at a time', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.room = 'none';
    for (const name of ['ada', 'joe', 'eve']) ask(name);
    await clock.advance(60 * SECOND);
    expect(asked).toEqual([]);
    const answer = Promise.withResolvers<boolean>();
    cluster.answer = () => answer.promise;
    cluster.room = 'enough';
    await clock.advance(60 * SECOND);
    expect(asked.length).toBe(2);
    answer.resolve(true);
    await clock.advance(SECOND);
    expect(asked.length).toBe(3);
  });

  test('drops a question that is denied, or that the cluster refuses', async () => {
    const { clock, recent, ask, cluster, outcomes } = start();
    cluster.answer = async (name) => {
      if (name === 'eve') throw fault({ status: { code: 400 } });
      return name === 'ada';
    };
    for (const name of ['ada', 'joe', 'eve']) ask(name);
    await clock.advance(SECOND);
    expect(recent.current().map(({ subject }) => subject.name)).toEqual(['ada']);
    expect(outcomes.sort()).toEqual(['allowed', 'denied', 'failed']);
  });

  test('lets the others go first after the failure of one question', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.answer = async (name) => {
      if (name === 'ada') throw fault();
      return true;
    };
    for (const name of ['ada', 'joe', 'eve']) ask(name);
    await clock.advance(20 * SECOND);
    expect(asked).toEqual(['ada', 'joe', 'eve']);
    await clock.advance(15 * SECOND);
    expect(asked.filter((name) => name === 'ada').length).toBe(2);
  });

  test('pauses after three failures in a row, for longer and longer, and goes on with the first answer', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.answer = async () => {
      throw fault();
    };
    for (let index = 0; index < 200; index++) ask(`user-${index}`);
    await clock.advance(480 * SECOND);
    // Three at once, then after pauses of 0.8 s, doubled up to 30 s: eight in a minute, and two a minute after that.
    expect(asked.length).toBeLessThanOrEqual(25);
    cluster.answer = async () => true;
    const before = asked.length;
    await clock.advance(60 * SECOND);
    expect(asked.length - before).toBe(200);
  });

  test('leaves the cluster alone for as long as it asks', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.answer = async () => {
      throw fault({ status: { code: 429 }, retryAfterMs: 45 * SECOND });
    };
    ask('ada');
    await clock.advance(SECOND);
    cluster.answer = async () => true;
    ask('joe');
    await clock.advance(43 * SECOND);
    expect(asked).toEqual(['ada']);
    await clock.advance(4 * SECOND);
    expect(asked.sort()).toEqual(['ada', 'ada', 'joe']);
  });

  test('does not ask for a user who was forgotten while the question waited in turn', async () => {
    const { clock, recent, asked, ask, cluster } = start();
    ask('ada');
    ask('joe');
    cluster.answer = async () => {
      recent.forget('joe');
      return true;
    };
    await clock.advance(5 * SECOND);
    expect(asked).toEqual(['ada']);
  });

  test('R-11 asks one in 50 ms, and looks anew after 60 for what is older', async () => {
    const { clock, asked, ask } = start();
    for (let index = 0; index < 200; index++) ask(`user-${index}`);
    await clock.advance(500 + 59 * 50);
    expect(asked.length).toBe(60);
    await clock.advance(50 + 499);
    expect(asked.length).toBe(60);
    await clock.advance(1);
    expect(asked.length).toBe(61);
  });

  test('is held up by no single failure, not even one that comes when the next question has its turn', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.answer = async (name) => {
      if (name !== 'ada') return true;
      await clock.sleep(50);
      throw fault();
    };
    for (const name of ['ada', 'joe', 'eve']) ask(name);
    await clock.advance(600);
    expect(asked).toEqual(['ada', 'joe', 'eve']);
  });

  test.each<[string, (name: string) => Promise<boolean>]>([
    ['answered', async () => true],
    [
      'refused',
      async () => {
        throw fault({ status: { code: 422 } });
      },
    ],
  ])('pauses with the third failure, and counts anew after a question that was %s', async (_, answer) => {
    const { clock, asked, ask, cluster } = start();
    cluster.answer = async (name) => {
      if (name.startsWith('good')) return answer(name);
      throw fault();
    };
    for (const name of ['bad 1', 'bad 2', 'good', 'bad 3', 'bad 4', 'bad 5', 'late']) ask(name);
    await clock.advance(500 + 5 * 50);
    expect(asked).toEqual(['bad 1', 'bad 2', 'good', 'bad 3', 'bad 4', 'bad 5']);
    await clock.advance(800); // the first pause; it looks each half second
    expect(asked.length).toBe(6);
    await clock.advance(250);
    expect(asked.length).toBe(7);
  });

  test('pauses for 0.8 s again after two minutes without a failure', async () => {
    const { clock, asked, ask, cluster } = start();
    const answer = async (): Promise<boolean> => true;
    const fail = async (): Promise<boolean> => {
      throw fault();
    };
    const names = (what: string): string[] => [1, 2, 3, 4].map((number) => `${what} ${number}`);
    cluster.answer = fail;
    for (const name of names('first')) ask(name);
    await clock.advance(SECOND);
    expect(asked.length).toBe(3);
    cluster.answer = answer;
    await clock.advance(80 * SECOND);
    ask('between');
    await clock.advance(50 * SECOND);
    cluster.answer = fail;
    asked.length = 0;
    for (const name of names('second')) ask(name);
    await clock.advance(2 * SECOND);
    expect(asked).toEqual(names('second'));
  });

  test('asks in the very moment in which a pause ends, and a failure then makes the next one', async () => {
    const { clock, asked, ask, cluster } = start();
    const names = ['ada', 'joe', 'eve', 'bob', 'kim'];
    cluster.answer = async (name) => {
      throw fault(name === 'eve' ? { retryAfterMs: 1_050 } : {});
    };
    for (const name of names) ask(name);
    await clock.advance(600 + 1_049);
    expect(asked).toEqual(names.slice(0, 3));
    await clock.advance(1);
    expect(asked).toEqual(names.slice(0, 4));
    await clock.advance(1_600); // the second pause
    expect(asked).toEqual(names.slice(0, 4));
    await clock.advance(500);
    expect(asked).toEqual(names);
  });

  test('ends with its last review, and counts none that the end cut short', async () => {
    const { clock, ask, cluster, outcomes, stop, running } = start();
    const answer = Promise.withResolvers<boolean>();
    cluster.answer = () => answer.promise;
    ask('ada');
    await clock.advance(SECOND);
    let hasEnded = false;
    void running.then(() => {
      hasEnded = true;
    });
    stop.abort();
    await clock.advance(SECOND);
    expect(hasEnded).toBe(false);
    answer.reject(fault());
    await running;
    expect(outcomes).toEqual([]);
  });

  /** The oldest answer of each minute after the first two, where everybody goes on asking. */
  async function oldestAnswers(
    { clock, asked, ask, stop }: ReturnType<typeof start>,
    names: readonly string[],
    again: () => void = () => undefined,
  ): Promise<number> {
    const lastAt = new Map(names.map((name) => [name, 0]));
    let oldest = 0;
    for (let second = 1; second <= 6 * 60; second++) {
      const before = asked.length;
      if (second % 60 === 0) for (const name of names) ask(name);
      again();
      await clock.advance(SECOND);
      for (const name of asked.slice(before)) if (lastAt.has(name)) lastAt.set(name, second);
      if (second > 120) oldest = Math.max(oldest, second - Math.min(...lastAt.values()));
    }
    stop.abort();
    await clock.advance(5 * SECOND); // reviews under way come to their end
    return oldest;
  }
  const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `user-${index}`);

  test.each([
    ['fail at once', 0],
    ['fail after three seconds', 3 * SECOND],
  ])('R-11 keeps the answers of others young while eight questions of each of two users %s', async (_, ms) => {
    const renewal = start({ fraction: 0.5 });
    const { clock, ask, cluster } = renewal;
    cluster.answer = async (name) => {
      if (!name.startsWith('bad')) return true;
      await clock.sleep(ms);
      throw fault();
    };
    const askBad = (): void => {
      for (const name of ['bad 1', 'bad 2'])
        for (let index = 0; index < 8; index++) ask(name, { nonResource: { path: `/${index}`, verb: 'get' } });
    };
    const names = people(200);
    for (const name of names) ask(name);
    askBad();
    expect(await oldestAnswers(renewal, names, askBad)).toBeLessThanOrEqual(120);
  });

  test('R-11 keeps the answers of 400 young while callers need the cluster for as long as they like', async () => {
    const renewal = start({ fraction: 0.5 });
    renewal.cluster.room = 'little';
    const names = people(400);
    for (const name of names) renewal.ask(name);
    expect(await oldestAnswers(renewal, names)).toBeLessThanOrEqual(120);
  });

  test('asks one at a time, and four a second, while callers need the cluster', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.room = 'little';
    for (const name of people(20)) ask(name);
    await clock.advance(500 + 999);
    expect(asked.length).toBe(4);
    const answer = Promise.withResolvers<boolean>();
    cluster.answer = () => answer.promise;
    await clock.advance(10 * SECOND);
    expect(asked.length).toBe(5);
    answer.resolve(true);
    await clock.advance(SECOND);
    expect(asked.length).toBeGreaterThan(5);
  });

  test('R-11 keeps 1,900 answers younger than two minutes also where each review takes 300 ms, with eight open at most', async () => {
    const renewal = start({ fraction: 0.5 });
    const { clock, cluster } = renewal;
    let [open, most] = [0, 0];
    cluster.answer = async () => {
      most = Math.max(most, ++open);
      await clock.sleep(300);
      open--;
      return true;
    };
    const names = people(1_900);
    for (const name of names) renewal.ask(name);
    expect(await oldestAnswers(renewal, names)).toBeLessThanOrEqual(125);
    expect(most).toBeLessThanOrEqual(8);
  });

  test('waits longer each time with a question that goes on failing, two minutes at most', async () => {
    const { clock, asked, ask, cluster } = start();
    cluster.answer = async () => {
      throw fault();
    };
    const times: number[] = [];
    ask('ada');
    for (let second = 0; second < 500; second++) {
      const before = asked.length;
      await clock.advance(SECOND);
      if (asked.length > before) times.push(second);
    }
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(gaps.map((gap) => Math.round(gap / 30) * 30)).toEqual([30, 60, 120, 120, 120]);
  });
});
