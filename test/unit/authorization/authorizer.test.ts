import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import {
  type AccessReviewOptions,
  createAccessReviewAuthorizer,
} from '../../../src/authorization/access-review-authorizer.ts';
import { createAlwaysAllow } from '../../../src/authorization/always-allow.ts';
import type { AccessReviewer, Decision, RequestAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import type { CallFault } from '../../../src/runtime/limits/circuit-breaker.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import type { LastingRefusal } from '../../../src/status-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const alice: Subject = { name: 'alice', uid: '1', groups: ['staff'] };
const listNodes: RequestAttributes = { resource: { verb: 'list', group: 'g', version: 'v1', resource: 'nodes' } };
const getNode = (name: string): RequestAttributes => ({
  resource: { verb: 'get', group: 'g', version: 'v1', resource: 'nodes', name },
});

interface Pending {
  readonly subject: Subject;
  readonly signal: AbortSignal;
  answer(allowed: boolean): void;
  fail(fault?: CallFault & LastingRefusal): void;
}

/** A cluster whose answers are given by hand. */
class ScriptedReviewer implements AccessReviewer {
  readonly reviews: Pending[] = [];

  review(subject: Subject, _attributes: RequestAttributes, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const fail = (fault = {}): void => reject(Object.assign(new Error('the cluster is away'), fault));
      signal.addEventListener('abort', () => fail());
      this.reviews.push({ subject, signal, answer: resolve, fail });
    });
  }

  get last(): Pending {
    return this.reviews.at(-1)!;
  }
}

/** From the first review on as many at a time as may be at most: how their number grows is a test of its own. */
function create(options: AccessReviewOptions = { firstInFlight: 64, firstInFlightOfOne: 16 }) {
  const clock = new FakeClock();
  const reviewer = new ScriptedReviewer();
  const registry = new Registry();
  const logger = pino({ level: 'silent' });
  const random = { ...systemRandom, fraction: () => 0.5 };
  const authorizer = createAccessReviewAuthorizer(options, { reviewer, clock, random, registry, logger });
  const count = async (decision: string, source: string): Promise<number> => {
    const metric = await registry.getSingleMetric('gatehouse_authorization_decisions_total')?.get();
    const found = metric?.values.find(({ labels }) => labels['decision'] === decision && labels['source'] === source);
    return found?.value ?? 0;
  };
  /** Asks once and has the cluster answer. */
  const learn = async (allowed: boolean): Promise<Decision> => {
    const decision = authorizer.authorize(alice, listNodes);
    await clock.advance(0);
    reviewer.last.answer(allowed);
    return decision;
  };
  /** Asks once; the cluster fails, and this comes of it. */
  const failOnce = async (what: RequestAttributes, fault?: CallFault & LastingRefusal): Promise<unknown> => {
    const decision = outcome(authorizer.authorize(alice, what));
    await clock.advance(0);
    reviewer.last.fail(fault);
    return decision;
  };
  return { clock, reviewer, registry, authorizer, count, learn, failOnce };
}

const outcome = (decision: Decision | Promise<Decision>) =>
  Promise.resolve(decision).then(
    (known) => known,
    (error: { answer?: unknown }) => error.answer,
  );
const UNAVAILABLE = {
  code: 503,
  reason: 'ServiceUnavailable',
  message: 'authorization is not available',
  details: { retryAfterSeconds: 5 },
};

const OVERLOADED = {
  code: 429,
  reason: 'TooManyRequests',
  message: 'Too many access reviews at once, please try again later.',
  details: { retryAfterSeconds: 1 },
};
/** One user may have all seats. */
const UNSHARED = { firstInFlight: 64, maxInFlightOfOne: 64, firstInFlightOfOne: 64, maxWaitingOfOne: 192 };

