import { describe, expect, test } from 'vitest';
import { AUDIENCE, type Claims, createRobots, IDENTITY, outcomeOf, ROBOT, tokenOf } from './robots.ts';

const GOOD = { identity: IDENTITY, cached: false };
const KNOWN = { identity: IDENTITY, cached: true };
const unavailable = (retryAfterSeconds: number): object => ({
  code: 503,
  reason: 'ServiceUnavailable',
  message: 'service account tokens cannot be checked now',
  details: { retryAfterSeconds },
});
const TURNED_AWAY = {
  code: 429,
  reason: 'TooManyRequests',
  message: 'too many service account tokens are being checked, please try again later',
  details: { retryAfterSeconds: 1 },
};

/** Tokens of two service accounts in turn, which may have half of the seats each. */
const ofTwo = (index: number) => ({ sub: `system:serviceaccount:shop:robot-${index % 2}`, jti: `${index}` });

describe('a service account token', () => {
  test('is asked for with our audience, and is the account that the cluster names', async () => {
    const { reviewer, claimsOf, learn, count } = createRobots();
    expect(await learn(claimsOf())).toEqual(GOOD);
    expect(reviewer.last.audience).toBe(AUDIENCE);
    expect(await count('ok')).toBe(1);
  });

  test('is in system:authenticated, whether the cluster says so or not', async () => {
    const { claimsOf, learn } = createRobots();
    const verification = await learn(claimsOf(), { ...ROBOT, groups: ['system:serviceaccounts'] });
    expect(verification).toMatchObject({ identity: { groups: ['system:serviceaccounts', 'system:authenticated'] } });
  });

  test('is good at once for 10 s, then asked for again', async () => {
    const { clock, reviewer, claimsOf, learn, verify, count } = createRobots();
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(9_999);
    expect(verify(claims)).toEqual(KNOWN);
    expect(await count('cached')).toBe(1);
    await clock.advance(1);
    expect(await learn(claims)).toEqual(GOOD);
    expect(reviewer.reviews.length).toBe(2);
  });

  test('is refused as soon as the cluster refuses it', async () => {
    const { clock, claimsOf, learn, verify, refuse, count } = createRobots();
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(10_000);
    expect(await refuse(claims)).toEqual({ fault: 'invalid' });
    expect(verify(claims)).toEqual({ fault: 'invalid' });
    expect(await count('invalid')).toBe(2);
  });

  test('that was refused is refused at once for 10 s, then asked for again', async () => {
    const { clock, reviewer, claimsOf, learn, verify, refuse } = createRobots();
    const claims = claimsOf();
    await refuse(claims);
    await clock.advance(9_999);
    expect(verify(claims)).toEqual({ fault: 'invalid' });
    await clock.advance(1);
    expect(await learn(claims)).toEqual(GOOD);
    expect(reviewer.reviews.length).toBe(2);
  });

  test('is good no longer than it says, by a clock that jumps too', async () => {
    const { clock, reviewer, claimsOf, learn, verify, count } = createRobots();
    const claims = claimsOf({ exp: Math.floor(clock.now() / 1000) + 5 });
    await learn(claims);
    expect(verify(claims)).toEqual(KNOWN);
    clock.jumpWall(5_000);
    expect(verify(claims)).toEqual({ fault: 'expired' });
    expect([reviewer.reviews.length, await count('expired')]).toEqual([1, 1]);
  });

  test('is asked for once by twenty callers', async () => {
    const { clock, reviewer, claimsOf, verify } = createRobots();
    const claims = claimsOf();
    const answers = Array.from({ length: 20 }, () => verify(claims));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(1);
    reviewer.last.answer(ROBOT);
    expect(await Promise.all(answers)).toEqual(Array(20).fill(GOOD));
  });
});

