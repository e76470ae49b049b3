import { describe, expect, test } from 'vitest';
import type { RequestAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import { createDecisionKeys } from '../../../src/authorization/decision-cache.ts';
import { LONGEST_QUESTION, RecentQuestions } from '../../../src/authorization/recent-questions.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const user = (name: string): Subject => ({ name, uid: `${name}-uid`, groups: ['staff'] });
const getNode = (name: string): RequestAttributes => ({
  resource: { verb: 'get', group: 'g', version: 'v1', resource: 'nodes', name },
});
const MINUTE = 60_000;

function create() {
  const clock = new FakeClock();
  const recent = new RecentQuestions(clock);
  const keyOf = createDecisionKeys();
  const allow = (subject: Subject, node = 'a'): void =>
    recent.allowed(keyOf(subject, getNode(node)), subject, getNode(node));
  const learn = (subject: Subject, askedAt = clock.monotonic(), node = 'a'): void =>
    recent.learn([{ subject, attributes: getNode(node), askedAt }]);
  const names = (): string[] => recent.current().map(({ subject }) => subject.name);
  const tell = (): string[] => {
    const told = recent.toShare();
    recent.markShared(told, []);
    return told.map(({ subject }) => subject.name);
  };
  return { clock, recent, keyOf, allow, learn, names, tell };
}

describe('recent questions', () => {
  test('A-49 hold eight of a user who asks 10,000, and push out nobody else', () => {
    const { recent, allow, names } = create();
    allow(user('ada'));
    for (let index = 0; index < 10_000; index++) allow(user('flood'), `node-${index}`);
    expect(recent.counts).toEqual({ own: 9, shared: 0 });
    expect(names()).toContain('ada');
    expect(recent.toShare().length).toBe(9);
  });

  test('hold 2,000 of our own and 2,000 of others, which push out none of our own', () => {
    const { recent, allow, learn, names } = create();
    for (let index = 0; index < 3_000; index++) allow(user(`own-${index}`));
    for (let index = 0; index < 3_000; index++) learn(user(`told-${index}`));
    expect(recent.counts).toEqual({ own: 2_000, shared: 2_000 });
    expect(names()).toContain('own-2999');
    expect(names()).not.toContain('own-999');
  });

  test('hold eight of a user of what others tell, whatever they write', () => {
    const { recent, learn } = create();
    for (let index = 0; index < 100; index++) learn(user('flood'), undefined, `node-${index}`);
    expect(recent.counts).toEqual({ own: 0, shared: 8 });
  });

  test('are over ten minutes after the last caller, who asks them again by each question', async () => {
    const { clock, allow, learn, names } = create();
    allow(user('ada'));
    allow(user('joe'));
    learn(user('eve'));
    await clock.advance(5 * MINUTE);
    allow(user('ada'));
    await clock.advance(5 * MINUTE - 1);
    expect(names().sort()).toEqual(['ada', 'eve', 'joe']);
    await clock.advance(1);
    expect(names()).toEqual(['ada']);
  });

  test('are dropped when the cluster denies them, and when their user is to be forgotten', () => {
    const { recent, keyOf, allow, learn, names } = create();
    for (const name of ['ada', 'joe', 'eve']) allow(user(name));
    learn(user('joe'), undefined, 'b');
    recent.denied(keyOf(user('ada'), getNode('a')));
    recent.forget('joe');
    expect(names()).toEqual(['eve']);
  });

  test('of a user who was forgotten are learned only if they were asked later', async () => {
    const { clock, recent, learn, names } = create();
    await clock.advance(MINUTE);
    recent.forget('joe');
    learn(user('joe'), clock.monotonic() - 1_000);
    learn(user('joe'), clock.monotonic());
    expect(names()).toEqual([]);
    await clock.advance(1);
    learn(user('joe'));
    expect(names()).toEqual(['joe']);
  });

  test('leave out what is too long to be told', () => {
    const { recent, allow, learn } = create();
    const groups = Array.from({ length: 100 }, (_, index) => `group-${index}`.padEnd(LONGEST_QUESTION / 50, 'x'));
    allow({ ...user('ada'), groups });
    learn({ ...user('ada'), groups });
    expect(recent.counts).toEqual({ own: 0, shared: 0 });
  });

  test('are news once, and again when the others would soon forget what is still asked', async () => {
    const { clock, recent, allow, tell } = create();
    expect(recent.hasNews()).toBe(false);
    allow(user('ada'));
    allow(user('joe'));
    expect([recent.hasNews(), tell()]).toEqual([true, ['ada', 'joe']]);
    await clock.advance(5 * MINUTE - 1);
    allow(user('ada'));
    expect(recent.hasNews()).toBe(false);
    await clock.advance(1);
    expect([recent.hasNews(), tell()]).toEqual([true, ['ada', 'joe']]); // the one that asked last is first
    await clock.advance(4 * MINUTE);
    expect(recent.hasNews()).toBe(false); // nobody has asked since
  });

  test('that had no room are not known to the others, but news only when they are asked again', async () => {
    const { clock, recent, allow } = create();
    for (const name of ['ada', 'joe']) allow(user(name));
    const [ada, joe] = recent.toShare();
    recent.markShared([ada!], [joe!]);
    await clock.advance(1_000);
    expect(recent.hasNews()).toBe(false); // to write the same again would leave out the same
    allow(user('ada'));
    expect(recent.hasNews()).toBe(false);
    allow(user('joe'));
    expect(recent.hasNews()).toBe(true);
  });

  test('R-17 of a user who asks for nine things in turn are news once in five minutes', async () => {
    const { clock, recent, allow, tell } = create();
    let news = 0;
    for (let second = 0; second < 1_800; second++) {
      allow(user('ada'), `node-${second % 9}`);
      await clock.advance(1_000);
      if (second % 15 !== 14 || !recent.hasNews()) continue;
      news++;
      tell();
    }
    expect(news).toBe(6);
  });

  test('of a user who has less than eight are news one by one', async () => {
    const { clock, recent, allow, tell } = create();
    const news: boolean[] = [];
    for (let node = 0; node < 9; node++) {
      allow(user('ada'), `node-${node}`);
      news.push(recent.hasNews());
      tell();
      await clock.advance(1_000);
    }
    expect(news).toEqual([true, true, true, true, true, true, true, true, false]);
  });

  test('of a user of whom the others tell eight are no news for five minutes', async () => {
    const { clock, recent, allow, learn } = create();
    await clock.advance(MINUTE);
    for (let node = 0; node < 8; node++) learn(user('ada'), 5_000 * node, `node-${node}`);
    allow(user('ada'), 'node-8');
    expect(recent.hasNews()).toBe(false);
    await clock.advance(4 * MINUTE + 34_999);
    expect(recent.hasNews()).toBe(false);
    await clock.advance(1);
    expect(recent.hasNews()).toBe(true);
  });

  test('of a user of whom the others know eight, from us and from others, are no news for five minutes', async () => {
    const { clock, recent, allow, learn, tell } = create();
    for (let node = 0; node < 4; node++) learn(user('ada'), undefined, `node-${node}`);
    for (let node = 0; node < 8; node++) allow(user('ada'), `node-${node}`);
    expect(tell().length).toBe(4);
    allow(user('ada'), 'node-8');
    await clock.advance(5 * MINUTE - 1);
    expect(recent.hasNews()).toBe(false);
    await clock.advance(1);
    expect(recent.hasNews()).toBe(true);
  });

  test('that another replica has told of late are not told again, until it stops', async () => {
    const { clock, recent, allow, learn, tell } = create();
    learn(user('ada'));
    allow(user('ada'));
    expect([recent.hasNews(), tell()]).toEqual([false, []]);
    await clock.advance(5 * MINUTE);
    expect([recent.hasNews(), tell()]).toEqual([false, ['ada']]); // asked at the same moment: no news, but ours
    allow(user('ada'));
    expect([recent.hasNews(), tell()]).toEqual([true, ['ada']]);
  });

  test('that are learned and asked here count once, as our own', () => {
    const { recent, allow, learn, names } = create();
    learn(user('ada'));
    allow(user('ada'));
    expect([recent.counts, names()]).toEqual([{ own: 1, shared: 0 }, ['ada']]);
  });

  test('note the time of a caller who polls once a second at most', async () => {
    const { clock, recent, allow } = create();
    const askedAt = () => recent.current()[0]?.askedAt;
    await clock.advance(MINUTE);
    allow(user('ada'));
    await clock.advance(999);
    allow(user('ada'));
    expect(askedAt()).toBe(MINUTE);
    await clock.advance(1);
    allow(user('ada'));
    expect(askedAt()).toBe(MINUTE + 1_000);
  });

  test('have 4,096 characters at most, with those of the subject and of all attributes', () => {
    const { recent, keyOf } = create();
    const attributes = getNode('a');
    const subject = (length: number): Subject => ({ name: 'ada', uid: '1', groups: ['x'.repeat(length - 4 - 13)] });
    for (const length of [4_096, 4_097]) {
      recent.allowed(keyOf(subject(length), attributes), subject(length), attributes);
      recent.learn([{ subject: { ...subject(length), name: 'joe' }, attributes, askedAt: 0 }]);
    }
    expect([LONGEST_QUESTION, recent.counts]).toEqual([4_096, { own: 1, shared: 1 }]);
  });

  test.each<[string, Partial<Subject>]>([
    ['without a name', { name: '' }],
    ['with an empty group', { groups: ['staff', ''] }],
    ['with 201 groups', { groups: Array.from({ length: 201 }, () => 'g') }],
    ['with 190 groups of 21 letters', { groups: Array.from({ length: 190 }, () => 'g'.repeat(21)) }],
  ])('of a subject %s are not kept: the others would refuse all that is told with it', (_, change) => {
    const { recent, allow, learn } = create();
    allow({ ...user('ada'), ...change });
    learn({ ...user('ada'), ...change });
    expect(recent.counts).toEqual({ own: 0, shared: 0 });
  });

  test('of one subject are learned with one look at its groups for its length, and one for its keys', () => {
    const { recent } = create();
    let looks = 0;
    class Counted extends Array<string> {
      override [Symbol.iterator](): ArrayIterator<string> {
        looks++;
        return super[Symbol.iterator]();
      }
    }
    const subject = { ...user('ada'), groups: Counted.from({ length: 200 }, () => 'g') };
    recent.learn(Array.from({ length: 2_000 }, (_, node) => ({ subject, attributes: getNode(`${node}`), askedAt: 0 })));
    expect([looks, recent.counts]).toEqual([2, { own: 0, shared: 8 }]);
  });

  test('that another replica told are dropped when the cluster denies them', () => {
    const { recent, keyOf, learn, names } = create();
    for (const name of ['ada', 'joe']) learn(user(name));
    recent.denied(keyOf(user('ada'), getNode('a')));
    expect(names()).toEqual(['joe']);
  });

  test('of the last 1,000 users who were forgotten are not learned from what was asked before', async () => {
    const { clock, recent, learn, names } = create();
    await clock.advance(MINUTE);
    for (let index = 0; index < 1_000; index++) recent.forget(`user-${index}`);
    learn(user('user-0'), 0);
    expect(names()).toEqual([]);
    recent.forget('user-1000');
    learn(user('user-0'), 0);
    expect(names()).toEqual(['user-0']);
  });

  test('keep the latest use that any replica tells', async () => {
    const { clock, recent, learn } = create();
    await clock.advance(MINUTE);
    for (const askedAt of [30_000, 50_000, 40_000]) learn(user('ada'), askedAt);
    expect(recent.current().map(({ askedAt }) => askedAt)).toEqual([50_000]);
  });

  test('that are told again without a later use are the first to go nevertheless', () => {
    const { recent, learn } = create();
    for (let index = 0; index < 8; index++) learn(user('ada'), 0, `node-${index}`);
    learn(user('ada'), 0, 'node-0');
    learn(user('ada'), 0, 'node-8');
    const nodes = recent.current().map(({ attributes }) => 'resource' in attributes && attributes.resource.name);
    expect(nodes).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((index) => `node-${index}`));
  });
});