describe('access review authorizer', () => {
  test.each([true, false])('asks once, then answers at once for 10 s (allowed: %s)', async (allowed) => {
    const { clock, reviewer, authorizer, learn, count } = create();
    expect(await learn(allowed)).toEqual({ allowed, source: 'review' });
    await clock.advance(4_999);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed, source: 'cache' });
    await clock.advance(5_001);
    expect(authorizer.authorize(alice, listNodes)).toBeInstanceOf(Promise);
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(2);
    expect([
      await count(allowed ? 'allow' : 'deny', 'review'),
      await count(allowed ? 'allow' : 'deny', 'cache'),
    ]).toEqual([1, 1]);
    reviewer.last.answer(true);
  });

  test('takes another user, uid, group or attribute for another question', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    const others: [Subject, RequestAttributes][] = [
      [{ ...alice, name: 'bob' }, listNodes],
      [{ ...alice, uid: '2' }, listNodes],
      [{ ...alice, groups: [] }, listNodes],
      [alice, getNode('a')],
    ];
    const answers = others.map(([who, what]) => authorizer.authorize(who, what));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(5);
    for (const review of reviewer.reviews) review.answer(false);
    expect(await Promise.all(answers)).toEqual(Array(4).fill({ allowed: false, source: 'review' }));
  });

  test('has one review in flight for callers with the same question', async () => {
    const { clock, reviewer, authorizer } = create();
    const answers = Array.from({ length: 20 }, () => authorizer.authorize(alice, listNodes));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(1);
    reviewer.last.answer(true);
    expect(await Promise.all(answers)).toEqual(Array(20).fill({ allowed: true, source: 'review' }));
  });

  test('has 8 reviews of one user in flight at first, and one more for each that is answered, up to 16', async () => {
    const { clock, reviewer, authorizer } = create({});
    const answers = Array.from({ length: 48 }, (_, index) => authorizer.authorize(alice, getNode(`${index}`)));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(8);
    for (let answered = 0; answered < answers.length; answered++) {
      expect(reviewer.reviews.length - answered).toBe(Math.min(8 + answered, 16, 48 - answered));
      reviewer.reviews[answered]?.answer(true);
      await clock.advance(0);
    }
    expect((await Promise.all(answers)).every(({ allowed }) => allowed)).toBe(true);
  });

  test('has at most 16 reviews of one user in flight, and the others wait for their turn', async () => {
    const { clock, reviewer, authorizer } = create();
    const answers = Array.from({ length: 64 }, (_, index) => authorizer.authorize(alice, getNode(`${index}`)));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(16);
    for (const review of reviewer.reviews.slice(0, 10)) review.answer(true);
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(26);
    for (let index = 0; index < reviewer.reviews.length; index++) {
      reviewer.reviews[index]?.answer(true);
      await clock.advance(0);
    }
    expect((await Promise.all(answers)).every(({ allowed }) => allowed)).toBe(true);
  });

  test('refuses with 503 and Retry-After when the cluster is away and no answer is known', async () => {
    const { clock, reviewer, authorizer, count } = create();
    const decision = outcome(authorizer.authorize(alice, listNodes));
    await clock.advance(0);
    reviewer.last.fail();
    expect(await decision).toEqual(UNAVAILABLE);
    expect(await count('error', 'review')).toBe(1);
  });

  test('gives a review up after 3 s, and frees its seat', async () => {
    const { clock, reviewer, authorizer } = create({ maxInFlight: 1 });
    const decision = outcome(authorizer.authorize(alice, listNodes));
    await clock.advance(2_999);
    expect(reviewer.last.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(await decision).toEqual(UNAVAILABLE);
    await clock.advance(1_200); // a pause comes first
    const next = authorizer.authorize(alice, listNodes);
    await clock.advance(0);
    reviewer.last.answer(true);
    expect(await next).toEqual({ allowed: true, source: 'review' });
  });

  test.each([true, false])('holds on to an answer for 600 s while reviews fail (allowed: %s)', async (allowed) => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(allowed);
    await clock.advance(600_000);
    const held = authorizer.authorize(alice, listNodes);
    await clock.advance(0);
    reviewer.last.fail();
    expect(await held).toEqual({ allowed, source: 'stale' });
    await clock.advance(1);
    const lost = outcome(authorizer.authorize(alice, listNodes));
    await clock.advance(0);
    reviewer.last.fail();
    const message = 'authorization is not available: the last decision is older than 10m0s';
    expect(await lost).toEqual({ ...UNAVAILABLE, message });
  });

  test.each([400, 413, 422])(
    'makes no old answer good when the cluster refuses the question itself (%i)',
    async (code) => {
      const { clock, failOnce, learn } = create();
      await learn(true);
      await clock.advance(10_000);
      expect(await failOnce(listNodes, { status: { code } })).toMatchObject({ code: 503 });
    },
  );

  test.each([401, 403, 429, 500, 503])('holds on to an answer when the cluster gives none (%i)', async (code) => {
    const { clock, failOnce, learn } = create();
    await learn(true);
    await clock.advance(10_000);
    expect(await failOnce(listNodes, { status: { code } })).toEqual({ allowed: true, source: 'stale' });
  });

  test('AC-84 says which right is missing, and no time, for as long as the cluster refuses the review itself', async () => {
    const { failOnce } = create();
    const right =
      'User "a" cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope';
    const refused = { status: { code: 403 }, lastingRefusal: `a right is missing: ${right}` };
    const message = `authorization is not available: ${refused.lastingRefusal}`;
    const answers = [
      await failOnce(listNodes, refused),
      await failOnce(listNodes, refused),
      await failOnce(listNodes, refused),
    ];
    expect(answers).toEqual(answers.map(() => ({ code: 503, reason: 'ServiceUnavailable', message })));
  });

  test('counts the age of an answer from the question', async () => {
    const { clock, reviewer, authorizer } = create();
    const decision = authorizer.authorize(alice, listNodes);
    await clock.advance(2_900);
    reviewer.last.answer(true);
    await decision;
    await clock.advance(7_100);
    expect(authorizer.authorize(alice, listNodes)).toBeInstanceOf(Promise);
    await clock.advance(0);
    reviewer.last.answer(true);
  });

  test('never keeps a failure: the next call asks again', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    const failed = outcome(authorizer.authorize(alice, listNodes));
    await clock.advance(0);
    reviewer.last.fail();
    await failed;
    expect(await learn(true)).toEqual({ allowed: true, source: 'review' });
  });

  test('lets nobody with a known answer wait for a cluster that hangs, and asks behind that answer', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    await clock.advance(10_000);
    const first = authorizer.authorize(alice, listNodes);
    await clock.advance(3_000);
    expect(await first).toEqual({ allowed: true, source: 'stale' });
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'stale' });
    await clock.advance(1_200);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'stale' });
    await clock.advance(0);
    reviewer.last.answer(false);
    await clock.advance(0);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: false, source: 'cache' });
  });

  test('keeps no timer once a review has ended', async () => {
    const { clock, learn } = create();
    await learn(true);
    expect(clock.pendingTimers).toBe(0);
  });

  test('asks again about a user of whom it was told to forget, and of nobody else', async () => {
    const { authorizer, reviewer, clock, learn } = create();
    await learn(true);
    authorizer.forget('bob');
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'cache' });
    authorizer.forget('alice');
    const again = authorizer.authorize(alice, listNodes);
    await clock.advance(0);
    expect(reviewer.reviews).toHaveLength(2);
    reviewer.last.answer(false);
    expect(await again).toEqual({ allowed: false, source: 'review' });
  });

  test('has 32 reviews of all users in flight at first, and at most 64', async () => {
    for (const [options, most] of [
      [{}, 32],
      [{ firstInFlight: 100 }, 64],
    ] as const) {
      const { authorizer, reviewer, clock } = create(options);
      const asked = Array.from({ length: 100 }, (_, index) =>
        outcome(authorizer.authorize({ ...alice, name: `user-${index}` }, listNodes)),
      );
      await clock.advance(0);
      expect(reviewer.reviews).toHaveLength(most);
      for (let index = 0; index < reviewer.reviews.length; index++) {
        reviewer.reviews[index]?.answer(true);
        await clock.advance(0);
      }
      await Promise.all(asked);
    }
  });

  test('times a review in seconds', async () => {
    const { authorizer, reviewer, clock, registry } = create();
    await clock.advance(60_000);
    const asked = authorizer.authorize(alice, listNodes);
    await clock.advance(250);
    reviewer.last.answer(true);
    await asked;
    expect(await registry.metrics()).toContain('gatehouse_authorization_review_duration_seconds_sum 0.25\n');
  });

  test('tells how many answers it keeps', async () => {
    const { registry, learn } = create();
    await learn(true);
    const entries = await registry.getSingleMetric('gatehouse_authorization_cache_entries')?.get();
    expect(entries?.values[0]?.value).toBe(1);
  });
});

