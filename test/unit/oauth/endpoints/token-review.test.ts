import { describe, expect, test } from 'vitest';
import type { CallerAuthenticationOptions } from '../../../../src/oauth/endpoints/caller-authentication.ts';
import {
  createTokenReviewWebhook,
  type TokenReviewWebhookParts,
} from '../../../../src/oauth/endpoints/token-review.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { newTestServer, refusalOf, signInAlice, type TestServer } from '../test-server.ts';

const V1 = 'authentication.k8s.io/v1';
const ORIGIN = { source: '192.0.2.9', requestId: 'r-9' };
const BY_BEARER = { ...ORIGIN, askedBy: 'bearer' as const };
const HEAD = {
  ...ORIGIN,
  contentType: 'application/json',
  authorization: 'Bearer caller',
  certificateNames: [],
  hasShownCertificate: false,
};

/** The webhook beside a whole authorization server, and how often a token was looked into. */
async function start(
  change: Partial<TokenReviewWebhookParts> = {},
  options: Partial<CallerAuthenticationOptions> = {},
) {
  const oauth: TestServer = await newTestServer();
  const { access_token: token } = await signInAlice(oauth);
  const seen = { inspected: 0 };
  oauth.lines.length = 0;
  const reviews = createTokenReviewWebhook(
    { platform: 'gatehouse', callerAuth: 'required', clientNames: ['front'], ...options },
    {
      ...oauth,
      verifier: {
        inspect: (text) => {
          seen.inspected++;
          return oauth.verifier.inspect(text);
        },
      },
      callerToken: () => 'caller',
      random: systemRandom,
      ...change,
    },
  );
  const review = (spec: object, origin = BY_BEARER) =>
    reviews.review(Buffer.from(JSON.stringify({ apiVersion: V1, kind: 'TokenReview', spec })), origin);
  const counted = async (start: string): Promise<string[]> =>
    (await oauth.registry.metrics()).split('\n').filter((line) => line.startsWith(start) && !line.endsWith(' 0'));
  return { oauth, token, reviews, review, counted, seen };
}

const withoutTime = (lines: readonly Record<string, unknown>[]): Record<string, unknown>[] =>
  lines.map(({ time: _, pid: __, hostname: ___, level: ____, ...line }) => line);

describe('the caller of a review (R-22)', () => {
  test('is let in by its bearer or its certificate, and leaves no line', async () => {
    const { reviews, oauth } = await start();
    expect(reviews.checkHead(HEAD)).toBe('bearer');
    const front = { ...HEAD, authorization: undefined, certificateNames: ['front'], hasShownCertificate: true };
    expect(reviews.checkHead(front)).toBe('certificate');
    expect(oauth.lines).toEqual([]);
  });

  test('that may not ask is refused, counted, and written into the audit trail with the reason', async () => {
    const { reviews, oauth, counted } = await start();
    const refusal = await refusalOf(() =>
      reviews.checkHead({ ...HEAD, authorization: 'Bearer wrong', contentType: 'x' }),
    );
    expect(refusal).toMatchObject({ status: 401, code: 'invalid_client' });
    expect(withoutTime(oauth.lines)).toMatchObject([
      { event: 'client_refused', result: 'refused', ...ORIGIN, endpoint: 'authenticate', reason: 'wrong_bearer' },
    ]);
    expect(oauth.lines).toHaveLength(1);
    expect(await counted('gatehouse_token_reviews_total')).toEqual([
      'gatehouse_token_reviews_total{result="invalid_client"} 1',
    ]);
    expect(await counted('gatehouse_client_authentication_failures_total')).toEqual([
      'gatehouse_client_authentication_failures_total{reason="wrong_bearer"} 1',
    ]);
  });

  test('has to send JSON', async () => {
    const { reviews, oauth } = await start();
    for (const contentType of [undefined, 'text/plain', 'application/jsonl; charset=utf-8']) {
      const refusal = await refusalOf(() => reviews.checkHead({ ...HEAD, contentType }));
      expect(refusal).toMatchObject({ status: 400, description: 'the body must be application/json in UTF-8' });
    }
    expect(oauth.lines).toEqual([]);
  });
});

