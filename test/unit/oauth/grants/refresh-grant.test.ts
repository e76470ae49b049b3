import { describe, expect, test } from 'vitest';
import {
  formRequest,
  newTestServer,
  ORIGIN,
  PASSWORD_FORM,
  partsOf,
  refresh,
  refreshForm,
  refusalOf,
  type SentRefusal,
  signInAlice,
  type TestServer,
} from '../test-server.ts';

const NOT_VALID: SentRefusal = {
  status: 400,
  code: 'invalid_grant',
  description: 'the refresh token is not valid',
};

const SECOND = 1000;

async function signedIn(change: Parameters<typeof newTestServer>[0] = {}, more: Record<string, string> = {}) {
  const test = await newTestServer(change);
  return { test, first: await signInAlice(test, more) };
}

const refused = (test: TestServer, token: string): Promise<SentRefusal> => refusalOf(() => refresh(test, token));
const isGood = (test: TestServer, token: string): boolean => 'identity' in test.verifier.verify(token);

describe('rotation', () => {
  test('R-17 writes nothing at sign-in and once at a refresh', async () => {
    const { test, first } = await signedIn();
    expect(test.sessions.writes).toBe(0);
    await refresh(test, first.refresh_token);
    expect(test.sessions.writes).toBe(1);
  });

  test('T-11 gives a new pair of the next generation and leaves the access token before it alive', async () => {
    const { test, first } = await signedIn();
    await test.clock.advance(60 * SECOND);
    const second = await refresh(test, first.refresh_token);
    const [, before] = partsOf(first.refresh_token);
    const [header, claims] = partsOf(second.refresh_token);
    expect(header).toMatchObject({ alg: 'RS256', typ: 'rt+jwt' });
    expect(claims).toMatchObject({ gen: 1, sid: before['sid'], auth_time: before['iat'], sub: 'alice' });
    expect(claims['exp']).toBe(Number(before['exp']) + 60);
    expect([second.expires_in, isGood(test, first.access_token), isGood(test, second.access_token)]).toEqual([
      7200,
      true,
      true,
    ]);
  });

  test('T-12 N-24 answers 503 when the record cannot be written, and the old token stays good', async () => {
    const { test, first } = await signedIn();
    test.sessions.writeFault = new Error('the cluster is away');
    expect(await refused(test, first.refresh_token)).toMatchObject({
      status: 503,
      code: 'server_error',
      headers: { 'Retry-After': '1' },
    });
    test.sessions.writeFault = undefined;
    expect(await refresh(test, first.refresh_token)).toMatchObject({ expires_in: 7200 });
  });

  test('T-13 N-21 gives the same pair again within 30 s, without a write, with the life that is left', async () => {
    const { test, first } = await signedIn({}, { scope: 'openid' });
    const second = await refresh(test, first.refresh_token);
    await test.clock.advance(30 * SECOND);
    const again = await refresh(test, first.refresh_token);
    expect(again).toEqual({ ...second, expires_in: 7170 });
    expect(test.sessions.writes).toBe(1);
  });

  test('T-13 says the whole life of a pair while at most one second has begun since it was made', async () => {
    const { test, first } = await signedIn();
    const lives = [(await refresh(test, first.refresh_token)).expires_in];
    for (let second = 0; second < 2; second++) {
      await test.clock.advance(SECOND);
      lives.push((await refresh(test, first.refresh_token)).expires_in);
    }
    expect(lives).toEqual([7200, 7200, 7198]);
  });

  test('T-13 says 0 s of a pair whose access token has expired by the time it is asked for again', async () => {
    const test = await newTestServer({ accessTokenMaxAgeSeconds: 20 });
    const first = await signInAlice(test);
    const pair = await refresh(test, first.refresh_token);
    await test.clock.advance(25_000);
    expect([pair.expires_in, await refresh(test, first.refresh_token)]).toEqual([20, { ...pair, expires_in: 0 }]);
  });

  test('T-17 is remembered until the last of its tokens is taken by no clock any more', async () => {
    const test = await newTestServer();
    await refresh(test, (await signInAlice(test)).refresh_token);
    const now = test.clock.now() / 1000;
    const [record] = test.sessions.read('alice').live.values();
    expect(record).toMatchObject({ issuedAt: now, keepUntil: now + 14_400 + 10 });
  });

  test('T-14 N-21 ends the session when the token before the current one comes after 30 s', async () => {
    const { test, first } = await signedIn();
    const second = await refresh(test, first.refresh_token);
    await test.clock.advance(30 * SECOND + 1);
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    expect(await refused(test, second.refresh_token)).toEqual(NOT_VALID);
    expect(test.verifier.verify(second.access_token)).toEqual({ fault: 'revoked' });
    const { sid } = partsOf(second.access_token)[1];
    expect(test.lines.map(({ event, result, user, sid: whose }) => ({ event, result, user, sid: whose }))).toEqual([
      { event: 'sign_in', result: 'ok', user: 'alice', sid },
      { event: 'refresh', result: 'ok', user: 'alice', sid },
      { event: 'refresh_token_reused', result: 'refused', user: 'alice', sid },
      { event: 'refresh', result: 'refused', user: 'alice', sid },
    ]);
  });

  test('T-14 ends the session at once when an older token comes, and no other session of the user', async () => {
    const { test, first } = await signedIn();
    const other = await signInAlice(test);
    const second = await refresh(test, first.refresh_token);
    const third = await refresh(test, second.refresh_token);
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    expect([isGood(test, third.access_token), isGood(test, other.access_token)]).toEqual([false, true]);
    const reuse = await test.registry.getSingleMetric('gatehouse_refresh_reuse_total')?.get();
    expect(reuse?.values[0]?.value).toBe(1);
  });

  test('T-14 refuses a reused token although the write fails, and tries the write until it stands', async () => {
    const { test, first } = await signedIn();
    const second = await refresh(test, first.refresh_token);
    const third = await refresh(test, second.refresh_token);
    test.sessions.writeFault = new Error('the cluster is away');
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    await test.clock.advance(5 * SECOND);
    expect(isGood(test, third.access_token)).toBe(true);
    test.sessions.writeFault = undefined;
    await test.clock.advance(5 * SECOND);
    expect([isGood(test, third.access_token), test.clock.pendingTimers]).toEqual([false, 0]);
  });

  test('ends every session of a user who changed, tried until it stands', async () => {
    const { test, first } = await signedIn();
    test.sessions.writeFault = new Error('the cluster is away');
    test.changed('alice');
    await test.clock.advance(5 * SECOND);
    expect(isGood(test, first.access_token)).toBe(true);
    test.sessions.writeFault = undefined;
    await test.clock.advance(5 * SECOND);
    expect([isGood(test, first.access_token), test.clock.pendingTimers]).toEqual([false, 0]);
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
  });

  test('T-15 takes a generation ahead of the record for current, as when the record was lost', async () => {
    const { test, first } = await signedIn();
    const second = await refresh(test, first.refresh_token);
    const forgetful = await newTestServer();
    const third = await refresh(forgetful, second.refresh_token);
    expect(partsOf(third.refresh_token)[1]).toMatchObject({ gen: 2 });
    expect(await refused(forgetful, first.refresh_token)).toEqual(NOT_VALID);
  });

  test('T-18 N-20 refuses a session whose ends are not known, and writes nothing', async () => {
    const { test, first } = await signedIn();
    test.sessions.begunElsewhere = true;
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    expect(test.sessions.writes).toBe(0);
    expect(isGood(test, first.access_token)).toBe(true);
  });

  test('T-16 T-17 refuses refresh and access tokens of a session that was ended', async () => {
    const { test, first } = await signedIn();
    await test.server.logout({
      ...ORIGIN,
      method: 'GET',
      queryString: '',
      authorization: `Bearer ${first.access_token}`,
    });
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    expect(test.verifier.verify(first.access_token)).toEqual({ fault: 'revoked' });
  });

  test('R-06 gives 50 parallel refreshes one and the same successor', async () => {
    const { test, first } = await signedIn();
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(test, first.refresh_token)));
    expect(new Set(answers.map((answer) => answer.refresh_token)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.access_token)).size).toBe(1);
    expect(test.sessions.writes).toBe(1);
  });

  test('T-02 takes ten rotations of a session in a minute and refuses the eleventh until one is a minute old', async () => {
    const { test, first } = await signedIn();
    let token = first.refresh_token;
    for (let rotation = 0; rotation < 10; rotation++) {
      token = (await refresh(test, token)).refresh_token;
      await test.clock.advance(SECOND);
    }
    expect(await refused(test, token)).toEqual({
      status: 429,
      code: 'temporarily_unavailable',
      description: 'the session was refreshed too often',
      headers: { 'Retry-After': '50' },
    });
    await test.clock.advance(50 * SECOND);
    expect(await refresh(test, token)).toMatchObject({ token_type: 'Bearer' });
  });

  test('T-02 C-33 asks for no longer wait than a minute, and counts what is further off no more, when the clock is set back', async () => {
    const { test, first } = await signedIn();
    let token = first.refresh_token;
    await test.clock.advance(5 * SECOND);
    for (let rotation = 0; rotation < 10; rotation++) token = (await refresh(test, token)).refresh_token;
    test.clock.jumpWall(-4 * SECOND);
    expect((await refused(test, token)).headers).toEqual({ 'Retry-After': '60' });
    test.clock.jumpWall(-3600 * SECOND);
    expect((await refused(test, token)).code).toBe('invalid_grant'); // issued in what is the future now
  });
});

