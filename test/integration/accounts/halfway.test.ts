import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Behaviour } from '../../../dev/cluster/behaviour.ts';
import type { RequestMatch } from '../../../dev/cluster/faults.ts';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import {
  type NewUserParts,
  type Reply,
  ROLE,
  startWriteStand,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { DrivenClock } from '../service/driven.ts';

const isReal = ({ query }: ApiRequest): boolean => !query.has('dryRun');
const isStatus = ({ target }: ApiRequest): boolean => target?.subresource === 'status';

const BINDING_MADE: RequestMatch = { verb: 'create', kind: 'clusterrolebindings', when: isReal };
const STATUS: RequestMatch = { verb: 'patch', kind: 'users', subresource: 'status' };
const MARK_REMOVED: RequestMatch = { verb: 'patch', kind: 'users', when: (request) => !isStatus(request) };
const SECRET_MADE: RequestMatch = { verb: 'create', kind: 'secrets' };

/** Every way in which a write can fail: not carried out, or carried out and not confirmed. */
const WAYS: readonly (readonly [string, Behaviour])[] = [
  ['is refused', { status: 500 }],
  ['is carried out, but answered 500', { status: 500, afterCommit: true }],
  ['is cut off', { connection: 'reset' }],
  ['is carried out, and then cut off', { connection: 'reset', afterCommit: true }],
];

const everyWayOf = (steps: readonly (readonly [string, RequestMatch])[]) =>
  steps.flatMap(([step, match]) => WAYS.map(([way, behaviour]) => [step, way, match, behaviour] as const));

const NOTHING = { users: [], bindings: [], secrets: [] };
const WHOLE: NewUserParts = { spec: { password: 'Halfway-there-1' }, annotations: { [ROLE]: 'platform-regular' } };

describe('a write that fails halfway', () => {
  const clock = new DrivenClock();
  let stand: WriteStand;
  let serial = 0;
  const fresh = (prefix: string): string => `${prefix}-${++serial}`;

  beforeAll(async () => {
    stand = await startWriteStand({ clock, untilReady: false });
    stand.during = (promise) => clock.during(promise);
    await clock.until(
      () => fetch(`${stand.gatehouse.origin}/readyz`),
      ({ status }) => status === 200,
    );
  });
  afterAll(async () => {
    stand.cluster.faults.clear();
    await clock.during(stand.stop());
  });

  const strike = (match: RequestMatch, behaviour: Behaviour): void => stand.cluster.faults.next(match, behaviour);
  /** The keeper removes what nobody completed. */
  const gone = (name: string) =>
    clock.until(
      () => stand.leftOf(name),
      (left) => JSON.stringify(left) === JSON.stringify(NOTHING),
    );
  const get = (name: string) => stand.ask('GET', `${USERS}/${name}`);

  describe('a create', () => {
    const STEPS: readonly (readonly [string, RequestMatch])[] = [
      ['making the user', { verb: 'create', kind: 'users' }],
      ['storing the password', SECRET_MADE],
      ['binding the role', BINDING_MADE],
      ['setting the state', STATUS],
      ['removing the mark', MARK_REMOVED],
    ];

    test.each(everyWayOf(STEPS))('AC-10 is all or nothing when %s %s', async (_step, _way, match, behaviour) => {
      const name = fresh('half');
      strike(match, behaviour);
      const { status, headers, body } = await stand.create(name, WHOLE);
      stand.cluster.faults.clear();
      if (status === 200) {
        expect((await stand.made(fresh('whole'), WHOLE)).status).toBe(200);
        expect((await stand.signIn(name, 'Halfway-there-1')).status).toBe(200);
        return;
      }
      expect([status, headers['retry-after'], body.reason]).toEqual([503, '5', 'ServiceUnavailable']);
      expect((await get(name)).status).toBe(404);
      expect((await stand.signIn(name, 'Halfway-there-1')).status).toBe(400);
      await gone(name);
      const { body: again } = await stand.made(name, WHOLE);
      expect(again.metadata.annotations[ROLE]).toBe('platform-regular');
    });

    test('is removed after 90 s when the cluster is lost in the middle, and nobody signs in until then', async () => {
      const name = fresh('lost');
      stand.cluster.faults.until({ ...STATUS }, { status: 503 });
      const end = stand.cluster.faults.until({ verb: 'delete' }, { status: 503 });
      const endPatch = stand.cluster.faults.until({ verb: 'patch' }, { status: 503 });
      expect((await stand.create(name, WHOLE)).status).toBe(503);
      end();
      endPatch();
      stand.cluster.faults.clear();
      expect(stand.leftOf(name).users).toEqual([name]);
      expect((await get(name)).status).toBe(404);
      expect((await stand.signIn(name, 'Halfway-there-1')).status).toBe(400);
      const before = clock.monotonic();
      await gone(name);
      expect(clock.monotonic() - before).toBeLessThan(105_000);
    });
  });

  describe('an update with a new role', () => {
    const withNewRole = (user: Reply['body']) => ({
      ...user,
      metadata: { ...user.metadata, annotations: { ...user.metadata.annotations, [ROLE]: 'users-manager' } },
      spec: { ...user.spec, displayName: 'New' },
    });
    const isDisabled = (user: Reply['body']) => ({ ...user, status: { state: 'Disabled' } });
    const STEPS: readonly (readonly [string, RequestMatch])[] = [
      ['asking whether the role may be given', { verb: 'create', kind: 'clusterrolebindings' }],
      ['binding the new role', BINDING_MADE],
      ['saving the user', { verb: 'update', kind: 'users' }],
    ];

    test.each(everyWayOf(STEPS))('AC-40 is all or nothing when %s %s', async (_step, _way, match, behaviour) => {
      const name = fresh('up');
      await stand.made(name, { annotations: { [ROLE]: 'platform-regular' } });
      const body = withNewRole((await get(name)).body);
      strike(match, behaviour);
      const { status } = await stand.ask('PUT', `${USERS}/${name}`, { body });
      stand.cluster.faults.clear();
      const now = await clock.until(
        () => get(name),
        ({ body: { metadata, spec } }) =>
          (spec.displayName === 'New') === (metadata.annotations[ROLE] === 'users-manager'),
      );
      const isDone = status === 200;
      expect([status, now.body.spec.displayName, stand.leftOf(name).bindings]).toEqual(
        isDone ? [200, 'New', [`${name}-users-manager`]] : [503, undefined, [`${name}-platform-regular`]],
      );
    });

    test.each(WAYS)('AC-40 is completed by a repeat when removing the old role %s', async (_way, behaviour) => {
      const name = fresh('up');
      await stand.made(name, { annotations: { [ROLE]: 'platform-regular' } });
      strike({ verb: 'delete', kind: 'clusterrolebindings', when: isReal }, behaviour);
      const first = await stand.ask('PUT', `${USERS}/${name}`, {
        body: withNewRole((await get(name)).body),
      });
      expect([first.status, first.headers['retry-after']]).toEqual([503, '5']);
      expect((await stand.update(name, withNewRole)).status).toBe(200);
      expect(stand.leftOf(name).bindings).toEqual([`${name}-users-manager`]);
    });

    test.each(WAYS)(
      'AC-35 of the state says what is saved when setting the state %s, and a repeat completes it',
      async (_way, behaviour) => {
        const name = fresh('state');
        await stand.made(name);
        const body = isDisabled((await get(name)).body);
        strike(STATUS, behaviour);
        const { status, body: said } = await stand.ask('PUT', `${USERS}/${name}`, { body });
        expect(status === 200 || said.message.includes('its state is not Disabled yet')).toBe(true);
        const again = await stand.update(name, isDisabled);
        expect([again.status, again.body.status.state]).toEqual([200, 'Disabled']);
      },
    );
  });

  describe('what ends sessions', () => {
    const cutOffFails = (): (() => void) =>
      stand.cluster.faults.until(
        {
          kind: 'secrets',
          when: ({ verb, body }) => ['create', 'update', 'patch'].includes(verb) && !body.includes('"hash"'),
        },
        { status: 503 },
      );
    const person = async () => {
      const name = fresh('session');
      await stand.made(name, WHOLE);
      return { name, token: await stand.newToken(name, 'Halfway-there-1') };
    };
    const asksOwn = async (name: string, token: string) =>
      (await stand.ask('GET', `${USERS}/${name}`, { token })).status;
    const passwordChange = { currentPassword: 'Halfway-there-1', password: 'The-new-one-2' };

    test('AC-53 a delete is 503 and changes nothing while the sessions cannot be ended; a repeat completes it', async () => {
      const { name, token } = await person();
      const end = cutOffFails();
      const { status, headers, body } = await stand.ask('DELETE', `${USERS}/${name}`);
      end();
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect(body.message).toContain('nothing was changed');
      expect(await asksOwn(name, token)).toBe(200);
      expect((await stand.ask('DELETE', `${USERS}/${name}`)).body).toEqual({ message: 'success' });
      expect(await asksOwn(name, token)).toBe(401);
      await gone(name);
    });

    test.each(WAYS)(
      'AC-53 a delete whose removal %s is 503, the tokens are dead, and a repeat finds it gone or completes it',
      async (_way, behaviour) => {
        const { name, token } = await person();
        strike({ verb: 'delete', kind: 'users' }, behaviour);
        expect((await stand.ask('DELETE', `${USERS}/${name}`)).status).toBe(503);
        expect(await asksOwn(name, token)).toBe(401);
        expect([200, 404]).toContain((await stand.ask('DELETE', `${USERS}/${name}`)).status);
        await gone(name);
      },
    );

    test('AC-35 a disable is 503 and changes nothing while the sessions cannot be ended; a repeat completes it', async () => {
      const { name, token } = await person();
      const disabled = (user: Reply['body']) => ({ ...user, status: { state: 'Disabled' } });
      const before = stand.cluster.objects.get('users', name);
      const end = cutOffFails();
      const { status, headers, body } = await stand.update(name, disabled);
      end();
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect(body.message).toContain('nothing was changed');
      expect(stand.cluster.objects.get('users', name)?.metadata.annotations).toEqual(before?.metadata.annotations);
      expect(await asksOwn(name, token)).toBe(200);
      expect((await stand.update(name, disabled)).body.status.state).toBe('Disabled');
      expect(await asksOwn(name, token)).toBe(401);
    });

    test('AC-69 a password change is 503 and the password as it was while the sessions cannot be ended', async () => {
      const { name, token } = await person();
      const other = await stand.newToken(name, 'Halfway-there-1');
      const end = cutOffFails();
      const path = `${USERS}/${name}/password`;
      const { status, headers } = await stand.ask('PUT', path, { token, body: passwordChange });
      end();
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect(await asksOwn(name, token)).toBe(200);
      expect((await stand.signIn(name, 'Halfway-there-1')).status).toBe(200);
      expect((await stand.signIn(name, 'The-new-one-2')).status).toBe(400);
      expect((await stand.ask('PUT', path, { token, body: passwordChange })).status).toBe(200);
      expect([await asksOwn(name, token), await asksOwn(name, other)]).toEqual([200, 401]);
    });

    test.each(WAYS)('AC-69 a password change whose Secret %s tells the truth', async (_way, behaviour) => {
      const { name, token } = await person();
      const other = await stand.newToken(name, 'Halfway-there-1');
      strike({ kind: 'secrets', verb: 'update', when: ({ body }) => body.includes('"hash"') }, behaviour);
      const { status } = await stand.ask('PUT', `${USERS}/${name}/password`, { token, body: passwordChange });
      const [works, dead] =
        status === 200 ? ['The-new-one-2', 'Halfway-there-1'] : ['Halfway-there-1', 'The-new-one-2'];
      expect([200, 503]).toContain(status);
      expect((await stand.signIn(name, works)).status).toBe(200);
      expect((await stand.signIn(name, dead)).status).toBe(400);
      expect([await asksOwn(name, token), await asksOwn(name, other)]).toEqual([200, 401]);
    });
  });

  describe('without a cluster', () => {
    test.each([
      ['answers 500', { status: 500 }],
      ['cuts every connection', { connection: 'reset' }],
      ['does not answer', { connection: 'silence' }],
      ['refuses our own account', { status: 401 }],
      ['has no right for our own account', { status: 403 }],
    ] as const)(
      'AC-21 AC-84 that %s, every write is 503 within 15 s, with Retry-After unless it would be refused again',
      async (_, behaviour) => {
        const lasts = 'status' in behaviour && behaviour.status === 403;
        const name = fresh('away');
        const { body } = await stand.made(name, WHOLE);
        const token = await stand.newToken(name, 'Halfway-there-1');
        const end = stand.cluster.faults.until({ when: ({ verb }) => verb !== 'watch' && verb !== 'list' }, behaviour);
        const writes = [
          ['POST', USERS, { metadata: { name: fresh('never') }, spec: { email: '' } }],
          ['PUT', `${USERS}/${name}`, { ...body, spec: { ...body.spec, lang: 'de' } }],
          ['DELETE', `${USERS}/${name}`, undefined],
          ['PUT', `${USERS}/${name}/password`, { password: 'The-new-one-2' }],
        ] as const;
        for (const [method, path, sent] of writes) {
          const began = clock.monotonic();
          const { status, headers, text } = await stand.ask(method, path, { body: sent });
          expect([method, path, status, headers['retry-after']]).toEqual([method, path, 503, lasts ? undefined : '5']);
          if (lasts) expect(text).not.toMatch(/again/);
          expect(clock.monotonic() - began).toBeLessThan(15_000);
        }
        end();
        expect((await stand.ask('GET', `${USERS}/${name}`, { token })).status).toBe(200);
        // Access reviews pause while they fail; a question that was never asked before has to wait for the end of that.
        await clock.until(
          () => get(fresh('new')),
          ({ status }) => status === 404,
        );
      },
    );
  });
});