describe('what is refused without a question', () => {
  test.each<[string, Claims]>([
    ['another audience', { aud: ['https://kubernetes.default.svc'] }],
    ['no audience', { aud: undefined }],
    ['an audience that begins like ours', { aud: `${AUDIENCE}/token` }],
    ['a user’s subject', { sub: 'ada' }],
    ['a node’s subject', { sub: 'system:node:a' }],
    ['a subject with more parts', { sub: 'system:serviceaccount:a:b:c' }],
    ['a subject without a name', { sub: 'system:serviceaccount:a:' }],
    ['no subject', { sub: undefined }],
    ['no end', { exp: undefined }],
    ['an end that is text', { exp: '9999999999' }],
  ])('is %s', async (_, change) => {
    const { reviewer, claimsOf, verify, count } = createRobots();
    expect(verify(claimsOf(change))).toEqual({ fault: 'invalid' });
    expect([reviewer.reviews.length, await count('invalid')]).toEqual([0, 1]);
  });

  test('is a token that is over', () => {
    const { clock, reviewer, claimsOf, verify } = createRobots();
    expect(verify(claimsOf({ exp: Math.floor(clock.now() / 1000) }))).toEqual({ fault: 'expired' });
    expect(reviewer.reviews.length).toBe(0);
  });

  test('is not our audience as text or among others', async () => {
    const { claimsOf, learn } = createRobots();
    expect(await learn(claimsOf({ aud: AUDIENCE }))).toEqual(GOOD);
    expect(await learn(claimsOf({ aud: ['other', AUDIENCE] }))).toEqual(GOOD);
  });
});

describe('while the cluster gives no answer', () => {
  test('an unknown token is neither good nor bad: 503 with Retry-After', async () => {
    const { clock, reviewer, claimsOf, verify } = createRobots();
    const outcome = outcomeOf(() => verify(claimsOf()));
    await clock.advance(0);
    reviewer.last.fail();
    expect(await outcome).toEqual(unavailable(5));
  });

  test('a failure is not remembered', async () => {
    const { clock, reviewer, claimsOf, verify, learn } = createRobots();
    const claims = claimsOf();
    const outcome = outcomeOf(() => verify(claims));
    await clock.advance(0);
    reviewer.last.fail();
    await outcome;
    expect(await learn(claims)).toEqual(GOOD);
  });

  test('a good token is good for a minute after the last answer', async () => {
    const { clock, reviewer, claimsOf, verify, learn } = createRobots();
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(59_999);
    const held = outcomeOf(() => verify(claims));
    await clock.advance(0);
    reviewer.last.fail();
    expect(await held).toEqual(KNOWN);
    await clock.advance(1);
    const lost = outcomeOf(() => verify(claims));
    await clock.advance(0);
    reviewer.last.fail();
    expect(await lost).toEqual(unavailable(5));
  });

  test('a good token is not good for longer because its minute ends while the cluster is asked', async () => {
    const { clock, reviewer, claimsOf, verify, learn } = createRobots();
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(58_000);
    const lost = outcomeOf(() => verify(claims));
    await clock.advance(2_000);
    reviewer.last.fail();
    expect(await lost).toEqual(unavailable(5));
  });

  test('a refused token is not refused on an old word', async () => {
    const { clock, reviewer, claimsOf, verify, refuse } = createRobots();
    const claims = claimsOf();
    await refuse(claims);
    await clock.advance(10_000);
    const outcome = outcomeOf(() => verify(claims));
    await clock.advance(0);
    reviewer.last.fail();
    expect(await outcome).toEqual(unavailable(5));
  });

  test('a review is given up after 3 s, and then no good token waits for the next', async () => {
    const { clock, reviewer, claimsOf, verify, learn } = createRobots();
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(10_000);
    const first = outcomeOf(() => verify(claims));
    await clock.advance(3_000);
    expect(reviewer.last.signal.aborted).toBe(true);
    expect(await first).toEqual(KNOWN);
    expect(verify(claims)).toEqual(KNOWN);
    await clock.advance(1_200); // a pause comes first
    expect(verify(claims)).toEqual(KNOWN);
    await clock.advance(0);
    reviewer.last.answer(undefined);
    await clock.advance(0);
    expect(verify(claims)).toEqual({ fault: 'invalid' });
  });

  test('says so once, and once when there are answers again', async () => {
    const { clock, lines, claimsOf, learn, failOnce } = createRobots();
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(10_000);
    for (let round = 0; round < 2; round++) await failOnce(claims);
    for (let round = 0; round < 2; round++) await failOnce(claimsOf({ jti: 'unknown' }));
    await clock.advance(1_200);
    await learn(claims);
    await learn(claimsOf({ jti: 'unknown' }));
    expect(lines).toEqual([
      'token reviews fail; known answers hold for a minute',
      'reviews of unknown tokens fail',
      'token reviews are answered again',
      'reviews of unknown tokens are answered again',
    ]);
  });
});