describe('access reviews that fail', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => getNode(`${index}`));

  test('are paused from the second failure in a row: a known answer and a refusal come at once, and nobody asks', async () => {
    const { clock, reviewer, authorizer, count, learn, failOnce } = create();
    await learn(true);
    await clock.advance(10_000);
    expect(await failOnce(getNode('a'))).toEqual(UNAVAILABLE);
    expect(await failOnce(getNode('b'))).toEqual(UNAVAILABLE);
    expect(reviewer.reviews.length).toBe(3);
    await clock.advance(1_199); // 0.8 s and half of it as jitter, less a millisecond
    for (let call = 0; call < 100; call++)
      expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'stale' });
    const refused = await Promise.all(names(100).map((what) => outcome(authorizer.authorize(alice, what))));
    expect(refused).toEqual(Array(100).fill(UNAVAILABLE));
    expect(reviewer.reviews.length).toBe(3);
    expect([await count('allow', 'stale'), await count('error', 'review')]).toEqual([100, 102]);
  });

  test('are tried by one probe at a time, each pause twice as long', async () => {
    const { clock, reviewer, authorizer, failOnce } = create();
    await failOnce(getNode('a'));
    await failOnce(getNode('b'));
    for (const pauseMs of [1_200, 2_400, 4_800, 9_600, 19_200, 30_000, 30_000]) {
      const before = reviewer.reviews.length;
      await clock.advance(pauseMs - 1);
      expect(await outcome(authorizer.authorize(alice, listNodes))).toEqual(UNAVAILABLE);
      expect(reviewer.reviews.length).toBe(before);
      await clock.advance(1);
      const probe = outcome(authorizer.authorize(alice, listNodes));
      const others = [listNodes, ...names(100)].map((what) => outcome(authorizer.authorize(alice, what)));
      expect(await Promise.all(others)).toEqual(Array(101).fill(UNAVAILABLE)); // while the probe is under way
      expect(reviewer.reviews.length).toBe(before + 1);
      reviewer.last.fail();
      expect(await probe).toEqual(UNAVAILABLE);
    }
  });

  test('are asked for freely again once a probe is answered', async () => {
    const { clock, reviewer, authorizer, failOnce } = create();
    await failOnce(getNode('a'));
    await failOnce(getNode('b'));
    await clock.advance(1_200);
    const probe = authorizer.authorize(alice, listNodes);
    await clock.advance(0);
    reviewer.last.answer(true);
    expect(await probe).toEqual({ allowed: true, source: 'review' });
    const others = names(4).map((what) => authorizer.authorize(alice, what));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(7);
    for (const review of reviewer.reviews) review.answer(false);
    expect(await Promise.all(others)).toEqual(Array(4).fill({ allowed: false, source: 'review' }));
  });

  test('are no pause after a single one between answers', async () => {
    const { learn, failOnce, clock } = create();
    for (let round = 0; round < 5; round++) {
      await failOnce(getNode('a'));
      await clock.advance(10_000);
      expect(await learn(true)).toEqual({ allowed: true, source: 'review' });
    }
  });

  test.each([
    [2, 'no outage for the others', 2],
    [3, 'an outage: one of the others asks, and the next waits for what it is answered', 1],
  ])('that hang for %i users are %s', async (users, _, asked) => {
    const { clock, reviewer, authorizer } = create();
    const named = (name: string): Subject => ({ ...alice, name });
    for (let user = 0; user < users; user++) void outcome(authorizer.authorize(named(`hangs-${user}`), listNodes));
    await clock.advance(3_000);
    const others = ['bob', 'carol'].map((name) => authorizer.authorize(named(name), listNodes));
    await clock.advance(0);
    expect(reviewer.reviews.length - users).toBe(asked);
    for (let turn = 0; turn < 2; turn++) {
      for (const review of reviewer.reviews) review.answer(true);
      await clock.advance(0);
    }
    expect(await Promise.all(others)).toEqual(Array(2).fill({ allowed: true, source: 'review' }));
  });

  test('are paused for as long as the cluster asks, from the first one', async () => {
    const { clock, reviewer, authorizer, learn, failOnce } = create();
    await failOnce(getNode('a'), { status: { code: 429 }, retryAfterMs: 20_000 });
    await clock.advance(19_999);
    expect(await outcome(authorizer.authorize(alice, listNodes))).toEqual(UNAVAILABLE);
    expect(reviewer.reviews.length).toBe(1);
    await clock.advance(1);
    expect(await learn(true)).toEqual({ allowed: true, source: 'review' });
  });

  test.each([400, 413, 422])('for their own sake (%i) are no reason to pause the others', async (code) => {
    const { reviewer, learn, failOnce } = create();
    for (let round = 0; round < 3; round++) await failOnce(getNode('a'), { status: { code } });
    expect(await learn(true)).toEqual({ allowed: true, source: 'review' });
    expect(reviewer.reviews.length).toBe(4);
  });

  test('lengthen the pause once when they were begun together, and refuse at once all that wait for their turn', async () => {
    const { clock, reviewer, authorizer, learn } = create(UNSHARED);
    const answers = names(256).map((what) => outcome(authorizer.authorize(alice, what)));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(64);
    for (const review of reviewer.reviews.slice(0, 2)) review.fail();
    await clock.advance(0);
    expect(await Promise.all([...answers.slice(0, 2), ...answers.slice(66)])).toEqual(Array(192).fill(UNAVAILABLE));
    for (const review of reviewer.reviews) review.fail();
    await Promise.all(answers);
    const begun = reviewer.reviews.length;
    await clock.advance(1_200);
    expect(await learn(true)).toEqual({ allowed: true, source: 'review' });
    expect(reviewer.reviews.length).toBe(begun + 1);
  });
});

