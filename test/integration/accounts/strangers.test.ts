import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FILE_PASSWORD,
  newUser,
  PREFIX,
  type Reply,
  ROLE,
  secretOf,
  startWriteStand,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { hashOf } from '../../support/passwords.ts';
import { eventually } from '../service/stand.ts';

const PASSWORD = 'Twice-an-owner-1';

describe('who has no right', () => {
  let stand: WriteStand;
  beforeAll(async () => {
    stand = await startWriteStand();
    await stand.made('there', { spec: { password: PASSWORD } });
  });
  afterAll(() => stand?.stop());

  /** Without what differs between any two requests. */
  const told = ({ status, headers, text }: Reply, name: string) => {
    const { date: _1, 'x-request-id': _2, ...rest } = headers;
    return { status, headers: rest, text: text.replaceAll(name, 'NAME') };
  };

  test.each([
    ['GET', ''],
    ['HEAD', ''],
    ['PUT', ''],
    ['PUT', ' with a body of another name'],
    ['DELETE', ''],
    ['POST', ''],
    ['PATCH', ''],
    ['PUT', '/password'],
    ['GET', '/loginrecords'],
    ['GET', '/globalroles'],
    ['GET', '/anything'],
    ['DELETE', '/anything'],
  ])('A-42 cannot tell by %s %s whether there is such a user', async (method, rest) => {
    const [path, isOdd] = [rest.startsWith('/') ? rest : '', rest.startsWith(' ')];
    const sent = method === 'PUT' ? newUser(isOdd ? 'else' : 'there') : undefined;
    for (const token of [await stand.tokenOf('joe')]) {
      const ask = (name: string) =>
        stand.ask(method, `${USERS}/${name}${path}`, {
          token,
          ...(sent && { body: JSON.stringify(sent).replace('there', name) }),
        });
      const [present, missing, inFile] = [await ask('there'), await ask('nosir'), await ask('admin')];
      expect(present.status).toBe(method === 'HEAD' ? 403 : present.body.code);
      expect(told(present, 'there')).toEqual(told(missing, 'nosir'));
      expect(told(inFile, 'admin')).toEqual(told(missing, 'nosir'));
    }
  });

  test('A-42 a create without the right is 403 before the body is read, for names that are taken as for others', async () => {
    const token = await stand.tokenOf('joe');
    for (const body of [newUser('there'), newUser('free'), '{', '']) {
      const { status, text } = await stand.ask('POST', USERS, { token, body });
      expect([status, text.includes('there')]).toEqual([403, false]);
    }
  });

  test('A-42 a patch of the first password does not tell who is there', async () => {
    const token = await stand.tokenOf('joe');
    const headers = { 'Content-Type': 'application/json-patch+json' };
    const ask = (name: string) =>
      stand.ask('PATCH', `/apis/${PREFIX}/v1alpha2/users/${name}`, { token, headers, body: [] });
    expect(told(await ask('there'), 'there')).toEqual(told(await ask('nosir'), 'nosir'));
  });
});