describe('a refresh token', () => {
  test.each(['', undefined])('N-20 that is missing is an invalid request (%j)', async (token) => {
    const test = await newTestServer();
    const { refresh_token: _, ...rest } = refreshForm('');
    const form = token === undefined ? rest : refreshForm(token);
    expect(await refusalOf(() => test.server.token(formRequest(form)))).toMatchObject({
      code: 'invalid_request',
      description: 'the parameter refresh_token is missing',
    });
  });

  test('N-20 N-36 that is garbage, of another type, changed, unsigned or too long is refused with one answer', async () => {
    const { test, first } = await signedIn();
    const [header, claims, signature] = first.refresh_token.split('.') as [string, string, string];
    const unsigned = Buffer.from('{"alg":"none","typ":"rt+jwt"}').toString('base64url');
    const bad = [
      'garbage',
      'a.b.c',
      first.access_token,
      `${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      `${unsigned}.${claims}.`,
      `${first.refresh_token}\n`,
      'x'.repeat(8193),
    ];
    for (const token of bad) expect(await refused(test, token)).toEqual(NOT_VALID);
    expect(await refresh(test, first.refresh_token)).toMatchObject({ token_type: 'Bearer' });
  });

  test('N-20 of another client is refused without an effect on the session', async () => {
    const { test, first } = await signedIn();
    const form = { ...refreshForm(first.refresh_token), client_id: 'other', client_secret: 'p:a%ss +wörd&=1' };
    expect(await refusalOf(() => test.server.token(formRequest(form)))).toEqual(NOT_VALID);
    expect(await refresh(test, first.refresh_token)).toMatchObject({ token_type: 'Bearer' });
  });

  test('N-20 expires after its life, counted anew at each rotation', async () => {
    const { test, first } = await signedIn();
    await test.clock.advance(14_000 * SECOND);
    const second = await refresh(test, first.refresh_token);
    await test.clock.advance(14_409 * SECOND);
    expect(await refresh(test, second.refresh_token)).toMatchObject({ token_type: 'Bearer' });
    const { test: late, first: expired } = await signedIn();
    await late.clock.advance(14_410 * SECOND);
    expect(await refused(late, expired.refresh_token)).toEqual(NOT_VALID);
  });

  test('N-23 of a user who was disabled, deleted or has another password is refused', async () => {
    const { test, first } = await signedIn();
    const alice = test.users.get('alice');
    if (!alice) throw new Error('alice is missing');
    test.users.set('alice', { ...alice, state: 'Disabled' });
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    test.users.delete('alice');
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    test.users.set('alice', { ...alice, passwordHash: `$2b$10$${'b'.repeat(53)}` });
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    test.users.set('alice', { ...alice, state: 'AuthLimitExceeded' });
    expect(await refresh(test, first.refresh_token)).toMatchObject({ token_type: 'Bearer' });
  });

  test('lives no longer than its session, nor does any token of the session', async () => {
    const { test, first } = await signedIn({ sessionMaxAgeSeconds: 3600 });
    expect(first.expires_in).toBe(3600);
    await test.clock.advance(3000 * SECOND);
    const second = await refresh(test, first.refresh_token);
    const ends = Number(partsOf(first.access_token)[1]['iat']) + 3600;
    expect(second.expires_in).toBe(600);
    expect([partsOf(second.access_token)[1]['exp'], partsOf(second.refresh_token)[1]['exp']]).toEqual([ends, ends]);
    await test.clock.advance(600 * SECOND);
    expect(await refused(test, second.refresh_token)).toEqual(NOT_VALID);
  });

  test('N-22 cannot widen the scope of its session; less is taken and changes nothing', async () => {
    const { test, first } = await signedIn({}, { scope: 'openid profile' });
    const wider = { ...refreshForm(first.refresh_token), scope: 'openid email' };
    expect(await refusalOf(() => test.server.token(formRequest(wider)))).toMatchObject({
      status: 400,
      code: 'invalid_scope',
    });
    const less = { ...refreshForm(first.refresh_token), scope: 'profile' };
    expect(await test.server.token(formRequest(less))).toMatchObject({ scope: 'openid profile' });
  });

  test('T-01 refused beside a bearer is a 401 with the Bearer challenge, for any reason of invalid_grant', async () => {
    const { test, first } = await signedIn();
    const authorization = `bearer ${first.refresh_token}`;
    expect(await refusalOf(() => test.server.token(formRequest(refreshForm('garbage'), { authorization })))).toEqual({
      ...NOT_VALID,
      status: 401,
      headers: { 'WWW-Authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
    });
    const good = formRequest(refreshForm(first.refresh_token), { authorization: 'Bearer expired' });
    expect(await test.server.token(good)).toMatchObject({ token_type: 'Bearer' });
  });

  test('T-01 leaves other refusals beside a bearer as they are', async () => {
    const { test } = await signedIn();
    const nobody = formRequest({ ...PASSWORD_FORM, username: 'nobody' }, { authorization: 'Bearer x' });
    expect(await refusalOf(() => test.server.token(nobody))).toMatchObject({ status: 400, code: 'invalid_grant' });
    const wrong = { ...refreshForm('x'), client_secret: 'wrong' };
    expect(await refusalOf(() => test.server.token(formRequest(wrong, { authorization: 'Bearer x' })))).toMatchObject({
      status: 401,
      code: 'invalid_client',
      headers: { 'WWW-Authenticate': 'Basic realm="gatehouse"' },
    });
  });
});

describe('a sign-in', () => {
  test('ends the other sessions of the user when multipleLogin is off, with one write, and never its own', async () => {
    const { test, first } = await signedIn({ multipleLogin: false });
    const second = await signInAlice(test);
    expect(test.verifier.verify(first.access_token)).toEqual({ fault: 'revoked' });
    expect(await refused(test, first.refresh_token)).toEqual(NOT_VALID);
    expect(isGood(test, second.access_token)).toBe(true);
    expect(test.sessions.writes).toBe(2);
    const third = await refresh(test, second.refresh_token);
    expect([isGood(test, second.access_token), isGood(test, third.access_token)]).toEqual([true, true]);
  });

  test('fails with 503 when it cannot end the other sessions', async () => {
    const test = await newTestServer({ multipleLogin: false });
    test.sessions.writeFault = new Error('the cluster is away');
    expect(await refusalOf(() => signInAlice(test))).toMatchObject({ status: 503, code: 'server_error' });
  });

  test('waits for the second after a cut-off, so that its tokens are not cut off', async () => {
    const { test, first } = await signedIn();
    const authorization = `Bearer ${first.access_token}`;
    await test.server.logout({ ...ORIGIN, method: 'GET', queryString: 'all=true', authorization });
    const pending = signInAlice(test);
    await test.clock.advance(SECOND);
    const second = await pending;
    expect(partsOf(second.access_token)[1]['iat']).toBe(Number(partsOf(first.access_token)[1]['iat']) + 1);
    expect([isGood(test, first.access_token), isGood(test, second.access_token)]).toEqual([false, true]);
  });

  test('issues nothing in a second that is cut off, though a timer fires a millisecond early', async () => {
    const { test, first } = await signedIn();
    const authorization = `Bearer ${first.access_token}`;
    await test.server.logout({ ...ORIGIN, method: 'GET', queryString: 'all=true', authorization });
    const { sleep } = test.clock;
    test.clock.sleep = (ms, signal) => sleep(Math.max(1, ms - 1), signal);
    const pending = signInAlice(test);
    await test.clock.advance(SECOND);
    const second = await pending;
    expect(partsOf(second.access_token)[1]['iat']).toBe(Number(partsOf(first.access_token)[1]['iat']) + 1);
    expect(isGood(test, second.access_token)).toBe(true);
  });

  test('C-33 waits for the skew and a second at most, and asks to try again when the clock was set back further', async () => {
    const { test, first } = await signedIn();
    const authorization = `Bearer ${first.access_token}`;
    await test.server.logout({ ...ORIGIN, method: 'GET', queryString: 'all=true', authorization });
    test.clock.jumpWall(-10 * SECOND);
    const pending = signInAlice(test);
    await test.clock.advance(11 * SECOND);
    expect((await pending).token_type).toBe('Bearer');
    test.clock.jumpWall(-3600 * SECOND);
    expect(await refusalOf(() => signInAlice(test))).toEqual({
      status: 503,
      code: 'server_error',
      description: 'the server cannot answer now; try again',
      headers: { 'Retry-After': '1' },
    });
  });
});
