import { describe, expect, test } from 'vitest';
import { NODES, passwordOf, type Service, startCluster, startService } from './stand.ts';

const REVOKED = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized: the access token has been revoked',
  reason: 'Unauthorized',
  code: 401,
};
const INVALID_GRANT = { error: 'invalid_grant', error_description: 'the refresh token is not valid' };
const INVALID_TOKEN = 'Bearer realm="gatehouse", error="invalid_token"';

const start = async (config: object = {}): Promise<Service> =>
  startService(await startCluster(), { config: config as Record<string, unknown> });

describe('a session', () => {
  test('signs in, lists, reads one node, and ends at logout', async () => {
    const service = await start();
    const { access_token: token } = await service.signIn('ada');
    const list = await service.list(token, '?sortBy=name&ascending=true');
    expect(list.status).toBe(200);
    expect(list.body.totalItems).toBe(3);
    expect((await service.call(`${NODES}/node-a`, { token })).status).toBe(200);
    const logout = await service.call('/oauth/logout', { token });
    expect([logout.status, logout.text]).toEqual([200, '{"message":"success"}']);
    const after = await service.list(token);
    expect(after.status).toBe(401);
    expect(after.body).toEqual(REVOKED);
    expect(after.headers.get('www-authenticate')).toBe(INVALID_TOKEN);
  });

  test('T-31 ends alone: another session of the same user goes on, its refresh token too', async () => {
    const service = await start();
    const other = await service.signIn('ada');
    const ended = await service.signIn('ada');
    await service.call('/oauth/logout', { token: ended.access_token });
    expect((await service.list(ended.access_token)).status).toBe(401);
    expect((await service.list(other.access_token)).status).toBe(200);
    expect((await service.refresh(ended.refresh_token)).status).toBe(400);
    expect((await service.refresh(other.refresh_token)).status).toBe(200);
  });

  test('T-31 with all=true ends every session of the user, and nobody else’s', async () => {
    const service = await start();
    const other = await service.signIn('ada');
    const joe = await service.signIn('joe');
    const ended = await service.signIn('ada');
    await service.call('/oauth/logout?all=true', { token: ended.access_token });
    expect((await service.list(ended.access_token)).body).toEqual(REVOKED);
    expect((await service.list(other.access_token)).body).toEqual(REVOKED);
    expect((await service.refresh(other.refresh_token)).body).toEqual(INVALID_GRANT);
    expect((await service.list(joe.access_token)).status).toBe(403);
  });

  test('can be begun anew right after all were ended', async () => {
    const service = await start();
    const { access_token: token } = await service.signIn('ada');
    await service.call('/oauth/logout?all=true', { token });
    expect((await service.list((await service.signIn('ada')).access_token)).status).toBe(200);
  });

  test('with multipleLogin off ends at the next sign-in', async () => {
    const service = await start({ authentication: { multipleLogin: false } });
    const first = await service.signIn('ada');
    const second = await service.signIn('ada');
    expect((await service.list(first.access_token)).body).toEqual(REVOKED);
    expect((await service.list(second.access_token)).status).toBe(200);
  });
});

describe('a refresh', () => {
  test('T-11 gives a new pair, and the access token before it lives on', async () => {
    const service = await start();
    const first = await service.signIn('ada');
    const answer = await service.refresh(first.refresh_token);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['access_token', 'token_type', 'refresh_token', 'expires_in']);
    expect(answer.body.refresh_token).not.toBe(first.refresh_token);
    expect((await service.list(answer.body.access_token)).status).toBe(200);
    expect((await service.list(first.access_token)).status).toBe(200);
  });

  test('T-13 sent twice at once gives one and the same pair', async () => {
    const service = await start();
    const { refresh_token: token } = await service.signIn('ada');
    const [one, two] = await Promise.all([service.refresh(token), service.refresh(token)]);
    expect(one.body.access_token).toBe(two.body.access_token);
    expect(one.body.refresh_token).toBe(two.body.refresh_token);
  });

  test('T-14 with a token two generations old ends the session, its access tokens too', async () => {
    const service = await start();
    const first = await service.signIn('ada');
    const second = (await service.refresh(first.refresh_token)).body;
    const third = (await service.refresh(second.refresh_token)).body;
    const reuse = await service.refresh(first.refresh_token);
    expect([reuse.status, reuse.body]).toEqual([400, INVALID_GRANT]);
    expect((await service.refresh(third.refresh_token)).body).toEqual(INVALID_GRANT);
    expect((await service.list(third.access_token)).body).toEqual(REVOKED);
    expect(await service.metric('gatehouse_refresh_reuse_total')).toBe(1);
  });

  test('T-01 with the refresh token as a bearer beside it is answered as usual', async () => {
    const service = await start();
    const { refresh_token: token } = await service.signIn('ada');
    expect((await service.refresh(token, { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  test('T-01 refused beside a bearer is 401 with the Bearer challenge', async () => {
    const service = await start();
    const { access_token, refresh_token: token } = await service.signIn('ada');
    await service.call('/oauth/logout', { token: access_token });
    const answer = await service.refresh(token, { authorization: `Bearer ${token}` });
    expect([answer.status, answer.body]).toEqual([401, INVALID_GRANT]);
    expect(answer.headers.get('www-authenticate')).toBe(INVALID_TOKEN);
  });

  test('N-36 its token is no bearer for the API', async () => {
    const service = await start();
    const { refresh_token: token } = await service.signIn('ada');
    expect((await service.list(token)).body.message).toBe('Unauthorized: the access token is not valid');
  });
});

describe('a sign-in', () => {
  test('N-14 with a wrong password, or of nobody, is the same refusal', async () => {
    const service = await start();
    const wrong = await service.signInAnswer('ada', passwordOf('joe'));
    const nobody = await service.signInAnswer('nobody', passwordOf('joe'));
    expect([wrong.status, wrong.text]).toEqual([
      400,
      '{"error":"invalid_grant","error_description":"incorrect password"}',
    ]);
    expect([nobody.status, nobody.text]).toEqual([wrong.status, wrong.text]);
  });

  test('N-15 is refused after five failures, with the right password too, and live tokens go on', async () => {
    const service = await start();
    const { access_token: token } = await service.signIn('ada');
    for (let failure = 0; failure < 5; failure++) await service.signInAnswer('joe', 'wrong');
    const answer = await service.signInAnswer('joe', passwordOf('joe'));
    expect([answer.status, answer.body.error_description]).toEqual([429, 'auth rate limit exceeded']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await service.list(token)).status).toBe(200);
  });
});