describe('access reviews that are wanted more than they can be made', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => getNode(`${index}`));
  const bob: Subject = { name: 'bob', uid: '2', groups: [] };

  test('A-49 are refused with 429 to the user who wants them, and counted as what that is', async () => {
    const { clock, reviewer, authorizer, count } = create();
    const flood = names(70).map((what) => outcome(authorizer.authorize(bob, what)));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(16);
    expect(await Promise.all(flood.slice(64))).toEqual(Array(6).fill(OVERLOADED));
    expect([await count('error', 'overload'), await count('error', 'review')]).toEqual([6, 0]);
  });

  test('A-49 are made at once for everybody else', async () => {
    const { clock, reviewer, authorizer } = create();
    for (const what of names(400)) void outcome(authorizer.authorize(bob, what));
    const others = Array.from({ length: 3 }, (_, index) => ({ ...alice, uid: `other ${index}` }));
    const answers = others.map((user) => authorizer.authorize(user, listNodes));
    await clock.advance(0);
    const made = reviewer.reviews.filter(({ subject }) => subject !== bob);
    expect(made.map(({ subject }) => subject)).toEqual(others);
    for (const review of made) review.answer(true);
    expect(await Promise.all(answers)).toEqual(Array(3).fill({ allowed: true, source: 'review' }));
  });

  test.each([true, false])('A-50 make no old answer good (allowed: %s)', async (allowed) => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(allowed);
    await clock.advance(10_000);
    const flood = names(64).map((what) => outcome(authorizer.authorize(alice, what)));
    expect(await outcome(authorizer.authorize(alice, listNodes))).toEqual(OVERLOADED);
    for (const review of reviewer.reviews) review.answer(false);
    await clock.advance(0);
    for (const review of reviewer.reviews) review.answer(false);
    await clock.advance(0);
    for (let round = 0; round < 4; round++) {
      for (const review of reviewer.reviews) review.answer(false);
      await clock.advance(0);
    }
    await Promise.all(flood);
    expect(await learn(false)).toEqual({ allowed: false, source: 'review' });
  });

  test('A-50 make no old answer good for a user who asks much while the cluster answers 429, and the others have their reviews', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    await clock.advance(10_000);
    for (const what of names(40)) void outcome(authorizer.authorize(alice, what));
    const old = outcome(authorizer.authorize(alice, listNodes));
    for (let second = 0; second < 20; second++) {
      await clock.advance(500);
      for (const review of reviewer.reviews)
        if (review.subject === alice) review.fail({ status: { code: 429 }, retryAfterMs: 1_000 });
    }
    expect(await old).toEqual(OVERLOADED);
    const other = authorizer.authorize(bob, listNodes);
    await clock.advance(0);
    reviewer.last.answer(true);
    expect(await other).toEqual({ allowed: true, source: 'review' });
  });

  test('A-50 make an old answer good for a user who asks nothing else while the cluster answers 429 to all', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    await clock.advance(10_000);
    const old = outcome(authorizer.authorize(alice, listNodes));
    await clock.advance(0);
    reviewer.last.fail({ status: { code: 429 }, retryAfterMs: 1_000 });
    expect(await old).toEqual({ allowed: true, source: 'stale' });
  });

  test('let at most 192 wait in all: the user with the most makes room for one with fewer', async () => {
    const { clock, reviewer, authorizer } = create();
    const users = Array.from({ length: 9 }, (_, index) => ({ ...alice, uid: `user ${index}` }));
    const answers = users.map((user) => names(40).map((what) => outcome(authorizer.authorize(user, what))));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(64);
    const late = outcome(authorizer.authorize({ ...alice, uid: 'late' }, listNodes));
    for (let index = 0; index < reviewer.reviews.length; index++) {
      reviewer.reviews[index]?.answer(true);
      await clock.advance(0);
    }
    expect(await late).toEqual({ allowed: true, source: 'review' });
    const refused = (await Promise.all(answers.flat())).filter((one) => (one as { code?: number }).code === 429);
    expect([refused.length, reviewer.reviews.length]).toEqual([9 * 40 + 1 - 256, 256]);
  });
});