describe('token reviews that fail', () => {
  /** Robots with a good token that is to be asked for again. */
  const createKnown = async () => {
    const robots = createRobots();
    const known = robots.claimsOf({ jti: 'known' });
    await robots.learn(known);
    await robots.clock.advance(10_000);
    return { ...robots, known };
  };

  test('are paused from the second failure in a row: a good token is good at once, and nobody asks', async () => {
    const { clock, reviewer, known, verify, failOnce, count } = await createKnown();
    expect(await failOnce(known)).toEqual(KNOWN);
    expect(await failOnce(known)).toEqual(KNOWN);
    await clock.advance(1_199); // 0.8 s and half of it as jitter, less a millisecond
    for (let call = 0; call < 100; call++) expect(verify(known)).toEqual(KNOWN);
    await clock.advance(0);
    expect([reviewer.reviews.length, await count('cached')]).toEqual([3, 102]);
  });

  test('of unknown tokens are paused, too: the next is 503 at once, and nobody asks', async () => {
    const { clock, reviewer, claimsOf, verify, failOnce } = createRobots();
    for (const jti of ['1', '2']) expect(await failOnce(claimsOf({ jti }))).toEqual(unavailable(5));
    await clock.advance(1_199);
    const refused = Array.from({ length: 100 }, (_, index) => outcomeOf(() => verify(claimsOf({ jti: `${index}` }))));
    expect(await Promise.all(refused)).toEqual(Array(100).fill(unavailable(5)));
    expect(reviewer.reviews.length).toBe(2);
  });

  test('are tried by one probe at a time, 5 s apart at most', async () => {
    const { clock, reviewer, claimsOf, verify, failOnce } = createRobots();
    const claims = claimsOf();
    for (let round = 0; round < 2; round++) await failOnce(claims);
    for (const pauseMs of [1_200, 2_400, 4_800, 5_000, 5_000]) {
      const before = reviewer.reviews.length;
      await clock.advance(pauseMs - 1);
      expect(await outcomeOf(() => verify(claims))).toEqual(unavailable(5));
      expect(reviewer.reviews.length).toBe(before);
      await clock.advance(1);
      const probe = outcomeOf(() => verify(claims));
      const others = [claims, claimsOf({ jti: 'other' })].map((one) => outcomeOf(() => verify(one)));
      expect(await Promise.all(others)).toEqual([unavailable(5), unavailable(5)]); // while the probe is under way
      expect(reviewer.reviews.length).toBe(before + 1);
      reviewer.last.fail();
      await probe;
    }
  });

  test('are asked for freely again once a probe is answered', async () => {
    const { clock, reviewer, claimsOf, learn, verify, failOnce } = createRobots();
    for (const jti of ['1', '2']) await failOnce(claimsOf({ jti }));
    await clock.advance(1_200);
    expect(await learn(claimsOf())).toEqual(GOOD);
    const others = Array.from({ length: 10 }, (_, index) => verify(claimsOf(ofTwo(index))));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(13);
    for (const review of reviewer.reviews) review.answer(ROBOT);
    expect(await Promise.all(others)).toEqual(Array(10).fill(GOOD));
  });

  test('are paused for as long as the cluster asks, from the first one', async () => {
    const { clock, reviewer, claimsOf, learn, verify, failOnce } = createRobots();
    await failOnce(claimsOf(), { status: { code: 429 }, retryAfterMs: 20_000 });
    await clock.advance(19_999);
    expect(await outcomeOf(() => verify(claimsOf()))).toEqual(unavailable(5));
    expect(reviewer.reviews.length).toBe(1);
    await clock.advance(1);
    expect(await learn(claimsOf())).toEqual(GOOD);
  });

  test('or hang for unknown tokens leave those of good ones as they were', async () => {
    const { clock, reviewer, known, claimsOf, verify, learn } = await createKnown();
    const flood = Array.from({ length: 80 }, (_, index) => outcomeOf(() => verify(claimsOf(ofTwo(index)))));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(17); // all the seats of unknown ones
    expect(await learn(known)).toEqual(GOOD);
    await clock.advance(3_000);
    expect(await Promise.all(flood)).toEqual(Array(80).fill(unavailable(5)));
    await clock.advance(7_000);
    expect(await learn(known)).toEqual(GOOD);
  });
});

