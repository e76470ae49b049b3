import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  PREFIX,
  ROLE,
  startWriteStand,
  UNINITIALIZED,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { quickBcrypt } from '../../support/passwords.ts';
import { eventually } from '../service/stand.ts';

const FIRST = 'The-first-one-1';
const SECOND = 'The-second-one-2';

/** While it is set, compares of passwords tell that they begin, and wait. */
const held: { by?: { begun(): void; readonly end: Promise<void> } } = {};

const HELPDESK = [
  { apiGroups: [PREFIX], resources: ['users/password'], verbs: ['update'], resourceNames: ['helped', 'no-such-user'] },
  { apiGroups: [PREFIX], resources: ['users'], verbs: ['delete'], resourceNames: ['other'] },
];

describe('the passwords of users', () => {
  let stand: WriteStand;
  let serial = 0;
  beforeAll(async () => {
    stand = await startWriteStand({
      people: { helpdesk: { rules: HELPDESK } },
      bcrypt: {
        ...quickBcrypt,
        async compare(...compared) {
          held.by?.begun();
          await held.by?.end;
          return quickBcrypt.compare(...compared);
        },
      },
    });
  });
  afterAll(() => stand?.stop());

  const person = async (name = `person-${++serial}`, annotations = {}) => {
    await stand.made(name, { spec: { password: FIRST }, annotations });
    return { name, token: await stand.newToken(name, FIRST) };
  };
  const change = (name: string, body: object, token?: string) =>
    stand.ask('PUT', `${USERS}/${name}/password`, { body, ...(token && { token }) });
  const asksOwn = async (name: string, token: string) => (await stand.ask('GET', `${USERS}/${name}`, { token })).status;
  const setState = (name: string, state: string) => stand.update(name, (user) => ({ ...user, status: { state } }));
  const disable = (name: string) => setState(name, 'Disabled');
  const signsIn = async (name: string, password: string) => (await stand.signIn(name, password)).status === 200;
  const annotationsOf = (name: string) => stand.cluster.objects.get('users', name)?.metadata.annotations ?? {};

  test('AC-60 CO-15 the owner changes it with the current one: every other session ends, and no first one is asked for', async () => {
    const moved = `${PREFIX}/password-moved`;
    const { name, token } = await person(undefined, { [UNINITIALIZED]: 'true' });
    stand.cluster.objects.patch('users', name, { metadata: { annotations: { [moved]: 'a digest of the first one' } } });
    const other = await stand.newToken(name, FIRST);
    const { status, body } = await change(name, { currentPassword: FIRST, password: SECOND }, token);
    expect([status, body]).toEqual([200, { message: 'success' }]);
    expect([await asksOwn(name, token), await asksOwn(name, other)]).toEqual([200, 401]);
    expect([await signsIn(name, FIRST), await signsIn(name, SECOND)]).toEqual([false, true]);
    for (const gone of [UNINITIALIZED, moved]) expect(annotationsOf(name)).not.toHaveProperty([gone]);
    expect(annotationsOf(name)).toHaveProperty([`${PREFIX}/last-password-change-time`]);
  });

  test.each([[{}], [{ currentPassword: '' }], [{ currentPassword: 'Not-it-at-all-1' }]])(
    'AC-61 the owner is refused with %j, and nothing changes',
    async (sent) => {
      const { name, token } = await person();
      const { status, body } = await change(name, { ...sent, password: SECOND }, token);
      expect([status, body.reason, body.message]).toEqual([400, 'BadRequest', 'incorrect old password']);
      expect([await asksOwn(name, token), await signsIn(name, FIRST)]).toEqual([200, true]);
    },
  );

  test('AC-61 a manager needs the current one for himself as well', async () => {
    const { name, token } = await person('boss', { [ROLE]: 'platform-admin' });
    expect((await stand.ask('GET', USERS, { token })).status).toBe(200);
    const { status, body } = await change(name, { password: SECOND }, token);
    expect([status, body.message, await signsIn(name, FIRST)]).toEqual([400, 'incorrect old password', true]);
  });

  test('AC-62 a manager may leave the current one out: the sessions end, and the user is still asked for a first one', async () => {
    const { name, token } = await person('helped', { [UNINITIALIZED]: 'true' });
    expect((await change(name, { password: SECOND }, await stand.tokenOf('helpdesk'))).status).toBe(200);
    expect([await asksOwn(name, token), await signsIn(name, SECOND)]).toEqual([401, true]);
    expect(annotationsOf(name)).toHaveProperty([UNINITIALIZED], 'true');
  });

  test('CO-15 the session goes on with its refresh token, until the next end of all sessions', async () => {
    const name = 'helped-too';
    await stand.made(name, { spec: { password: FIRST } });
    const { body: pair } = await stand.signIn(name, FIRST);
    expect((await change(name, { currentPassword: FIRST, password: SECOND }, pair.access_token)).status).toBe(200);
    const form = { grant_type: 'refresh_token', client_id: 'gatehouse', refresh_token: pair.refresh_token };
    const refreshed = await fetch(`${stand.gatehouse.origin}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    expect(refreshed.status).toBe(200);
    const { access_token: token } = (await refreshed.json()) as { readonly access_token: string };
    expect([await asksOwn(name, pair.access_token), await asksOwn(name, token)]).toEqual([200, 200]);
    await disable(name);
    await eventually(
      () => asksOwn(name, token),
      (answered) => answered === 401,
    );
    await setState(name, 'Active');
    await eventually(
      () => stand.signIn(name, SECOND),
      (answer) => answer.status === 200,
    );
    expect([await asksOwn(name, pair.access_token), await asksOwn(name, token)]).toEqual([401, 401]);
  });

  test('AC-63 a manager may not send a wrong current one', async () => {
    const { name, token } = await person();
    const { status, body } = await change(name, { currentPassword: 'Wrong-one-1', password: SECOND });
    expect([status, body.message]).toEqual([400, 'incorrect old password']);
    expect([await asksOwn(name, token), await signsIn(name, FIRST)]).toEqual([200, true]);
  });

  test.each(['other-one', 'admin', 'nobody'])(
    'AC-64 without the right it is 403 for %s, whoever is known',
    async (name) => {
      const body = { currentPassword: FIRST, password: SECOND };
      const refused = await change(name, body, await stand.tokenOf('helpdesk'));
      expect([refused.status, refused.body.reason]).toEqual([403, 'Forbidden']);
    },
  );

  test('AC-68 a manager is told of a user who is not there', async () => {
    const { status, body } = await change('no-such-user', { password: SECOND }, await stand.tokenOf('helpdesk'));
    expect([status, body.reason]).toEqual([404, 'NotFound']);
  });

  test.each([
    ['AC-65', ''],
    ['AC-65', undefined],
    ['AC-65', null],
    ['AC-66', 7],
    ['AC-66', 'short1A'],
    ['AC-66', `$2a$12$${'b'.repeat(53)}`],
    ['AC-66', 'All-of-letters'],
  ])('%s the new password %j is judged by its rules, never repeated, and ends no session', async (_, password) => {
    const { name, token } = await person();
    const { status, body, text } = await change(name, { currentPassword: FIRST, password }, token);
    expect([status, body.reason, body.details.causes[0].field]).toEqual([422, 'Invalid', 'password']);
    if (typeof password === 'string' && password !== '') expect(text).not.toContain(password);
    expect([await asksOwn(name, token), await signsIn(name, FIRST)]).toEqual([200, true]);
  });

  test('AC-67 wrong tries fill the buckets of the sign-in: 429 with Retry-After, also for the right one', async () => {
    const { name, token } = await person();
    const answers = [];
    for (let attempt = 0; attempt < 6; attempt++)
      answers.push(await change(name, { currentPassword: `Wrong-${attempt}`, password: SECOND }, token));
    expect(answers.map(({ status }) => status)).toContain(429);
    const { status, headers, body } = await change(name, { currentPassword: FIRST, password: SECOND }, token);
    expect([status, body.reason, Number(headers['retry-after']) > 0]).toEqual([429, 'TooManyRequests', true]);
    expect((await stand.signIn(name, FIRST)).status).toBe(429);
  });

  test('AC-60 of two changes at once one wins, and the other is told that the old password is no longer right', async () => {
    const { name, token } = await person();
    const wanted = ['Winner-take-1', 'Winner-take-2'];
    const answers = await Promise.all(
      wanted.map((password) => change(name, { currentPassword: FIRST, password }, token)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const won = answers.findIndex(({ status }) => status === 200);
    for (const [at, password] of wanted.entries()) expect(await signsIn(name, password)).toBe(at === won);
  });

  test('AC-62 of two resets at once the later one counts, and one of the two passwords works', async () => {
    const { name } = await person();
    const wanted = ['Winner-take-1', 'Winner-take-2'];
    const answers = await Promise.all(wanted.map((password) => change(name, { password })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const works = await Promise.all(wanted.map((password) => signsIn(name, password)));
    expect(works.filter(Boolean)).toHaveLength(1);
    expect(await signsIn(name, FIRST)).toBe(false);
  });

  test.each(['delete', 'disable', 'new password'] as const)(
    'AC-50 a %s during a sign-in leaves no token that works',
    async (act) => {
      const { name } = await person(act === 'delete' ? 'other' : undefined);
      const [begin, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held.by = { begun: begin.resolve, end: end.promise };
      const signingIn = stand.signIn(name, FIRST);
      await begin.promise; // it has found the user, and compares
      const acted = await {
        delete: () => stand.ask('DELETE', `${USERS}/${name}`),
        disable: () => disable(name),
        'new password': () => change(name, { password: SECOND }),
      }[act]();
      end.resolve();
      delete held.by;
      const { status, body: pair } = await signingIn;
      expect(acted).toMatchObject({ status: 200 });
      if (status === 200) expect(await asksOwn(name, pair.access_token)).toBe(401);
      else expect(status).toBe(400);
    },
  );

  test('AC-50 whoever is deleted has no token and no data; a body of the request is ignored', async () => {
    const { name, token } = await person();
    const gone = await stand.ask('DELETE', `${USERS}/${name}`, { body: { password: 'ignored' } });
    expect([gone.status, gone.body]).toEqual([200, { message: 'success' }]);
    expect(await asksOwn(name, token)).toBe(401);
    await eventually(
      () => stand.leftOf(name),
      ({ users, secrets }) => users.length + secrets.length === 0,
    );
  });

  test('AC-51 a delete of a user who is not there is 404, also right after another', async () => {
    const { name } = await person();
    const remove = () => stand.ask('DELETE', `${USERS}/${name}`);
    const both = await Promise.all([remove(), remove()]);
    for (const { status } of both) expect([200, 404]).toContain(status);
    expect((await remove()).status).toBe(404);
    expect((await stand.ask('DELETE', `${USERS}/nobody`)).body.message).toBe(`users.${PREFIX} "nobody" not found`);
  });

  test('AC-52 nobody deletes himself without the right', async () => {
    const { name, token } = await person();
    const { status, body } = await stand.ask('DELETE', `${USERS}/${name}`, { token });
    expect([status, body.reason, await asksOwn(name, token)]).toEqual([403, 'Forbidden', 200]);
  });

  test('AC-35 a manager disables and enables: tokens die, sign-ins stop and go on, old tokens stay dead', async () => {
    const { name, token } = await person();
    expect((await disable(name)).body.status).toMatchObject({ state: 'Disabled' });
    expect(await asksOwn(name, token)).toBe(401);
    expect(await signsIn(name, FIRST)).toBe(false);
    expect((await setState(name, 'Active')).status).toBe(200);
    await eventually(() => signsIn(name, FIRST), Boolean);
    expect(await asksOwn(name, token)).toBe(401);
  });

  describe('the first one, by JSON patch', () => {
    const at = (name: string) => `/apis/${PREFIX}/v1alpha2/users/${name}`;
    const REMOVE = { op: 'remove', path: `/metadata/annotations/${PREFIX}~1uninitialized` };
    const replace = (value: unknown) => ({ op: 'replace', path: '/spec/password', value });
    const patch = (name: string, token: string, body: unknown) =>
      stand.ask('PATCH', at(name), { token, body, headers: { 'Content-Type': 'application/json-patch+json' } });
    const invited = (name?: string) => person(name, { [UNINITIALIZED]: 'true' });

    test('AC-70 CO-15 is set and answered with the User, and all other sessions end', async () => {
      const { name, token } = await invited();
      const other = await stand.newToken(name, FIRST);
      const { status, body, text } = await patch(name, token, [REMOVE, replace(SECOND)]);
      expect([status, body.kind, body.metadata.annotations[UNINITIALIZED]]).toEqual([200, 'User', undefined]);
      expect(text).not.toContain('password"');
      expect([await asksOwn(name, token), await asksOwn(name, other)]).toEqual([200, 401]);
      expect([await signsIn(name, SECOND), await signsIn(name, FIRST)]).toEqual([true, false]);
    });

    test('AC-70 can be skipped: the mark goes, the password and the session stay', async () => {
      const { name, token } = await invited();
      expect((await patch(name, token, [REMOVE])).status).toBe(200);
      expect([await asksOwn(name, token), await signsIn(name, FIRST)]).toEqual([200, true]);
    });

    test('AC-71 is judged by the rules, and the mark stays', async () => {
      const { name, token } = await invited();
      const { status, body, text } = await patch(name, token, [replace('canaryweak'), REMOVE]);
      expect([status, body.details.causes[0].field]).toEqual([422, 'spec.password']);
      expect(text).not.toContain('canaryweak');
      expect(annotationsOf(name)).toHaveProperty([UNINITIALIZED], 'true');
    });

    test('AC-72 everything else is 403 and goes nowhere: other operations, another user, a user who has nothing to set', async () => {
      const { name, token } = await invited();
      const others: unknown[] = [
        [],
        [replace(SECOND)],
        [REMOVE, REMOVE],
        [REMOVE, replace(SECOND), replace(SECOND)],
        [REMOVE, replace(7)],
        [REMOVE, { op: 'add', path: '/spec/groups', value: ['ops'] }],
        [{ ...REMOVE, op: 'test' }],
        [{ op: 'remove', path: '/metadata/annotations' }],
        ['remove'],
      ];
      for (const body of others) expect([body, (await patch(name, token, body)).status]).toEqual([body, 403]);
      expect((await patch('admin', token, [REMOVE])).status).toBe(403);
      const done = await person();
      expect((await patch(done.name, done.token, [REMOVE])).status).toBe(403);
      expect((await patch(name, await stand.tokenOf('admin'), [REMOVE])).status).toBe(403);
      const patches = stand.cluster.evidence.requests.filter(
        ({ verb, headers }) => verb === 'patch' && headers['content-type']?.includes('json-patch'),
      );
      expect([patches, annotationsOf(name)[UNINITIALIZED]]).toEqual([[], 'true']);
    });
  });
});
