import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSigningKeys } from '../../../src/oauth/keys/signing-keys.ts';
import { createTokenData } from '../../../src/oauth/token-data.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizesAsync, type Sizes } from '../../support/property.ts';
import { keyOptions, newTestServer } from '../../unit/oauth/test-server.ts';
import { CALLER, type ReviewUnderTest, startReview, V1, withOwn } from './review-under-test.ts';

const invalid = (description: string): string => `{"error":"invalid_request","error_description":"${description}"}`;
const NOT_JSON = invalid('the body is not one JSON object without repeated names');
const NOT_REVIEW = invalid('the body is not a TokenReview of authentication.k8s.io/v1 or v1beta1');
const UNKNOWN_CALLER = '{"error":"invalid_client","error_description":"caller authentication failed"}';
const UNAVAILABLE = '{"error":"server_error","error_description":"the server cannot answer now; try again"}';

let under: ReviewUnderTest;
beforeAll(async () => {
  under = await startReview();
});
afterAll(() => under.app.stop());

const review = (spec: unknown): object => ({ apiVersion: V1, kind: 'TokenReview', spec });

describe('data of ours that is missing', () => {
  async function expectUnavailable({ post, token }: ReviewUnderTest, text = token): Promise<void> {
    const answer = await post(review({ token: text }));
    expect([answer.status, answer.text]).toEqual([503, UNAVAILABLE]);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }

  test('N-60 signing keys that are not loaded are 503, for a bad token too', async () => {
    const { secrets, clock } = await newTestServer();
    const shared = {
      secrets,
      clock,
      random: systemRandom,
      logger: pino({ level: 'silent' }),
      registry: new Registry(),
    };
    const parts = { ...shared, events: { report: () => {} } };
    const keys = createSigningKeys({ ...keyOptions, secretName: 'never-read' }, parts);
    await withOwn(
      async (own) => {
        await expectUnavailable(own);
        await expectUnavailable(own, 'garbage');
      },
      { data: createTokenData([keys], clock) },
    );
  });

  test('N-60 session records that are not current are 503, and a good token is good again afterwards', async () => {
    await withOwn(async (own) => {
      expect(await own.review('judged.before.this')).toContain('"authenticated":false');
      own.oauth.sessions.unknown = 'the records are not followed';
      await expectUnavailable(own);
      for (const bad of ['garbage', 'judged.before.this']) await expectUnavailable(own, bad);
      own.oauth.sessions.unknown = undefined;
      expect(await own.review(own.token)).toContain('"authenticated":true');
    });
  });

  test('N-60 users who are not all known are 503, whoever is asked about', async () => {
    await withOwn(async (own) => {
      expect(await own.review(own.token)).toContain('"authenticated":true');
      own.oauth.missing.users = 'not read yet';
      await expectUnavailable(own);
      await expectUnavailable(own, 'garbage');
    });
  });
});