describe('a signature', () => {
  test('that is bad is refused at once: the cluster is not asked', async () => {
    const { reviewer, keys, claimsOf, verify, count } = createRobots();
    keys.verdict = 'bad';
    expect(verify(claimsOf())).toEqual({ fault: 'invalid' });
    expect([reviewer.reviews.length, await count('invalid')]).toEqual([0, 1]);
  });

  test('is not looked at where the claims rule the token out, nor of a token that is known to be good', async () => {
    const { clock, keys, claimsOf, learn, verify } = createRobots();
    await verify(claimsOf({ sub: 'ada' }));
    expect(keys.sources.length).toBe(0);
    const claims = claimsOf();
    await learn(claims);
    await clock.advance(10_000);
    await learn(claims);
    expect(keys.sources.length).toBe(1);
  });

  test('is waited for, and then the cluster is asked', async () => {
    const { clock, reviewer, keys, claimsOf, verify } = createRobots();
    const signature = Promise.withResolvers<'good'>();
    keys.verdict = signature.promise;
    const outcome = outcomeOf(() => verify(claimsOf()));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(0);
    signature.resolve('good');
    await clock.advance(0);
    reviewer.last.answer(ROBOT);
    expect(await outcome).toEqual(GOOD);
  });

  test('by a key that cannot be looked for now is neither good nor bad', async () => {
    const { reviewer, keys, claimsOf, verify } = createRobots();
    keys.verdict = 'unavailable';
    expect(await outcomeOf(() => verify(claimsOf()))).toEqual(unavailable(5));
    keys.verdict = 'overloaded';
    expect(await outcomeOf(() => verify(claimsOf()))).toEqual(TURNED_AWAY);
    expect(reviewer.reviews.length).toBe(0);
  });

  test('A-51 that is bad, or by an unknown key, takes nothing from those that are good', async () => {
    const robots = createRobots();
    const { clock, reviewer, keys, claimsOf, learn, verify } = robots;
    keys.verdict = 'bad';
    for (let index = 0; index < 5_000; index++) await verify(claimsOf({ jti: `${index}` }));
    keys.verdict = 'good';
    const outcomes = Array.from({ length: 80 }, (_, index) => outcomeOf(() => verify(claimsOf(ofTwo(index)))));
    await clock.advance(0);
    expect(reviewer.reviews.length).toBe(16); // every seat, and then every place in the queue
    await robots.endFrom(0, (review) => review.answer(ROBOT));
    expect(await Promise.all(outcomes)).toEqual(Array(80).fill(GOOD));
    await clock.advance(10_000);
    expect(await learn(claimsOf())).toEqual(GOOD);
  });
});

