import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { binding } from '../../support/accounts/deployed-rights.ts';
import {
  FILE_PASSWORD,
  newUser,
  PASSWORD,
  type Reply,
  ROLE,
  startWriteStand,
  UNINITIALIZED,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';

const IAM = 'iam.gatehouse.io';
const MANAGER = {
  rules: [{ apiGroups: [IAM], resources: ['users'], verbs: ['get', 'list', 'create', 'update', 'delete'] }],
};

describe('somebody who wants more than his rights', () => {
  let stand: WriteStand;
  beforeAll(async () => {
    stand = await startWriteStand({
      people: { manager: MANAGER, shadow: {} },
      fill: ({ objects }) => {
        objects.create('clusterrolebindings', binding({ role: 'cluster-admin', to: { kind: 'User', name: 'vip' } }));
        // With our finalizer, so that nothing but a request changes the object.
        const metadata = { name: 'shadow', finalizers: ['finalizers.gatehouse.io/users'] };
        objects.create('users', { metadata, spec: { email: '' }, status: { state: 'Active' } });
      },
    });
  });
  afterAll(() => stand?.stop());

  const get = async (name: string) => (await stand.ask('GET', `${USERS}/${name}`)).body;
  const put = (name: string, body: object, token?: string) =>
    stand.ask('PUT', `${USERS}/${name}`, { body, ...(token && { token }) });
  const change = (name: string, by: (user: Reply['body']) => object, token?: string) =>
    stand.update(name, (user) => ({ ...user, ...by(user) }), token);
  /** An object with a password, signed in. */
  const person = async (name: string): Promise<string> => {
    await stand.made(name, { spec: { password: PASSWORD } });
    return stand.newToken(name);
  };

  test('cannot make a user for whose name rights wait in the cluster, unless he may act as that user', async () => {
    const token = await stand.tokenOf('manager');
    const { status, body } = await stand.create('vip', { spec: { password: PASSWORD } }, token);
    expect([status, body.details.causes[0].field]).toEqual([403, 'metadata.name']);
    expect(stand.leftOf('vip')).toMatchObject({ users: [], secrets: [] });
    expect((await stand.create('nobody-special', {}, token)).status).toBe(200);
  });

  test('AC-61 cannot say of himself that he must set a first password, manager or not', async () => {
    stand.cluster.objects.create(
      'clusterrolebindings',
      binding({ role: 'rights-of-manager', to: { kind: 'User', name: 'chief' } }),
    );
    stand.cluster.objects.create('users', {
      metadata: { name: 'chief' },
      spec: { email: '' },
      status: { state: 'Active' },
    });
    await stand.made('other');
    const path = `${USERS}/chief/password`;
    expect((await stand.ask('PUT', path, { body: { password: PASSWORD } })).status).toBe(200);
    const token = await stand.newToken('chief');
    const answer = await change(
      'chief',
      ({ metadata }) => ({
        metadata: { ...metadata, annotations: { ...metadata.annotations, [UNINITIALIZED]: 'true' } },
      }),
      token,
    );
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining(UNINITIALIZED)]);
  });

  test('cannot fill the cluster with his own object: neither with one change nor with many', async () => {
    const token = await person('busy');
    const big = { 'example.com/note': 'x'.repeat(20_000) };
    const large = await change('busy', ({ metadata }) => ({ metadata: { ...metadata, annotations: big } }), token);
    expect([large.status, large.body.details.causes[0].field]).toEqual([422, 'metadata.annotations']);
    const statuses: number[] = [];
    for (let time = 0; time < 25; time++)
      statuses.push(
        (await put('busy', { ...(await get('busy')), spec: { email: '', lang: `${time}` } }, token)).status,
      );
    // The time of the last sign-in is written meanwhile, once: whoever has the version before gets a 409.
    expect(statuses.filter((status) => ![200, 409, 429].includes(status))).toEqual([]);
    expect(statuses.filter((status) => status === 409).length).toBeLessThanOrEqual(1);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5);
    expect((await change('busy', () => ({ spec: { email: '' } }))).status).toBe(200); // a manager goes on
  });

  test('is told when a change would have no effect, because the users file has the name', async () => {
    const before = stand.cluster.objects.get('users', 'shadow');
    const body = {
      ...newUser('shadow'),
      metadata: { name: 'shadow', resourceVersion: before?.metadata.resourceVersion },
    };
    expect((await put('shadow', { ...body, status: { state: 'Disabled' } })).status).toBe(409);
    expect((await stand.ask('PUT', `${USERS}/shadow/password`, { body: { password: PASSWORD } })).status).toBe(409);
    expect((await stand.signIn('shadow', FILE_PASSWORD)).status).toBe(200);
    expect(stand.cluster.objects.get('users', 'shadow')).toEqual(before);
  });

  test('AC-40 leaves nobody without a role by two changes at one time', async () => {
    for (let time = 0; time < 6; time++) {
      const name = `dora-${time}`;
      await stand.made(name, { annotations: { [ROLE]: 'platform-regular' } });
      const user = await get(name);
      const annotations = { ...user.metadata.annotations, [ROLE]: 'users-manager' };
      const body = { ...user, metadata: { ...user.metadata, annotations }, spec: { ...user.spec, lang: 'de' } };
      const statuses = (await Promise.all([put(name, body), put(name, body)])).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 409]);
      expect(stand.leftOf(name).bindings).toEqual([`${name}-users-manager`]);
    }
  });

  test('AC-31 a long text that was there before hinders no other change', async () => {
    const description = 'x'.repeat(300);
    const spec = { email: '', displayName: 'y'.repeat(300), description };
    stand.cluster.objects.create('users', { metadata: { name: 'old' }, spec, status: { state: 'Active' } });
    await stand.made('later');
    const answer = await change('old', () => ({ status: { state: 'Disabled' } }));
    expect([answer.status, answer.body.status.state, answer.body.spec.description]).toEqual([
      200,
      'Disabled',
      description,
    ]);
  });
});

describe('tokens that were ended stay ended when the records of sessions are lost', () => {
  test('AC-60 after a change of the password, and nobody else’s end', async () => {
    const passed = { ms: 0 };
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + passed.ms };
    const config = { sessions: { store: 'memory' } };
    const stand = await startWriteStand({ clock, config });
    await stand.made('mia', { spec: { password: PASSWORD } });
    await stand.made('tom', { spec: { password: PASSWORD } });
    const old = { mia: await stand.newToken('mia'), tom: await stand.newToken('tom') };
    const own = await stand.newToken('mia');
    const judge = (one: WriteStand, name: 'mia' | 'tom', token: string) =>
      one.ask('GET', `${USERS}/${name}`, { token });
    expect((await judge(stand, 'mia', old.mia)).status).toBe(200);
    passed.ms += 60_000;
    const password = `${PASSWORD}-new`;
    const change = { currentPassword: PASSWORD, password };
    expect((await stand.ask('PUT', `${USERS}/mia/password`, { token: own, body: change })).status).toBe(200);
    const restarted = await stand.restarted();
    expect((await judge(restarted, 'mia', old.mia)).status).toBe(401);
    expect((await judge(restarted, 'mia', await restarted.newToken('mia', password))).status).toBe(200);
    expect((await judge(restarted, 'tom', old.tom)).status).toBe(200);
    expect((await judge(restarted, 'mia', own)).status).toBe(200);
    await restarted.stop();
  });
});
