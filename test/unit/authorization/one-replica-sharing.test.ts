import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { RequestAttributes } from '../../../src/authorization/authorizer.ts';
import { createDecisionKeys } from '../../../src/authorization/decision-cache.ts';
import { QuestionSharing } from '../../../src/authorization/question-sharing.ts';
import { decodeQuestions, encodeQuestions } from '../../../src/authorization/question-text.ts';
import type { RecentQuestion, SharedQuestion } from '../../../src/authorization/recent-questions.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import type { StoredSecret } from '../../../src/secret-store.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/waiting.ts';

const NAME = 'gatehouse-recent-questions';
const SECOND = 1_000;
const attributes: RequestAttributes = { nonResource: { path: '/x', verb: 'get' } };
const keyOf = createDecisionKeys();

const questionOf = (name: string, askedAt = 0): RecentQuestion => {
  const subject = { name, uid: '', groups: [] };
  return { id: keyOf(subject, attributes), subject, attributes, askedAt };
};

/** The text of a replica whose caller asked seven seconds before it was written. */
const textOf = async (name: string, writtenAtMs: number): Promise<Buffer> =>
  (await encodeQuestions({ writtenAtMs, questions: [{ ...questionOf(name), ageMs: 7 * SECOND }] })).bytes;

/** One replica whose questions, Secret and chance are in the hands of the test. Nothing is new unless it says so. */
function start({ fraction = 0 }: { fraction?: number } = {}) {
  const clock = new FakeClock();
  const state = { hasNews: false, toShare: [] as RecentQuestion[] };
  const told: RecentQuestion[][] = [];
  const leftOut: RecentQuestion[][] = [];
  const learned: SharedQuestion[] = [];
  const recent = {
    hasNews: () => state.hasNews,
    toShare: () => state.toShare,
    markShared: (questions: Iterable<RecentQuestion>, others: Iterable<RecentQuestion>) => {
      told.push([...questions]);
      leftOut.push([...others]);
    },
    learn: (questions: Iterable<SharedQuestion>) => void learned.push(...questions),
  };
  const writes: { readonly name: string; readonly data: StoredSecret['data']; readonly version?: string }[] = [];
  const cluster = {
    answer: async (data: StoredSecret['data']): Promise<StoredSecret | 'conflict'> => ({
      data,
      version: `${writes.length}`,
    }),
  };
  const watched: string[] = [];
  let see: (secret: StoredSecret | undefined) => void = () => undefined;
  const secrets = {
    async watch(name: string, onChange: typeof see, signal: AbortSignal): Promise<void> {
      watched.push(name);
      see = onChange;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
    create: async (name: string, data: StoredSecret['data']): Promise<StoredSecret | 'exists'> => {
      writes.push({ name, data });
      const answer = await cluster.answer(data);
      return answer === 'conflict' ? 'exists' : answer;
    },
    update: (name: string, data: StoredSecret['data'], version: string) => {
      writes.push({ name, data, version });
      return cluster.answer(data);
    },
  };
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const random = { ...systemRandom, fraction: () => fraction };
  const stop = new AbortController();
  const running = new QuestionSharing(NAME, { recent, secrets, clock, random, logger }).run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  /** Texts are deflated in threads, which need real time. */
  const until = (isSo: () => boolean): Promise<boolean> =>
    waitFor(isSo, Boolean, { turn: () => clock.advance(0).then(() => nextTurn()), limitMs: 10_000 });
  /** So many writes were begun, and are over: also their answers are worked off. */
  const written = async (count: number): Promise<void> => {
    await until(() => writes.length >= count);
    await clock.advance(0);
    expect(writes.length).toBe(count);
  };
  return {
    ...{ clock, state, told, leftOut, learned, writes, cluster, watched, lines, stop, running, until, written },
    see: (secret?: StoredSecret) => see(secret),
  };
}

describe('a replica that shares its questions', () => {
  test.each([
    [0, 15_000],
    [0.5, 17_500],
  ])('R-17 writes after 15 s, and by chance up to 5 s later (chance %s)', async (fraction, afterMs) => {
    const { clock, state, see, writes, watched, written } = start({ fraction });
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(afterMs - 1);
    state.toShare = [questionOf('joe')]; // a write that begins now or later tells this one
    await clock.advance(1);
    await written(1);
    const [write] = writes;
    expect([watched, write?.name, write?.version]).toEqual([[NAME], NAME, undefined]);
    const [key = '', bytes = Buffer.alloc(0)] = Object.entries(write?.data ?? {})[0] ?? [];
    expect(key).toMatch(/^[0-9a-f]{16}$/);
    expect((await decodeQuestions(bytes))?.questions.map(({ subject }) => subject.name)).toEqual(['joe']);
  });

  test('writes how old a question is, and when', async () => {
    const { clock, state, see, writes, told, written } = start();
    see();
    const asked = [questionOf('ada', 8_000), questionOf('joe', 5_000)];
    Object.assign(state, { hasNews: true, toShare: asked });
    await clock.advance(15 * SECOND);
    await written(1);
    const text = await decodeQuestions(Object.values(writes[0]?.data ?? {})[0] ?? Buffer.alloc(0));
    expect(text?.writtenAtMs).toBe(clock.now());
    expect(text?.questions.map(({ ageMs }) => ageMs)).toEqual([7_000, 10_000]);
    expect(told).toEqual([asked]);
  });

  test('notes as told only what had room in 64 KiB', async () => {
    const { clock, state, see, writes, told, leftOut, written } = start();
    see();
    // Letters that follow no rule, so that they cannot be deflated.
    const nameOf = (index: number) => createHash('shake256', { outputLength: 1_500 }).update(`${index}`).digest('hex');
    const asked = Array.from({ length: 100 }, (_, index) => questionOf(nameOf(index)));
    Object.assign(state, { hasNews: true, toShare: asked });
    await clock.advance(15 * SECOND);
    await written(1);
    const text = await decodeQuestions(Object.values(writes[0]?.data ?? {})[0] ?? Buffer.alloc(0));
    const names = (questions: readonly Pick<RecentQuestion, 'subject'>[] = []) =>
      questions.map(({ subject }) => subject.name);
    expect(told.map(names)).toEqual([names(text?.questions)]);
    expect([...names(told[0]), ...names(leftOut[0])]).toEqual(names(asked));
    expect(names(leftOut[0]).length).toBeGreaterThan(10);
  });

  test('writes nothing before it has seen whether there is a Secret', async () => {
    const { clock, state, see, writes, written } = start();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(29 * SECOND);
    see({ data: {}, version: 'seen' });
    await clock.advance(SECOND);
    await written(1);
    expect(writes[0]?.version).toBe('seen');
  });

  test('R-17 tries three times when others write meanwhile, each half a second to a second later', async () => {
    const { clock, state, see, cluster, told, written, writes } = start({ fraction: 0.5 });
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    cluster.answer = async () => 'conflict';
    await clock.advance(17_500);
    await written(1);
    for (const number of [2, 3]) {
      await clock.advance(749);
      see({ data: {}, version: `v${number}` }); // a try that begins now or later is on top of this
      await clock.advance(1);
      await written(number);
      expect(writes.at(-1)?.version).toBe(`v${number}`);
    }
    await clock.advance(17_499);
    see({ data: {}, version: 'v4' });
    await clock.advance(1);
    await written(4);
    expect([writes.at(-1)?.version, told]).toEqual(['v4', []]);
  });

  test('does not try again what another replica has told meanwhile', async () => {
    const { clock, state, see, cluster, writes, written } = start();
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    cluster.answer = async () => {
      state.hasNews = false;
      return 'conflict';
    };
    await clock.advance(15 * SECOND);
    await written(1);
    await clock.advance(14_999);
    state.hasNews = true;
    see({ data: {}, version: 'later' });
    await clock.advance(1);
    await written(2);
    expect(writes[1]?.version).toBe('later');
  });

  test('R-17 waits for its next turn after a failure, and says that it is over', async () => {
    const { clock, state, see, cluster, lines, told, writes, written } = start();
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    const { answer } = cluster;
    cluster.answer = async () => {
      throw new Error('the cluster is away');
    };
    await clock.advance(15 * SECOND);
    await written(1);
    await clock.advance(14_999);
    cluster.answer = answer;
    expect([lines.length, told]).toEqual([1, []]);
    see({ data: {}, version: 'later' });
    await clock.advance(1);
    await written(2);
    expect(writes[1]?.version).toBe('later');
    expect(lines.map(({ level, msg, secret }) => [level, msg, secret])).toEqual([
      [40, 'recent questions cannot be shared', NAME],
      [30, 'recent questions are shared again', NAME],
    ]);
  });

  test('says once a turn that there are too many replicas', async () => {
    const { clock, state, see, lines, writes } = start();
    const twelve = Array.from({ length: 12 }, (_, index) => [`replica-${index}`, Buffer.alloc(0)]);
    see({ data: Object.fromEntries(twelve), version: '1' });
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(29 * SECOND);
    const said = lines.filter(({ msg }) => msg === 'recent questions cannot be shared');
    expect([said.length, writes]).toEqual([1, []]);
  });

  test('takes the place of the one of twelve that has not changed for longest, once that is five minutes', async () => {
    const { clock, state, see, lines, writes, written } = start();
    const data: Record<string, Buffer> = {};
    for (let index = 0; index < 12; index++) {
      data[`replica-${index}`] = Buffer.from(`${index}`);
      see({ data: { ...data }, version: `${index}` });
      await clock.advance(SECOND);
    }
    data['replica-0'] = Buffer.from('changed');
    see({ data, version: 'last' });
    await clock.advance(283 * SECOND); // 294 s after the second one came, which is the oldest now
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(5 * SECOND);
    expect([writes, lines.filter(({ msg }) => msg === 'recent questions cannot be shared').length]).toEqual([[], 1]);
    see({ data, version: 'later' });
    await clock.advance(15 * SECOND);
    await written(1);
    const keys = Object.keys(writes[0]?.data ?? {});
    expect([keys.length, writes[0]?.version]).toEqual([12, 'later']);
    expect(Object.keys(data).filter((key) => !keys.includes(key))).toEqual(['replica-1']);
  });

  test('takes the age of a key from its text, when it has just started and twelve are there', async () => {
    const { clock, state, see, learned, writes, written, until } = start();
    const ages = Array.from({ length: 12 }, (_, index) => (index === 7 ? 301 : 5) * SECOND);
    const texts = await Promise.all(
      ages.map(async (ageMs, index) => [`replica-${index}`, await textOf(`user-${index}`, clock.now() - ageMs)]),
    );
    see({ data: Object.fromEntries(texts), version: '1' });
    await until(() => learned.length === 12);
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(15 * SECOND);
    await written(1);
    const kept = Object.keys(writes[0]?.data ?? {});
    expect([kept.length, kept.includes('replica-7')]).toEqual([12, false]);
  });

  test.each<[string, (data: StoredSecret['data']) => StoredSecret | undefined]>([
    ['the Secret', () => undefined],
    ['its key', () => ({ data: {}, version: 'later' })],
  ])('writes again what it has told when somebody has removed %s', async (_, remove) => {
    const { clock, state, see, writes, written } = start();
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(15 * SECOND);
    await written(1);
    state.hasNews = false;
    await clock.advance(60 * SECOND);
    expect(writes.length).toBe(1);
    see(remove(writes[0]?.data ?? {}));
    await clock.advance(15 * SECOND);
    await written(2);
    expect(Object.keys(writes[1]?.data ?? {})).toEqual(Object.keys(writes[0]?.data ?? {}));
    await clock.advance(60 * SECOND);
    expect(writes.length).toBe(2);
  });

  test('R-17 does not write again when another replica has removed what it told ten minutes before', async () => {
    const { clock, state, see, writes, written } = start();
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(15 * SECOND);
    await written(1);
    Object.assign(state, { hasNews: false, toShare: [questionOf('ada', 300 * SECOND)] });
    await clock.advance(600 * SECOND);
    see({ data: {}, version: 'without' });
    await clock.advance(60 * SECOND);
    see({ data: {}, version: 'later' });
    state.hasNews = true;
    await clock.advance(15 * SECOND);
    await written(2);
    expect(writes[1]?.version).toBe('later');
  });

  test('goes on from what it has written itself, before the watch shows it', async () => {
    const { clock, state, see, writes, written } = start();
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(15 * SECOND);
    await written(1);
    await clock.advance(15 * SECOND);
    await written(2);
    expect(writes.map(({ version }) => version)).toEqual([undefined, '1']);
  });

  test('R-17 writes nothing when it has told nothing and has no news', async () => {
    const { clock, see, writes, written, state } = start();
    const data = { other: await textOf('joe', 0) };
    see({ data, version: '1' });
    await clock.advance(60 * SECOND);
    see({ data, version: '2' });
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(15 * SECOND);
    await written(1);
    expect(writes[0]?.version).toBe('2');
  });

  test('R-17 leaves what it told where it is, and removes it once nothing of it is to be told', async () => {
    const { clock, state, see, writes, written } = start();
    const other = await textOf('joe', 0);
    see({ data: { other }, version: 'first' });
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    await clock.advance(15 * SECOND);
    await written(1);
    state.hasNews = false;
    await clock.advance(60 * SECOND);
    see({ data: writes[0]?.data ?? {}, version: 'later' });
    state.toShare = [];
    await clock.advance(15 * SECOND);
    await written(2);
    expect(writes[1]).toEqual({ name: NAME, data: { other }, version: 'later' });
  });

  test('removes what another replica wrote ten minutes after that one wrote it, however often others write', async () => {
    const { clock, see, writes, written, learned, until } = start();
    await clock.advance(15 * SECOND);
    const data = { ended: await textOf('ada', clock.now()) };
    see({ data, version: '1' });
    await clock.advance(300 * SECOND);
    const all = { ...data, living: await textOf('joe', clock.now()) };
    see({ data: all, version: '2' });
    await until(() => learned.length === 2);
    await clock.advance(300 * SECOND - 1);
    see({ data: all, version: '3' });
    await clock.advance(1);
    await written(1);
    expect([Object.keys(writes[0]?.data ?? {}), writes[0]?.version]).toEqual([['living'], '3']);
    expect(learned.map(({ subject }) => subject.name)).toEqual(['ada', 'joe']); // each text was read once
  });

  test('R-17 writes nothing for what somebody else has removed', async () => {
    const { clock, see, state, writes, written } = start();
    see({ data: { ended: await textOf('ada', clock.now()) }, version: '1' });
    await clock.advance(SECOND);
    see({ data: {}, version: '2' });
    await clock.advance(659 * SECOND);
    see({ data: {}, version: '3' });
    Object.assign(state, { hasNews: true, toShare: [questionOf('joe')] });
    await clock.advance(15 * SECOND);
    await written(1);
    expect(writes[0]?.version).toBe('3');
  });

  test.each([
    ['was written 5 s ago', 5 * SECOND, 13 * SECOND],
    ['a clock that is ahead wrote', -5 * SECOND, 18 * SECOND],
  ])('takes the time of a question from the age of the text and its own (%s)', async (_, agoMs, askedAt) => {
    const { clock, see, learned, until } = start();
    await clock.advance(25 * SECOND);
    see({ data: { other: await textOf('ada', clock.now() - agoMs) }, version: '1' });
    await until(() => learned.length === 1);
    const { subject } = questionOf('ada');
    expect(learned).toEqual([{ subject, attributes, askedAt }]);
  });

  test('logs what it does not understand, and goes on', async () => {
    const { clock, see, learned, lines, until } = start();
    see({ data: { odd: Buffer.from('no text of ours'), other: await textOf('ada', clock.now()) }, version: '1' });
    await until(() => learned.length === 1 && lines.length === 1);
    expect(lines[0]).toMatchObject({
      ...{ level: 40, msg: 'what a replica shares is not understood, and ignored' },
      ...{ secret: NAME, key: 'odd', bytes: 15 },
    });
  });

  test('says once that all is understood again', async () => {
    const { clock, see, lines, learned, until } = start();
    const [ada, joe, eve] = await Promise.all(['ada', 'joe', 'eve'].map((name) => textOf(name, clock.now())));
    const odd = Buffer.from('no text of ours');
    see({ data: { one: odd, two: odd }, version: '1' });
    await until(() => lines.length === 2);
    see({ data: { one: ada!, two: odd }, version: '2' });
    await until(() => learned.length === 1);
    expect(lines.map(({ level }) => level)).toEqual([40, 20]); // the other one is not understood
    see({ data: { one: ada! }, version: '3' });
    see({ data: { one: joe! }, version: '4' });
    see({ data: { one: eve! }, version: '5' });
    await until(() => learned.length === 3);
    expect(lines.slice(2).map(({ level, msg }) => [level, msg])).toEqual([
      [30, 'what the replicas share is understood again'],
    ]);
  });

  test('says nothing of a key that was removed while it was read', async () => {
    const { clock, see, lines, learned, until } = start();
    const [ada, joe] = await Promise.all(['ada', 'joe'].map((name) => textOf(name, clock.now())));
    see({ data: { odd: Buffer.from('no text of ours') }, version: '1' });
    see({ data: { other: ada! }, version: '2' });
    await until(() => learned.length === 1);
    see({ data: { other: joe! }, version: '3' });
    await until(() => learned.length === 2);
    expect(lines).toEqual([]);
  });

  test.each([
    ['a minute ahead', 60_000, 0],
    ['more than a minute ahead', 60_001, 1],
    ['ten minutes behind', -600_000, 0],
    ['more than ten minutes behind', -600_001, 1],
  ])('warns of a clock that is %s, when a text has just changed', async (_, aheadMs, warnings) => {
    const { clock, see, lines, learned, until } = start();
    see({ data: { other: await textOf('ada', clock.now()) }, version: '1' });
    await until(() => learned.length === 1);
    see({ data: { other: await textOf('joe', clock.now() + aheadMs) }, version: '2' });
    await until(() => learned.length === 2);
    const msg = 'the clock of a replica is wrong: what it shares is taken for younger or older than it is';
    expect(lines.map(({ level, msg: said, key, aheadSeconds }) => [level, said, key, aheadSeconds])).toEqual(
      warnings ? [[40, msg, 'other', Math.round(aheadMs / 1000)]] : [],
    );
    see({ data: { other: await textOf('eve', clock.now()) }, version: '3' });
    await until(() => learned.length === 3);
    expect(lines.slice(warnings).map(({ level, msg: said }) => [level, said])).toEqual(
      warnings ? [[30, 'the clocks of the replicas agree again']] : [],
    );
  });

  test('warns of no clock when it has just started: nobody knows when an old text was written', async () => {
    const { clock, see, lines, learned, until } = start();
    see({ data: { other: await textOf('ada', clock.now() - 900 * SECOND) }, version: '1' });
    await until(() => learned.length === 1);
    expect(lines).toEqual([]);
  });

  test('says nothing of a write that fails after its end', async () => {
    const { clock, state, see, cluster, lines, stop, running, written } = start();
    see();
    Object.assign(state, { hasNews: true, toShare: [questionOf('ada')] });
    const answer = Promise.withResolvers<StoredSecret>();
    cluster.answer = () => answer.promise;
    await clock.advance(15 * SECOND);
    await written(1);
    stop.abort();
    await running;
    answer.reject(new Error('the cluster is away'));
    await clock.advance(0);
    expect(lines).toEqual([]);
  });
});
