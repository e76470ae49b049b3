import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createAccessReviewAuthorizer } from '../../../src/authorization/access-review-authorizer.ts';
import type { AccessReviewer, RequestAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import { type RecentQuestion, RecentQuestions } from '../../../src/authorization/recent-questions.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const alice: Subject = { name: 'alice', uid: '1', groups: ['staff'] };
const listNodes: RequestAttributes = { resource: { verb: 'list', group: 'g', version: 'v1', resource: 'nodes' } };
const getNode = (name: string): RequestAttributes => ({
  resource: { verb: 'get', group: 'g', version: 'v1', resource: 'nodes', name },
});

interface Review {
  readonly subject: Subject;
  answer(allowed: boolean): void;
  fail(): void;
}

function create() {
  const clock = new FakeClock();
  const all: Review[] = [];
  const reviewer: AccessReviewer = {
    review: (subject, _attributes, signal) =>
      new Promise((resolve, reject) => {
        const fail = (): void => reject(new Error('the cluster is away'));
        signal.addEventListener('abort', fail);
        all.push({ subject, answer: resolve, fail });
      }),
  };
  const recent = new RecentQuestions(clock);
  const registry = new Registry();
  const logger = pino({ level: 'silent' });
  const authorizer = createAccessReviewAuthorizer(
    {},
    { reviewer, clock, random: systemRandom, registry, logger, recent },
  );
  /** The next question of a caller, whose review is answered so. */
  const decide = async (attributes: RequestAttributes, allowed: boolean): Promise<unknown> => {
    const decision = authorizer.authorize(alice, attributes);
    await clock.advance(0);
    all.at(-1)?.answer(allowed);
    return decision;
  };
  const question = (): RecentQuestion => recent.current()[0] as RecentQuestion;
  const renew = () => authorizer.renew(question(), new AbortController().signal);
  return { clock, reviews: all, recent, authorizer, decide, question, renew };
}

describe('answers that are renewed in the background', () => {
  test('belong to questions that were allowed, from a review or from memory', async () => {
    const { clock, recent, decide, authorizer, question } = create();
    await decide(listNodes, true);
    await decide(getNode('a'), false);
    expect(recent.current().map(({ attributes }) => attributes)).toEqual([listNodes]);
    await clock.advance(4_000);
    void authorizer.authorize(alice, listNodes);
    expect([authorizer.ageOf(question()), question().askedAt]).toEqual([4_000, 4_000]);
    await clock.advance(2_000);
    void authorizer.authorize(alice, listNodes); // is answered from memory, and asked for again
    expect([authorizer.ageOf(question()), question().askedAt]).toEqual([6_000, 6_000]);
  });

  test('have no age before there is one', async () => {
    const { clock, recent, authorizer, question } = create();
    recent.learn([{ subject: alice, attributes: listNodes, askedAt: clock.monotonic() }]);
    expect(authorizer.ageOf(question())).toBe(Number.POSITIVE_INFINITY);
  });

  test('are renewed no more once a caller was denied', async () => {
    const { clock, recent, decide } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    await decide(listNodes, false);
    expect(recent.current()).toEqual([]);
  });

  test('are good as any other, with an age of their own', async () => {
    const { clock, reviews, decide, authorizer, question, renew } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    const renewal = renew();
    await clock.advance(1_000);
    reviews.at(-1)?.answer(true);
    expect(await renewal).toBe(true);
    expect(authorizer.ageOf(question())).toBe(1_000);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'cache' });
  });

  test('refuse the caller once the cluster denies', async () => {
    const { clock, reviews, decide, authorizer, renew } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    const renewal = renew();
    reviews.at(-1)?.answer(false);
    expect(await renewal).toBe(false);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: false, source: 'cache' });
  });

  test('are not remembered by a failure, which pauses nobody', async () => {
    const { clock, decide, authorizer, question, renew } = create();
    await decide(listNodes, true);
    for (let failure = 0; failure < 5; failure++) {
      const renewal = renew().then(
        () => 'answered',
        () => 'failed',
      );
      await clock.advance(3_000); // no answer comes, and the review is given up
      expect(await renewal).toBe('failed');
    }
    expect([authorizer.ageOf(question()), authorizer.room()]).toEqual([15_000, 'enough']);
    expect(await decide(listNodes, true)).toEqual({ allowed: true, source: 'review' });
  });

  test('do not come back after their user was to be forgotten', async () => {
    const { clock, reviews, recent, decide, authorizer, renew } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    const renewal = renew();
    authorizer.forget('alice');
    for (let other = 1; other < 1_000; other++) authorizer.forget(`user-${other}`);
    expect(recent.current()).toEqual([]);
    reviews.at(-1)?.answer(true);
    await renewal;
    expect(authorizer.authorize(alice, listNodes)).toBeInstanceOf(Promise);
    await clock.advance(0);
    reviews.at(-1)?.answer(false);
  });

  test('never take the place of a newer one', async () => {
    const { clock, reviews, decide, authorizer, renew } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    const renewal = renew();
    const slow = reviews.at(-1);
    await clock.advance(1_000);
    expect(await decide(listNodes, false)).toEqual({ allowed: false, source: 'review' });
    slow?.answer(true);
    await renewal;
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: false, source: 'cache' });
  });

  test('take the place of one that was asked for in the same moment', async () => {
    const { clock, reviews, decide, authorizer, renew } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    const renewal = renew();
    const slow = reviews.at(-1);
    expect(await decide(listNodes, true)).toEqual({ allowed: true, source: 'review' });
    slow?.answer(false);
    await renewal;
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: false, source: 'cache' });
  });

  test('keep no caller waiting: reviews of callers begin beside them', async () => {
    const { clock, reviews, recent, decide, authorizer } = create();
    await decide(listNodes, true);
    const [known] = recent.current() as [RecentQuestion];
    for (let index = 0; index < 100; index++)
      authorizer.renew(known, new AbortController().signal).catch(() => undefined);
    const before = reviews.length;
    const decision = authorizer.authorize(alice, getNode('a'));
    await clock.advance(0);
    expect(reviews.length).toBe(before + 1);
    reviews.at(-1)?.answer(true);
    expect(await decision).toEqual({ allowed: true, source: 'review' });
  });

  test('are renewed slowly while callers have many reviews open or queue, and not while reviews are paused', async () => {
    const { clock, reviews, authorizer } = create();
    const ask = (name: string, index = 0): void => {
      const decision = authorizer.authorize({ name, uid: '', groups: [] }, getNode(`${index}`));
      Promise.resolve(decision).catch(() => undefined);
    };
    expect(authorizer.room()).toBe('enough');
    for (let index = 0; index < 8; index++) ask(`user-${index}`);
    await clock.advance(0);
    expect(authorizer.room()).toBe('enough');
    ask('user-8');
    await clock.advance(0);
    expect(authorizer.room()).toBe('little'); // nine of 64
    for (const { answer } of reviews) answer(true);
    await clock.advance(0);
    expect(authorizer.room()).toBe('enough');
    for (const name of ['ada', 'joe', 'eve']) ask(name);
    await clock.advance(0);
    for (const { fail } of reviews) fail();
    await clock.advance(10_000);
    for (const name of ['ada', 'joe', 'eve']) ask(name);
    await clock.advance(3_000); // all of them time out
    expect(authorizer.room()).toBe('none');
  });

  test('stay allowed when a denial comes late that is older than the allowance', async () => {
    const { clock, reviews, recent, authorizer, decide, renew } = create();
    await decide(listNodes, true);
    await clock.advance(60_000);
    const renewal = renew();
    await clock.advance(1_000);
    await decide(listNodes, true);
    reviews.at(-2)?.answer(false);
    expect(await renewal).toBe(true);
    expect(recent.current().length).toBe(1);
    expect(await authorizer.authorize(alice, listNodes)).toMatchObject({ allowed: true });
  });
});
