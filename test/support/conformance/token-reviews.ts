import { describe, expect, test } from 'vitest';
import { type Answer, inNamespace, type Json, unique } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
/** The audience of the server itself, which is its issuer. */
const SERVER = 'https://kubernetes.default.svc';

/** A real server caches a valid token for 10 s. */
const FORGET_MS = 60_000;
const POLL_MS = 250;

export function describeTokenReviews(suite: Suite): void {
  const post = (spec: Json): Promise<Answer> =>
    suite.api.post(REVIEWS, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec });
  const statusOf = async (token: string, audiences?: readonly string[]): Promise<Json> =>
    (await post({ token, ...(audiences && { audiences }) })).body.status;
  const account = async () => {
    const namespace = await suite.api.newNamespace();
    const name = unique('robot');
    const { metadata } = await suite.api.create(inNamespace(namespace, 'serviceaccounts'), { metadata: { name } });
    const path = `${inNamespace(namespace, 'serviceaccounts')}/${name}`;
    const request = (spec: Json): Promise<Answer> => suite.api.post(`${path}/token`, { spec });
    const token = async (audiences?: readonly string[]): Promise<string> =>
      (await request({ ...(audiences && { audiences }) })).body.status.token;
    return {
      namespace,
      name,
      path,
      uid: metadata.uid as string,
      username: `system:serviceaccount:${namespace}:${name}`,
      request,
      token,
    };
  };

  describe('a TokenRequest', () => {
    test('makes a JWT with issuer, subject, audiences and times', async () => {
      const robot = await account();
      const answer = await robot.request({ audiences: ['ours', 'theirs'], expirationSeconds: 600 });
      expect(answer.status).toBe(201);
      const { token, expirationTimestamp } = answer.body.status;
      const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
      expect(claims).toMatchObject({
        iss: SERVER,
        sub: robot.username,
        aud: ['ours', 'theirs'],
        exp: claims.iat + 600,
      });
      // A real server reads its clock once more for this time, so it is a second later if the first reading was at the
      // end of a second.
      expect([claims.exp, claims.exp + 1]).toContain(Date.parse(expirationTimestamp) / 1000);
    });

    test('is refused below ten minutes, and for nobody', async () => {
      const robot = await account();
      const message = 'Invalid value: 599: may not specify a duration less than 10 minutes';
      const short = await robot.request({ expirationSeconds: 599 });
      expect(short.body).toMatchObject({
        code: 422,
        details: { causes: [{ field: 'spec.expirationSeconds', message }] },
      });
      expect((await suite.api.post(`${robot.path}-absent/token`, { spec: {} })).status).toBe(404);
    });
  });

  describe('a TokenReview', () => {
    test('knows a service account by a token for an audience that was asked for, and names that audience', async () => {
      const robot = await account();
      const answer = await post({ token: await robot.token(['ours', 'theirs']), audiences: ['ours', 'else'] });
      expect([answer.status, answer.body.kind]).toEqual([201, 'TokenReview']);
      expect(answer.body.status).toEqual({
        authenticated: true,
        user: {
          username: robot.username,
          uid: robot.uid,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${robot.namespace}`, 'system:authenticated'],
          extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)] },
        },
        audiences: ['ours'],
      });
    });

    test('means the server itself when it asks for no audience', async () => {
      const robot = await account();
      expect(await statusOf(await robot.token())).toMatchObject({ authenticated: true, audiences: [SERVER] });
      expect(await statusOf(await robot.token(['ours']))).toEqual({
        user: {},
        error: `[invalid bearer token, token audiences ["ours"] is invalid for the target audiences ["${SERVER}"]]`,
      });
    });

    test('refuses a token for the server when another audience is asked for: authenticated is not set', async () => {
      const robot = await account();
      expect(await statusOf(await robot.token(), ['ours'])).toEqual({
        user: {},
        error: `[invalid bearer token, token audiences ["${SERVER}"] is invalid for the target audiences ["ours"]]`,
      });
    });

    test('takes a token of the server’s file for the server’s audience only', async () => {
      const { powerlessToken } = suite.target;
      expect(await statusOf(powerlessToken, ['ours', SERVER])).toMatchObject({
        authenticated: true,
        user: { username: 'nobody' },
        audiences: [SERVER],
      });
      expect(await statusOf(powerlessToken, ['ours'])).toEqual({ user: {}, error: 'invalid bearer token' });
    });

    test('refuses a changed token and text that is none', async () => {
      const token = await (await account()).token(['ours']);
      const { authenticated } = await statusOf(`${token.slice(0, -8)}AAAAAAAA`, ['ours']);
      expect(authenticated).toBeUndefined();
      expect(await statusOf('garbage', ['ours'])).toEqual({ user: {}, error: 'invalid bearer token' });
    });

    test('refuses the token of a deleted service account soon', async () => {
      const robot = await account();
      const token = await robot.token(['ours']);
      expect((await statusOf(token, ['ours'])).authenticated).toBe(true);
      await suite.api.delete(robot.path);
      const read = async () => (await statusOf(token, ['ours'])).authenticated;
      await expect.poll(read, { timeout: FORGET_MS, interval: POLL_MS }).toBeUndefined();
      const error = `[invalid bearer token, serviceaccounts "${robot.name}" not found]`;
      expect(await statusOf(token, ['ours'])).toEqual({ user: {}, error });
    });

    test('is refused without a token', async () => {
      const { status, body } = await post({ audiences: ['ours'] });
      expect(status).toBe(400);
      expect(body).toEqual(failure(400, 'BadRequest', 'token is required for TokenReview in authentication'));
    });
  });
}
