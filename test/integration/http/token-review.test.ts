import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ORIGIN, signInAlice } from '../../unit/oauth/test-server.ts';
import { type ReviewUnderTest, startReview, V1, withOwn } from './review-under-test.ts';

const AUDIENCE = 'https://gatehouse.example.com/oauth';
const NO = `{"apiVersion":"${V1}","kind":"TokenReview","status":{"authenticated":false}}`;
const yes = (more = '', apiVersion = V1): string =>
  `{"apiVersion":"${apiVersion}","kind":"TokenReview","status":{"authenticated":true,"user":{"username":"alice","uid":"uid-of-alice","groups":["developers"]}${more}}}`;

let under: ReviewUnderTest;
beforeAll(async () => {
  under = await startReview();
});
afterAll(() => under.app.stop());

const review = (token: unknown): object => ({ apiVersion: V1, kind: 'TokenReview', spec: { token } });

describe('a good access token', () => {
  test.each([V1, 'authentication.k8s.io/v1beta1'])('N-58 is answered in %s', async (apiVersion) => {
    const answer = await under.post({ apiVersion, kind: 'TokenReview', spec: { token: under.token } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(answer.text).toBe(yes('', apiVersion));
  });

  test('N-58 is answered to the body that an API server sends, its empty members included', async () => {
    const body = {
      ...{ kind: 'TokenReview', apiVersion: V1, metadata: { creationTimestamp: null } },
      ...{ spec: { token: under.token, audiences: null }, status: { user: {} } },
    };
    const answer = await under.post(body, { headers: { 'Content-Type': 'application/json; charset=utf-8' } });
    expect(answer.text).toBe(yes());
  });

  test.each(['charset=ISO-8859-1', 'charset=utf8', 'odata=verbose; charset="us-ascii"'])(
    'N-58 ignores the parameter %s of the media type, as the API server does with JSON',
    async (parameter) => {
      const body = { apiVersion: V1, kind: 'TokenReview', spec: { token: under.token } };
      const answer = await under.post(body, { headers: { 'Content-Type': `application/json; ${parameter}` } });
      expect(answer.text).toBe(yes());
    },
  );

  test('N-58 is good for those of the audiences that it has', async () => {
    const audiences = ['https://kubernetes.default.svc', AUDIENCE, AUDIENCE];
    expect(await under.review(under.token, { audiences })).toBe(yes(`,"audiences":["${AUDIENCE}"]`));
    expect(await under.review(under.token, { audiences: [] })).toBe(yes());
  });

  test('N-58 has the groups of today, never those of the cluster itself', async () => {
    await withOwn(async ({ oauth, token, review }) => {
      const alice = oauth.users.get('alice');
      if (!alice) throw new Error('alice is missing');
      const groups = ['system:masters', 'kubeadm:cluster-admins', 'operators'];
      oauth.users.set('alice', { ...alice, groups });
      expect(await review(token)).toContain('"groups":["operators"]');
    });
  });

  test.each([1, 4, 8, 9, 300])('N-58 has all of %i groups, in their order', async (count) => {
    await withOwn(async ({ oauth, token, review }) => {
      const groups = Array.from({ length: count }, (_, at) => `group-${at}`);
      const alice = oauth.users.get('alice');
      if (!alice) throw new Error('alice is missing');
      oauth.users.set('alice', { ...alice, groups });
      expect(JSON.parse(await review(token)).status.user.groups).toEqual(groups);
    });
  });

  test('N-58 is judged anew each time, and never kept', async () => {
    await withOwn(async ({ oauth, token, review }) => {
      expect(await review(token)).toBe(yes());
      await oauth.server.logout({ ...ORIGIN, method: 'GET', queryString: '', authorization: `Bearer ${token}` });
      expect(await review(token)).toBe(NO);
    });
  });
});

describe('any other token', () => {
  test.each(['garbage', '', 'a.b.c', 'e30.e30.e30', 'a b', '\u0000', '\ud800', 'é'.repeat(100)])(
    'N-59 %j is nobody’s',
    async (token) => {
      const answer = await under.post(review(token));
      expect([answer.status, answer.text]).toEqual([200, NO]);
    },
  );

  test('N-59 none at all is nobody’s: an API server leaves an empty one out', async () => {
    expect((await under.post({ apiVersion: V1, kind: 'TokenReview', spec: {} })).text).toBe(NO);
  });

  test('N-59 one with another signature is nobody’s', async () => {
    const other = `${under.token.slice(0, -4)}${under.token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    expect(await under.review(other)).toBe(NO);
  });

  test('N-59 a refresh token is nobody’s', async () => {
    const { refresh_token } = await signInAlice(under.oauth);
    expect(await under.review(refresh_token)).toBe(NO);
  });

  test('N-59 one for other audiences is nobody’s', async () => {
    const audiences = ['https://kubernetes.default.svc'];
    expect(await under.review(under.token, { audiences })).toBe(NO);
  });

  test('N-59 an expired one is nobody’s', async () => {
    await withOwn(async ({ oauth, token, review }) => {
      await oauth.clock.advance(7_211_000);
      expect(await review(token)).toBe(NO);
    });
  });

  test.each(['Disabled', 'deleted'])('N-59 that of a user who is %s is nobody’s', async (state) => {
    await withOwn(async ({ oauth, token, review }) => {
      const alice = oauth.users.get('alice');
      oauth.users.delete('alice');
      if (state === 'Disabled' && alice) oauth.users.set('alice', { ...alice, state: 'Disabled' });
      expect(await review(token)).toBe(NO);
    });
  });

  test('N-59 a throttle ends no token', async () => {
    await withOwn(async ({ oauth, token, review }) => {
      const alice = oauth.users.get('alice');
      if (alice) oauth.users.set('alice', { ...alice, state: 'AuthLimitExceeded' });
      expect(await review(token)).toBe(yes());
    });
  });

  test('A-20 one that is longer than 8 KiB is not looked at', async () => {
    const before = under.verified();
    expect(await under.review('a'.repeat(60_000))).toBe(NO);
    expect(await under.review('a'.repeat(8_193))).toBe(NO);
    expect(under.verified()).toBe(before);
    await under.review('a'.repeat(8_192));
    expect(under.verified()).toBe(before + 1);
  });
});

describe('what was found bad', () => {
  test('A-44 is known for 10 s and then judged anew', async () => {
    await withOwn(async ({ oauth, verified, review }) => {
      for (let time = 0; time < 5; time++) expect(await review('e30.e30.e30')).toBe(NO);
      expect(verified()).toBe(1);
      await oauth.clock.advance(9_999);
      await review('e30.e30.e30');
      expect(verified()).toBe(1);
      await oauth.clock.advance(1);
      await review('e30.e30.e30');
      expect(verified()).toBe(2);
    });
  });

  test('A-44 is taken at most 10 s after its key has arrived', async () => {
    const arrived = { key: false };
    await withOwn(
      async ({ oauth, token, review }) => {
        expect(await review(token)).toBe(NO);
        arrived.key = true;
        await oauth.clock.advance(9_999);
        expect(await review(token)).toBe(NO);
        await oauth.clock.advance(1);
        expect(await review(token)).toBe(yes());
      },
      { fault: () => (arrived.key ? undefined : 'invalid') },
    );
  });

  test('A-44 is known of a user who was disabled for no longer than the user is', async () => {
    await withOwn(async ({ oauth, token, review }) => {
      const alice = oauth.users.get('alice');
      if (!alice) throw new Error('alice is missing');
      oauth.users.set('alice', { ...alice, state: 'Disabled' });
      expect(await review(token)).toBe(NO);
      oauth.users.set('alice', alice);
      expect(await review(token)).toBe(yes());
    });
  });
});

describe('a token review', () => {
  test('counts its answers by a few words', async () => {
    await withOwn(async ({ oauth, token, post, review }) => {
      await review(token);
      await review(token, { audiences: ['x'] });
      await review('garbage');
      await post('{');
      await post('{}', { headers: { Authorization: '' } });
      const page = await oauth.registry.getSingleMetricAsString('gatehouse_token_reviews_total');
      const counted = page.split('\n').filter((line) => !line.startsWith('#') && !line.endsWith(' 0'));
      expect(counted.sort()).toEqual([
        'gatehouse_token_reviews_total{result="authenticated"} 1',
        'gatehouse_token_reviews_total{result="invalid"} 1',
        'gatehouse_token_reviews_total{result="invalid_client"} 1',
        'gatehouse_token_reviews_total{result="invalid_request"} 1',
        'gatehouse_token_reviews_total{result="other_audience"} 1',
      ]);
    });
  });
});