describe('a flood of tokens that are not known', () => {
  const flood = ({ claimsOf, verify }: ReturnType<typeof createRobots>, size: number) =>
    Array.from({ length: size }, (_, index) => outcomeOf(() => verify(claimsOf(ofTwo(index)))));
  const other = { sub: 'system:serviceaccount:shop:other' };

  test('has at most 16 reviews in flight and 64 waiting; the next is 429 at once', async () => {
    const robots = createRobots();
    const outcomes = flood(robots, 81);
    await robots.clock.advance(0);
    expect(robots.reviewer.reviews.length).toBe(16);
    expect([await outcomes[80], await robots.count('overloaded')]).toEqual([TURNED_AWAY, 1]);
    await robots.endFrom(0, (review) => review.answer(ROBOT));
    expect(await Promise.all(outcomes.slice(0, 80))).toEqual(Array(80).fill(GOOD));
  });

  test('of one service account leaves the next turn, and a place to wait for it, to another one', async () => {
    const robots = createRobots();
    const outcomes = Array.from({ length: 80 }, (_, index) =>
      outcomeOf(() => robots.verify(robots.claimsOf({ jti: `${index}` }))),
    );
    await robots.clock.advance(0);
    const late = outcomeOf(() => robots.verify(robots.claimsOf(other)));
    expect(await outcomes[79]).toEqual(TURNED_AWAY);
    robots.reviewer.reviews[0]?.answer(ROBOT);
    await robots.clock.advance(0); // the one that has waited longest
    robots.reviewer.reviews[1]?.answer(ROBOT);
    await robots.clock.advance(0);
    expect(robots.reviewer.reviews.map(({ token }) => token).indexOf(tokenOf(robots.claimsOf(other)))).toBe(17);
    await robots.endFrom(0, (review) => review.answer(ROBOT));
    expect(await late).toEqual(GOOD);
  });

  test('is counted each time and logged once, again after 10 s without', async () => {
    const robots = createRobots();
    const line = 'service account tokens are refused: too many are new at once';
    const outcomes = flood(robots, 90);
    await robots.clock.advance(0);
    expect([await robots.count('overloaded'), robots.lines]).toEqual([10, [line]]);
    await robots.clock.advance(2_900); // their time is not over yet
    const more = outcomeOf(() => robots.verify(robots.claimsOf(ofTwo(1_000))));
    await robots.clock.advance(0);
    expect([await more, robots.lines]).toEqual([TURNED_AWAY, [line]]);
    await robots.endFrom(0, (review) => review.answer(ROBOT));
    await Promise.all(outcomes);
    await robots.clock.advance(10_000);
    flood(robots, 81);
    await robots.clock.advance(0);
    expect(robots.lines).toEqual([line, line]);
  });

  test('of one service account costs the cluster 10 refusals a second, and the others nothing', async () => {
    const robots = createRobots();
    for (let index = 0; index < 10; index++) await robots.refuse(robots.claimsOf({ jti: `${index}` }));
    const unknown = robots.claimsOf({ jti: 'unknown' });
    expect(await outcomeOf(() => robots.verify(unknown))).toEqual(TURNED_AWAY);
    expect(robots.reviewer.reviews.length).toBe(10);
    expect(await robots.learn(robots.claimsOf(other))).toEqual(GOOD);
    await robots.clock.advance(1_000);
    await robots.refuse(robots.claimsOf({ jti: 'vain' })); // the first of another ten
    expect(await robots.learn(unknown)).toEqual(GOOD);
  });

  test('of many service accounts leaves a first question in a second to each', async () => {
    const robots = createRobots();
    const claims = (account: number, jti: number) =>
      robots.claimsOf({ sub: `system:serviceaccount:shop:a${account}`, jti: `${jti}` });
    for (let account = 0; account < 5; account++)
      for (let jti = 0; jti < 10; jti++) await robots.refuse(claims(account, jti));
    await robots.refuse(robots.claimsOf(other));
    expect(await outcomeOf(() => robots.verify(robots.claimsOf({ ...other, jti: '2' })))).toEqual(TURNED_AWAY);
    expect(await robots.learn(robots.claimsOf())).toEqual(GOOD);
  });

  test('whose signatures cannot be checked costs the cluster 50 refusals a second, whatever names it gives', async () => {
    const robots = createRobots();
    robots.keys.verdict = 'unproven';
    for (let index = 0; index < 50; index++)
      await robots.refuse(robots.claimsOf({ sub: `system:serviceaccount:shop:a${index}` }));
    const unknown = robots.claimsOf({ jti: 'unknown' });
    expect(await outcomeOf(() => robots.verify(unknown))).toEqual(TURNED_AWAY);
    expect(robots.reviewer.reviews.length).toBe(50);
    await robots.clock.advance(1_000);
    expect(await robots.learn(unknown)).toEqual(GOOD);
  });

  test('costs a cluster that calls the questions themselves wrong no more', async () => {
    const robots = createRobots();
    for (let index = 0; index < 10; index++)
      await robots.failOnce(robots.claimsOf({ jti: `${index}` }), { status: { code: 400 } });
    expect(await outcomeOf(() => robots.verify(robots.claimsOf()))).toEqual(TURNED_AWAY);
    expect(robots.reviewer.reviews.length).toBe(10);
  });

  test('that the cluster leaves without an answer is 503: its silence is not our overload', async () => {
    const robots = createRobots();
    const outcomes = flood(robots, 80);
    await robots.clock.advance(0);
    await robots.endFrom(0, (review) => review.fail());
    expect(await Promise.all(outcomes)).toEqual(Array(80).fill(unavailable(5))); // the 64 that waited, too
    expect(await outcomeOf(() => robots.verify(robots.claimsOf(ofTwo(1_000))))).toEqual(unavailable(5));
    expect(await robots.count('overloaded')).toBe(0);
  });

  test('does not keep a token known to be good from being asked for again', async () => {
    const robots = createRobots();
    const claims = robots.claimsOf();
    await robots.learn(claims);
    await robots.clock.advance(10_000);
    for (let index = 0; index < 10; index++) await robots.refuse(robots.claimsOf({ jti: `${index}` }));
    expect(await robots.learn(claims)).toEqual(GOOD);
  });
});

