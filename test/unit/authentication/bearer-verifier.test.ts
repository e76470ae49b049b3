import { describe, expect, test } from 'vitest';
import { createBearerVerifier } from '../../../src/authentication/bearer-verifier.ts';
import { toJwsPart } from '../../../src/oauth/tokens/compact-jws.ts';
import type { Verification } from '../../../src/oauth/tokens/identity.ts';
import { newTestServer, signInAlice, testOptions } from '../oauth/test-server.ts';
import { createRobots, IDENTITY, ROBOT, SOURCE, tokenOf } from './robots.ts';

/** Our verifier notes what it is asked, and finds every token expired. */
function create(issuer = testOptions.issuer) {
  const robots = createRobots();
  const asked: string[] = [];
  const ours = {
    verify: (text: string): Verification => {
      asked.push(text);
      return { fault: 'expired' };
    },
  };
  return { ...robots, asked, bearers: createBearerVerifier(issuer, { ours, serviceAccounts: robots.tokens }) };
}

const EXPIRED = { fault: 'expired' };
const header = toJwsPart({ alg: 'RS256' });
const raw = (payload: string): string => `${header}.${Buffer.from(payload).toString('base64url')}.c2ln`;

describe('a bearer', () => {
  test('of our issuer is judged by our verifier at once, and by nobody else', async () => {
    const server = await newTestServer();
    const { access_token: token } = await signInAlice(server);
    const { tokens } = createRobots();
    // Not even memory is asked: it would cost a digest at each request.
    const serviceAccounts = Object.assign(tokens, {
      known: () => {
        throw new Error('asked');
      },
    });
    const bearers = createBearerVerifier(testOptions.issuer, { ours: server.verifier, serviceAccounts });
    expect(bearers.verify(token, SOURCE)).toMatchObject({ identity: { name: 'alice' }, cached: false });
    expect(bearers.verify(token, SOURCE)).toMatchObject({ identity: { name: 'alice' }, cached: true });
  });

  test('of our issuer is ours wherever its claims name it, though they say all that a service account’s say', async () => {
    const { asked, bearers, reviewer, claimsOf } = create();
    const text = tokenOf(claimsOf({ iss: testOptions.issuer }));
    expect(bearers.verify(text, SOURCE)).toEqual(EXPIRED);
    expect([asked, reviewer.reviews]).toEqual([[text], []]);
  });

  test.each([0, 1, 2])('of our issuer is known by its first bytes, whatever its length (%i more)', (more) => {
    const issuer = `${testOptions.issuer}${'x'.repeat(more)}`;
    const { asked, bearers, tokens } = create(issuer);
    Object.assign(tokens, {
      known: () => {
        throw new Error('asked');
      },
    });
    expect(bearers.verify(tokenOf({ iss: issuer, sub: 'ada' }), SOURCE)).toEqual(EXPIRED);
    expect(asked.length).toBe(1);
    expect(() => bearers.verify(tokenOf({ iss: `${issuer}/`, sub: 'ada' }), SOURCE)).toThrow('asked');
  });

  test('of another issuer is judged by the cluster, and never by our verifier', async () => {
    const { asked, bearers, reviewer, clock, claimsOf, keys } = create();
    const text = tokenOf(claimsOf());
    const verification = bearers.verify(text, SOURCE);
    await clock.advance(0);
    reviewer.last.answer(ROBOT);
    expect(await verification).toEqual({ identity: IDENTITY, cached: false });
    expect(bearers.verify(text, SOURCE)).toEqual({ identity: IDENTITY, cached: true });
    expect([asked, reviewer.last.token, keys.sources]).toEqual([[], text, [SOURCE]]);
  });

  test.each([
    ['is no JWT', 'garbage'],
    ['has claims that are no JSON', raw('{"iss":')],
    ['has no issuer', raw('{"sub":"system:serviceaccount:a:b"}')],
    ['has an empty issuer', raw('{"iss":""}')],
    ['has an issuer that is no text', raw('{"iss":["https://kubernetes.default.svc"]}')],
    ['names two issuers', raw('{"iss":"https://kubernetes.default.svc","iss":"https://gatehouse.example.com/oauth"}')],
  ])('that %s is for our verifier to refuse', (_, text) => {
    const { asked, bearers, reviewer } = create();
    expect(bearers.verify(text, SOURCE)).toEqual(EXPIRED);
    expect([asked, reviewer.reviews]).toEqual([[text], []]);
  });
});