describe('a body that asks nothing', () => {
  test.each([
    ['', NOT_JSON],
    ['{"spec":', NOT_JSON],
    ['[]', NOT_JSON],
    ['null', NOT_JSON],
    ['"x"', NOT_JSON],
    ['{} {}', NOT_JSON],
    ['{}', NOT_REVIEW],
    [`{"apiVersion":"${V1}","kind":"TokenRequest","spec":{"token":"x"}}`, NOT_REVIEW],
    ['{"apiVersion":"authentication.k8s.io/v2","kind":"TokenReview","spec":{"token":"x"}}', NOT_REVIEW],
    ['{"apiVersion":"v1","kind":"TokenReview","spec":{"token":"x"}}', NOT_REVIEW],
    [`{"apiVersion":["${V1}"],"kind":"TokenReview","spec":{"token":"x"}}`, NOT_REVIEW],
    [`{"apiVersion":"${V1}","kind":"TokenReview"}`, invalid('the member spec is not an object')],
    [`{"apiVersion":"${V1}","kind":"TokenReview","spec":[]}`, invalid('the member spec is not an object')],
    [`{"apiVersion":"${V1}","kind":"TokenReview","spec":{"token":1}}`, invalid('the member spec.token is not a text')],
    [
      `{"apiVersion":"${V1}","kind":"TokenReview","spec":{"token":"x","audiences":"a"}}`,
      invalid('the member spec.audiences is not a list of texts'),
    ],
    [
      `{"apiVersion":"${V1}","kind":"TokenReview","spec":{"token":"x","audiences":[1]}}`,
      invalid('the member spec.audiences is not a list of texts'),
    ],
  ])('N-61 %j is 400', async (body, text) => {
    const answer = await under.post(body);
    expect([answer.status, answer.text]).toEqual([400, text]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'application/jsonl; charset=utf-8', ''])(
    'N-61 the content type %j is 400',
    async (type) => {
      const answer = await under.post('{}', { headers: { 'Content-Type': type } });
      expect([answer.status, answer.text]).toEqual([400, invalid('the body must be application/json in UTF-8')]);
    },
  );

  test('N-61 a body of 64 KiB is read, one byte more is 413', async () => {
    const text = JSON.stringify(review({ token: 'garbage' }));
    expect((await under.post(text.padEnd(65_536))).status).toBe(200);
    const answer = await under.post(text.padEnd(65_537));
    expect([answer.status, answer.text]).toEqual([413, invalid('Request entity too large: limit is 65536')]);
  });

  test('N-61 GET is 405', async () => {
    const answer = await fetch(`${under.app.url}/oauth/authenticate`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
  });

  test.each([
    ['A-20 nested arrays', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['A-23 33 levels', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['A-23 a name that stands twice', `{"apiVersion":"${V1}","kind":"TokenReview","spec":{"token":"a","token":"b"}}`],
    [
      'A-23 a name that stands twice, once in another spelling',
      `{"apiVersion":"${V1}","kind":"TokenReview","spec":{"token":"a","\\u0074oken":"b"}}`,
    ],
  ])('%s are 400', async (_, body) => {
    const answer = await under.post(body);
    expect([answer.status, answer.text]).toEqual([400, NOT_JSON]);
  });

  test('A-23 a body that is not UTF-8 is 400', async () => {
    const body = Buffer.from(JSON.stringify(review({ token: 'é' })), 'latin1');
    const answer = await fetch(`${under.app.url}/oauth/authenticate`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${CALLER}` },
    });
    expect([answer.status, await answer.text()]).toEqual([400, NOT_JSON]);
  });

  test.each(['__proto__', 'constructor'])('A-23 members below %s give nothing to anybody', async (name) => {
    const inner = `{"token":"${under.token}","audiences":[]}`;
    const spec = await under.post(`{"apiVersion":"${V1}","kind":"TokenReview","spec":{"${name}":${inner}}}`);
    expect(spec.text).toContain('{"authenticated":false}');
    const whole = `{"${name}":{"apiVersion":"${V1}","kind":"TokenReview","spec":${inner}}}`;
    expect((await under.post(whole)).text).toBe(NOT_REVIEW);
  });

  test('A-23 no JSON makes it fail or changes a prototype', async () => {
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    const largest = new Largest('a body for the TokenReview webhook', 'bytes');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(jsonText(under.token, sizes), async (body) => {
          largest.see(Buffer.byteLength(body));
          const { status, text } = await under.post(body);
          expect(Buffer.byteLength(body) > 65_536 ? [413] : [200, 400]).toContain(status);
          JSON.parse(text);
        }),
      { cases: 1_000, short: 100 },
    );
    largest.expectAtLeast(4 * 4 * 4 * 9);
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
    expect(({} as { token?: unknown }).token).toBeUndefined();
  });
});

/** JSON as text, so that names may stand twice and be `__proto__`; half of it with the head of a review. */
function jsonText(token: string, { isLargest, upTo }: Sizes): fc.Arbitrary<string> {
  const names = ['apiVersion', 'kind', 'spec', 'token', 'audiences', '__proto__', 'constructor', 'prototype'];
  const member = (value: fc.Arbitrary<string>) =>
    fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const listOf = (items: fc.Arbitrary<string>) => fc.array(items, upTo(4)).map((texts) => texts.join());
  const known = [V1, 'TokenReview', 'a.b.c', token, '\ud800', true, null].map((value) => JSON.stringify(value));
  const word = fc.constantFrom(...known, '1e999', '-0', '"\\ud800"');
  const leaf = fc.oneof(word, fc.json());
  const arrayOf = (items: fc.Arbitrary<string>) => listOf(items).map((texts) => `[${texts}]`);
  const objectOf = (values: fc.Arbitrary<string>) => listOf(member(values)).map((members) => `{${members}}`);
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof({ maxDepth: 5, depthIdentifier: 'json' }, leaf, arrayOf(tie('value')), objectOf(tie('value'))),
  }));
  // With that, bodies have 4 members of 4 items of 4 members of 9 bytes, `"kind":-0`, to 1 kB, which is the token.
  const large = arrayOf(objectOf(word));
  const specOf = (values: fc.Arbitrary<string>) =>
    objectOf(values).map((spec) => `{"apiVersion":"${V1}","kind":"TokenReview","spec":${spec}}`);
  return isLargest ? fc.oneof(objectOf(large), specOf(large)) : fc.oneof(value, specOf(value));
}

describe('a caller', () => {
  const ask = async (own: ReviewUnderTest, authorization: string): Promise<ReturnType<ReviewUnderTest['post']>> =>
    own.post(review({ token: own.token }), { headers: { Authorization: authorization } });

  async function expectRefused(own: ReviewUnderTest, authorization: string): Promise<void> {
    const answer = await ask(own, authorization);
    expect([answer.status, answer.text]).toEqual([401, UNKNOWN_CALLER]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="gatehouse"');
  }

  test.each([
    '',
    'Bearer',
    'Bearer other',
    `Bearer ${CALLER}x`,
    `Bearer ${CALLER.slice(1)}`,
    `Basic ${CALLER}`,
    CALLER,
    `Bearer ${CALLER} ${CALLER}`,
  ])('N-61 with %j is 401', (authorization) => expectRefused(under, authorization));

  test('N-61 with an access token of ours is 401: a user is no API server', () =>
    expectRefused(under, `Bearer ${under.token}`));

  test('N-61 is let in by the bearer, its scheme in any case', async () => {
    expect((await ask(under, `bearer ${CALLER}`)).status).toBe(200);
  });

  test('N-61 is refused whatever it shows while there is no bearer', async () => {
    await withOwn(
      async (own) => {
        await expectRefused(own, '');
        await expectRefused(own, 'Bearer');
        await expectRefused(own, 'Bearer undefined');
      },
      { callerToken: () => undefined },
    );
  });

  test('N-61 needs nothing with callerAuth none', async () => {
    await withOwn(
      async (own) => {
        expect((await ask(own, '')).status).toBe(200);
        expect((await ask(own, 'Bearer other')).status).toBe(200);
      },
      {},
      { callerAuth: 'none' },
    );
  });

  test('N-61 is refused before its body is read', async () => {
    const head = 'POST /oauth/authenticate HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n';
    expect(await under.app.raw(head, /\}$/)).toMatch(/^HTTP\/1\.1 401 /);
  });
});