describe('more good tokens to be asked for again than may be', () => {
  test('are 429 beyond the seats, never an old yes', async () => {
    const robots = createRobots();
    const all = Array.from({ length: 81 }, (_, index) => robots.claimsOf(ofTwo(index)));
    for (const claims of all) await robots.learn(claims);
    await robots.clock.advance(10_000);
    const outcomes = all.map((claims) => outcomeOf(() => robots.verify(claims)));
    await robots.clock.advance(0);
    expect([await outcomes[80], await robots.count('overloaded')]).toEqual([TURNED_AWAY, 1]);
    await robots.endFrom(81, (review) => review.answer(undefined));
    expect(await Promise.all(outcomes.slice(0, 80))).toEqual(Array(80).fill('invalid'));
  });

  test('that waited when the cluster began to fail are good for their minute', async () => {
    const robots = createRobots();
    const all = Array.from({ length: 20 }, (_, index) => robots.claimsOf({ jti: `${index}` }));
    for (const claims of all) await robots.learn(claims);
    await robots.clock.advance(10_000);
    const outcomes = all.map((claims) => outcomeOf(() => robots.verify(claims)));
    await robots.clock.advance(0);
    await robots.endFrom(20, (review) => review.fail());
    expect(await Promise.all(outcomes)).toEqual(Array(20).fill(KNOWN));
  });
});