describe('objects that other tools make', () => {
  let stand: WriteStand;
  beforeAll(async () => {
    stand = await startWriteStand({
      people: { shared: { groups: ['from-the-file'] } },
      fill: ({ objects }) => {
        objects.create('users', newUser('shared', { spec: { groups: ['gatehouse-admins'] } }) as never);
      },
    });
  });
  afterAll(() => stand?.stop());

  /** As kubectl does it, with a hash of a 3.4 cluster. */
  const apply = async (name: string, spec: object, status: object = { state: 'Active' }) => {
    const object = newUser(name, { spec: { password: await hashOf(PASSWORD), ...spec } });
    stand.cluster.objects.create('users', { ...object, status } as never);
    await eventually(
      () => stand.ask('GET', `${USERS}/${name}`),
      ({ status: code }) => code === 200,
    );
  };
  const claimsOf = ({ body }: Reply) =>
    JSON.parse(Buffer.from(String(body.access_token).split('.')[1] ?? '', 'base64url').toString());

  test('A-41 an address of two owners signs nobody in, each signs in by name, and a metric tells', async () => {
    const shared = () => stand.metric('gatehouse_user_emails_shared');
    const before = await shared();
    await apply('twin-a', { email: 'twin@example.com' });
    expect((await stand.signIn('twin@example.com', PASSWORD)).status).toBe(200);
    await apply('twin-b', { email: 'TWIN@example.com' });
    await eventually(
      () => stand.signIn('twin@example.com', PASSWORD),
      ({ status }) => status === 400,
    );
    expect((await stand.signIn('TWIN@example.com', PASSWORD)).status).toBe(400);
    for (const name of ['twin-a', 'twin-b']) expect((await stand.signIn(name, PASSWORD)).status).toBe(200);
    expect((await shared()) - before).toBe(1);
    expect((await stand.create('twin-c', { spec: { email: 'twin@example.com' } })).status).toBe(409);
    await stand.ask('DELETE', `${USERS}/twin-b`);
    await eventually(
      () => stand.signIn('twin@example.com', PASSWORD),
      ({ status }) => status === 200,
    );
  });

  test('A-41 two creates with one address in one moment make no address that signs in for one of two', async () => {
    const made = await Promise.all(
      ['pair-a', 'pair-b'].map((name) =>
        stand.create(name, { spec: { email: 'pair@example.com', password: PASSWORD } }),
      ),
    );
    const done = made.filter(({ status }) => status === 200);
    const expected = done.length === 2 ? 400 : 200;
    await eventually(
      () => stand.signIn('pair@example.com', PASSWORD),
      ({ status }) => status === expected,
    );
    for (const { body } of done) expect((await stand.signIn(body.metadata.name, PASSWORD)).status).toBe(200);
  });

  test('A-31 groups of the cluster itself are in no decision and no token, also when an object has them', async () => {
    await apply('risen', { groups: ['system:masters', 'kubeadm:cluster-admins', 'ops'] });
    const signedIn = await stand.signIn('risen', PASSWORD);
    expect(claimsOf(signedIn).groups).toEqual(['ops']);
    expect((await stand.ask('GET', USERS, { token: signedIn.body.access_token })).status).toBe(403);
    const reviews = stand.cluster.evidence.requests.filter(({ body }) => body.includes('"user":"risen"'));
    expect(reviews.length).toBeGreaterThan(0);
    for (const { body } of reviews) expect(body.toString()).not.toMatch(/system:masters|kubeadm:/);
  });

  test.each(['kubernetes-admin', 'kube-admin', 'kubernetes-super-admin'])(
    'A-32 the reserved name %s does not sign in when an object has it',
    async (name) => {
      const object = newUser(name, { spec: { password: await hashOf(PASSWORD) } });
      stand.cluster.objects.create('users', { ...object, status: { state: 'Active' } } as never);
      await apply(`after-${name}`, {});
      expect((await stand.signIn(`after-${name}`, PASSWORD)).status).toBe(200);
      expect((await stand.signIn(name, PASSWORD)).status).toBe(400);
    },
  );

  test('a user of the file and an object of one name: told, and the rights are never more than one of them has', async () => {
    expect(await stand.metrics()).toMatch(/^gatehouse_users_refused(\{[^}]*\})? [1-9]/m);
    const byFile = await stand.signIn('shared', FILE_PASSWORD);
    if (byFile.status === 200) expect(claimsOf(byFile).groups).toEqual(['from-the-file']);
    else expect(byFile.status).toBe(400);
    expect((await stand.create('shared')).status).toBe(409);
  });

  test('an object that breaks rules can still be changed where the rules are kept, and told from the good ones', async () => {
    await apply('odd', { email: 'not an address', lang: 'l'.repeat(300) });
    const put = await stand.update('odd', (user) => ({ ...user, spec: { ...user.spec, displayName: 'Odd' } }));
    expect([put.status, put.body.spec.displayName]).toEqual([200, 'Odd']);
    const broken = { ...put.body, spec: { ...put.body.spec, email: 'another bad one' } };
    expect((await stand.ask('PUT', `${USERS}/odd`, { body: broken })).status).toBe(400);
  });

  test('AC-38 a password found in an object is moved to its Secret and answered nowhere', async () => {
    await apply('moved', {});
    await eventually(
      () => stand.leftOf('moved').secrets,
      (secrets) => secrets.length === 1,
    );
    const { text } = await stand.ask('GET', `${USERS}/moved`);
    expect(text).not.toMatch(/\$2[aby]\$/);
    expect(stand.cluster.objects.get('secrets', `default/${secretOf('moved')}`)).toBeDefined();
  });
});

describe('AlwaysAllow', () => {
  let stand: WriteStand;
  beforeAll(async () => {
    stand = await startWriteStand({
      config: { authorization: { mode: 'AlwaysAllow' } },
      people: { assigner: { isAssigner: true } },
    });
  });
  afterAll(() => stand?.stop());

  test('AC-19 AC-20 lets everybody call the routes, and still asks the cluster for groups and roles', async () => {
    const token = await stand.tokenOf('assigner');
    expect((await stand.create('plain', {}, token)).status).toBe(200);
    const grouped = await stand.create('grouped', { spec: { groups: ['ops'] } }, token);
    const bound = await stand.create('bound', { annotations: { [ROLE]: 'platform-admin' } }, token);
    expect([grouped.status, bound.status]).toEqual([403, 403]);
    expect([stand.leftOf('grouped').users, stand.leftOf('bound').users]).toEqual([[], []]);
  });
});