describe('an answer in use', () => {
  test('is asked for again from 5 s on, behind the answer, by one review', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    await clock.advance(5_000);
    for (let call = 0; call < 20; call++)
      expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'cache' });
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(2);
    reviewer.last.answer(false);
    await clock.advance(0);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: false, source: 'cache' });
    expect(reviewer.reviews.length).toBe(2);
  });

  test('that nobody asks for any more is not asked for again', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    await clock.advance(4_999);
    void authorizer.authorize(alice, listNodes);
    await clock.advance(600_000);
    expect([reviewer.reviews.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  test('makes nobody wait for a cluster that hangs from one moment to the next', async () => {
    const { clock, authorizer, learn } = create();
    await learn(true);
    const sources = new Set<unknown>();
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      const decision = authorizer.authorize(alice, listNodes);
      expect(decision).not.toBeInstanceOf(Promise);
      sources.add((decision as Decision).source);
    }
    expect([...sources]).toEqual(['cache', 'stale']);
  });

  test('A-50 holds behind its 10 s for the one review that began before, and no longer than that may take', async () => {
    const { clock, reviewer, authorizer, learn } = create({ timeoutMs: 6_000 });
    await learn(true);
    await clock.advance(9_999);
    void authorizer.authorize(alice, listNodes);
    await clock.advance(1_000);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'cache' });
    reviewer.last.answer(false);
    await clock.advance(0);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: false, source: 'cache' });
  });

  test('A-50 is asked for again after a review that failed, and does not hold behind its 10 s for that one', async () => {
    const { clock, reviewer, authorizer, learn } = create();
    await learn(true);
    await clock.advance(5_000);
    void authorizer.authorize(alice, listNodes);
    await clock.advance(0);
    reviewer.last.fail();
    await clock.advance(5_000);
    const decision = authorizer.authorize(alice, listNodes);
    expect(decision).toBeInstanceOf(Promise);
    await clock.advance(0);
    reviewer.last.answer(false);
    expect(await decision).toEqual({ allowed: false, source: 'review' });
  });

  test('A-50 does not hold for as long as its review waits for a place', async () => {
    const { clock, reviewer, authorizer, learn } = create({ maxInFlightOfOne: 1 });
    await learn(true);
    await clock.advance(9_999);
    const before = authorizer.authorize(alice, getNode('a'));
    void authorizer.authorize(alice, listNodes); // is to be refreshed, and waits
    await clock.advance(2_000);
    reviewer.last.answer(true);
    await before;
    await clock.advance(1_000);
    expect(authorizer.authorize(alice, listNodes)).toEqual({ allowed: true, source: 'cache' });
    await clock.advance(1);
    const decision = authorizer.authorize(alice, listNodes);
    expect(decision).toBeInstanceOf(Promise);
    reviewer.last.answer(false);
    expect(await decision).toEqual({ allowed: false, source: 'review' });
  });
});

describe('mode AlwaysAllow', () => {
  test('allows at once, and counts it', async () => {
    const registry = new Registry();
    expect(createAlwaysAllow(registry).authorize(alice, listNodes)).toEqual({ allowed: true, source: 'always_allow' });
    const metric = await registry.getSingleMetric('gatehouse_authorization_decisions_total')?.get();
    expect(metric?.values).toContainEqual({ labels: { decision: 'allow', source: 'always_allow' }, value: 1 });
  });
});