describe('a review', () => {
  test('A-23 is read with 32 levels, and refused with one more', async () => {
    const { reviews } = await start();
    const bodyOf = (levels: number): Buffer => {
      const deep = '['.repeat(levels - 1) + ']'.repeat(levels - 1);
      return Buffer.from(`{"apiVersion":"${V1}","kind":"TokenReview","spec":{"token":"x"},"deep":${deep}}`);
    };
    expect(reviews.review(bodyOf(32), BY_BEARER)).toMatchObject({ status: { authenticated: false } });
    const refusal = await refusalOf(() => reviews.review(bodyOf(33), BY_BEARER));
    expect(refusal).toMatchObject({
      status: 400,
      description: 'the body is not one JSON object without repeated names',
    });
  });

  test('N-58 of a good token names its user, and leaves one line with whose it is', async () => {
    const { review, oauth, token, counted } = await start();
    const user = { username: 'alice', uid: 'uid-of-alice', groups: ['developers'] };
    expect(review({ token })).toEqual({
      apiVersion: V1,
      kind: 'TokenReview',
      status: { authenticated: true, user },
    });
    expect(withoutTime(oauth.lines)).toMatchObject([
      {
        event: 'token_review',
        result: 'authenticated',
        user: 'alice',
        clientId: 'console',
        sid: expect.any(String),
        askedBy: 'bearer',
        ...ORIGIN,
      },
    ]);
    expect(oauth.lines).toHaveLength(1);
    expect(await counted('gatehouse_token_reviews_total')).toEqual([
      'gatehouse_token_reviews_total{result="authenticated"} 1',
    ]);
  });

  test('N-58 of certain audiences names those that the token has, once, and is no without any', async () => {
    const { review, token, counted, oauth } = await start();
    const own = 'https://gatehouse.example.com/oauth';
    expect(review({ token, audiences: ['https://other', own, own] }).status).toMatchObject({ audiences: [own] });
    expect(review({ token, audiences: ['https://other'] }).status).toEqual({ authenticated: false });
    expect(await counted('gatehouse_token_reviews_total')).toEqual([
      'gatehouse_token_reviews_total{result="authenticated"} 1',
      'gatehouse_token_reviews_total{result="other_audience"} 1',
    ]);
    expect(oauth.lines[1]).toMatchObject({ result: 'other_audience', user: 'alice' });
  });

  test('N-59 of a bad token is no, without a name, and costs cryptography once', async () => {
    const { review, oauth, seen } = await start();
    for (let time = 0; time < 3; time++) expect(review({ token: 'a.b.c' }).status).toEqual({ authenticated: false });
    expect(seen.inspected).toBe(1);
    expect(oauth.lines).toHaveLength(3);
    expect(oauth.lines[2]).toMatchObject({ event: 'token_review', result: 'invalid', askedBy: 'bearer' });
    expect(oauth.lines[2]).not.toHaveProperty('user');
  });

  test('N-59 of a revoked token is looked into each time, since that may change', async () => {
    const { review, oauth, token, seen } = await start();
    await oauth.server.logout({ ...ORIGIN, method: 'GET', queryString: '', authorization: `Bearer ${token}` });
    for (let time = 0; time < 2; time++) expect(review({ token }).status).toEqual({ authenticated: false });
    expect(seen.inspected).toBe(2);
    expect(oauth.lines.at(-1)).toMatchObject({ result: 'revoked' });
  });

  test('A-20 of a text that is too long is no, without a look', async () => {
    const { review, seen } = await start();
    expect(review({ token: 'a'.repeat(8_193) }).status).toEqual({ authenticated: false });
    expect(seen.inspected).toBe(0);
    review({ token: 'a'.repeat(8_192) });
    expect(seen.inspected).toBe(1);
  });

  test('that is none is refused, and counted as such', async () => {
    const { reviews, oauth, counted } = await start();
    const refusal = await refusalOf(() => reviews.review(Buffer.from('{}'), BY_BEARER));
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(oauth.lines).toMatchObject([{ event: 'token_review', result: 'refused', reason: 'invalid_request' }]);
    expect(await counted('gatehouse_token_reviews_total')).toEqual([
      'gatehouse_token_reviews_total{result="invalid_request"} 1',
    ]);
  });

  test('gives no answer while not every user is known', async () => {
    const { review, token, oauth } = await start();
    oauth.missing.users = 'the users are not loaded yet';
    expect(await refusalOf(() => review({ token }))).toMatchObject({ status: 503 });
    expect(oauth.lines).toMatchObject([{ event: 'token_review', result: 'failed' }]);
  });
});
