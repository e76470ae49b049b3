import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  newUser,
  PREFIX,
  type Reply,
  ROLE,
  startWriteStand,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { eventually } from '../service/stand.ts';

const MIB = 2 ** 20;
const fieldsIn = ({ body }: Reply): string[] => body.details.causes.map(({ field }: { field: string }) => field);

describe('what a write of accounts takes', () => {
  let stand: WriteStand;
  let miasToken: string;
  beforeAll(async () => {
    stand = await startWriteStand();
    await stand.made('mia', { spec: { password: 'Mia-herself-1' } });
    miasToken = await stand.newToken('mia', 'Mia-herself-1');
    // The login time is written after the sign-in is answered. Once it is there, only the tests change Mia, so none gets a 409.
    await eventually(mia, ({ status }) => status.lastLoginTime !== undefined);
  });
  afterAll(() => stand?.stop());

  const create = (body: unknown, headers = {}) => stand.ask('POST', USERS, { body, headers });
  const userCount = () => stand.cluster.objects.list('users').length;
  /** As the cluster has her. */
  const mia = async () => {
    const seen = await eventually(
      () => stand.ask('GET', `${USERS}/mia`),
      ({ body }) =>
        body.metadata.resourceVersion === stand.cluster.objects.get('users', 'mia')?.metadata.resourceVersion,
    );
    return seen.body;
  };

  const WRITES = [
    ['POST', USERS],
    ['PUT', `${USERS}/mia`],
    ['PUT', `${USERS}/mia/password`],
    ['PATCH', `/apis/${PREFIX}/v1alpha2/users/mia`],
  ] as const;
  const typeOf = (method: string) => (method === 'PATCH' ? 'application/json-patch+json' : 'application/json');

  test.each(WRITES)(
    'AC-11 AC-31 %s %s is 415 for another media type, also for none, and names the one',
    async (method, path) => {
      for (const type of ['text/plain', 'application/merge-patch+json', 'application/x-www-form-urlencoded', '']) {
        const headers = { 'Content-Type': type };
        const { status, body } = await stand.ask(method, path, { body: '{}', headers });
        expect([type, status, body.reason]).toEqual([type, 415, 'UnsupportedMediaType']);
        expect(body.message).toContain(typeOf(method));
      }
    },
  );

  test('AC-10 a media type may have parameters and capitals', async () => {
    const made = await create(newUser('typed'), { 'Content-Type': 'Application/JSON; charset=utf-8' });
    expect(made.status).toBe(200);
  });

  test.each([...WRITES, ['DELETE', `${USERS}/mia`] as const])(
    '%s %s is 400 with a query parameter, and writes nothing',
    async (method, path) => {
      const before = await mia();
      for (const query of ['dryRun=All', 'fieldManager=x', 'force']) {
        const headers = { 'Content-Type': typeOf(method) };
        const { status, body } = await stand.ask(method, `${path}?${query}`, { body: JSON.stringify(before), headers });
        expect([query, status, body.reason]).toEqual([query, 400, 'BadRequest']);
        expect(body.message).toContain(query.split('=')[0]);
      }
      expect(await mia()).toEqual(before);
    },
  );

  test('a write takes what clients of Kubernetes add to every request, and refuses a time that is none', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const ask = (query: string) =>
      stand.ask('POST', `${USERS}?${query}`, { body: JSON.stringify(newUser('hurried')), headers });
    const refused = await ask('timeout=10');
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([400, 'timeout']);
    expect((await ask('timeout=1m0s&pretty=true')).status).toBe(200);
  });

  test.each(WRITES)('%s %s is 413 by its Content-Length, before a byte of the body is read', async (method, path) => {
    const answer = await raw(
      stand,
      method,
      path,
      [`Content-Type: ${typeOf(method)}`, `Content-Length: ${MIB + 1}`],
      '',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"reason":"RequestEntityTooLarge"');
  });

  test.each(WRITES)('%s %s is 413 by its chunks', async (method, path) => {
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`.repeat(17);
    const headers = [`Content-Type: ${typeOf(method)}`, 'Transfer-Encoding: chunked'];
    expect(await raw(stand, method, path, headers, chunk)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('AC-11 a body of exactly 1 MiB is read, and its one long field is named and not repeated', async () => {
    const empty = JSON.stringify(newUser('long', { spec: { description: '' } }));
    const whole = empty.replace('"description":""', `"description":"${'d'.repeat(MIB - empty.length)}"`);
    expect(Buffer.byteLength(whole)).toBe(MIB);
    const { status, text, body } = await create(whole);
    expect([status, body.details.causes[0].field, text.length < 2_000]).toEqual([422, 'spec.description', true]);
  });

  test.each([
    ['empty', ''],
    ['no JSON', '{"metadata":'],
    ['no object', '[]'],
    ['a member twice', '{"metadata":{"name":"twice"},"spec":{"email":"","email":""}}'],
    ['a member twice, spelled with an escape', '{"metadata":{"name":"a","n\\u0061me":"b"},"spec":{"email":""}}'],
    ['too deep', `{"metadata":{"name":"deep"},"spec":{"email":""},"x":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['very deep', '['.repeat(500_000)],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['of another kind', { ...newUser('other'), kind: 'Role' }],
    ['of another version', { ...newUser('other'), apiVersion: `${PREFIX}/v1beta1` }],
  ])('AC-11 AC-31 a body that is %s is 400, at creation, update and password', async (_, sent) => {
    const before = userCount();
    for (const [method, path] of WRITES.slice(0, 2)) {
      const { status, body } = await stand.ask(method, path, { body: sent });
      expect([method, status, body.reason]).toEqual([method, 400, 'BadRequest']);
    }
    expect(userCount()).toBe(before);
  });

  test.each(['', '[]', 'null', '{"password":"A-good-one-1","password":"A-good-one-2"}'])(
    'AC-65 the password body %j is 400',
    async (sent) => {
      expect((await stand.ask('PUT', `${USERS}/mia/password`, { body: sent })).status).toBe(400);
    },
  );

  test('AC-12 to AC-16 every bad field is named at once, and no password repeated', async () => {
    const reply = await create({
      metadata: { name: 'Not A Name', labels: { a: 1 }, annotations: { b: true } },
      spec: {
        email: 'no address',
        lang: 'x'.repeat(257),
        displayName: 'a\u0007b',
        description: 7,
        groups: ['', 'system:masters', 'g'.repeat(129)],
        password: 'canarypw',
      },
    });
    expect([reply.status, fieldsIn(reply).sort()]).toEqual([
      422,
      [
        'metadata.annotations["b"]',
        'metadata.labels["a"]',
        'metadata.name',
        'spec.description',
        'spec.displayName',
        'spec.email',
        'spec.groups[0]',
        'spec.groups[1]',
        'spec.groups[2]',
        'spec.lang',
        'spec.password',
        'spec.password',
      ],
    ]);
    expect(reply.text).not.toContain('canarypw');
    for (const { field, message } of reply.body.details.causes)
      expect(reply.body.message).toContain(`${field}: ${message}`);
  });

  test.each<readonly [string, object, number, string]>([
    ['AC-12', { metadata: {}, spec: { email: '' } }, 422, 'metadata.name'],
    ['AC-12', newUser('n'.repeat(64)), 422, 'metadata.name'],
    ...['kubernetes-admin', 'kubernetes-super-admin', 'kube-admin', 'system:node', 'kubeadm:x'].map(
      (name) => ['AC-13', newUser(name), 422, 'metadata.name'] as const,
    ),
    ['AC-15', newUser('at', { spec: { email: 'nobody' } }), 400, 'spec.email'],
    ['AC-15', { metadata: { name: 'at' }, spec: {} }, 422, 'spec.email'],
    ['AC-15', { metadata: { name: 'at' } }, 422, 'spec'],
    ['AC-15', newUser('at', { spec: { email: 'MIA@EXAMPLE.COM' } }), 409, 'spec.email'],
    ...[
      'Short-1',
      'no-capital-1',
      'NO-SMALL-1',
      'No-digit-',
      `Aa1${'é'.repeat(35)}`,
      'With-a-nul-1\0',
      `$2b$10$${'a'.repeat(53)}`,
    ].map((password) => ['AC-16', newUser('pw', { spec: { password } }), 422, 'spec.password'] as const),
  ])('%s %j is %i and names %s', async (_, body, expected, field) => {
    const before = userCount();
    const reply = await create(body);
    expect([reply.status, fieldsIn(reply)]).toEqual([expected, expect.arrayContaining([field])]);
    expect(userCount()).toBe(before);
  });

  test('AC-10 AC-17 a user without a password is answered as GET answers, is Active, and cannot sign in', async () => {
    const made = await stand.create('plain', { annotations: { [ROLE]: 'platform-regular', 'example.com/x': 'y' } });
    expect(made.headers['cache-control']).toBe('no-store');
    expect(made.body).toMatchObject({ kind: 'User', apiVersion: `${PREFIX}/v1alpha2`, status: { state: 'Active' } });
    expect((await stand.made('plain-2')).status).toBe(200);
    const seen = await stand.ask('GET', `${USERS}/plain`);
    expect(made.body).toEqual(seen.body);
    expect((await stand.signIn('plain', 'Anything-1')).status).toBe(400);
  });

  test('AC-22 a create drops the annotations that Gatehouse keeps, so the user signs in and no time is made up', async () => {
    const far = '2099-01-01T00:00:00Z';
    const ours = ['tokens-not-before', 'last-role-change-time', 'last-password-change-time', 'incomplete'];
    const annotations = {
      ...Object.fromEntries(ours.map((name) => [`${PREFIX}/${name}`, far])),
      [`${PREFIX}/granted-clusters`]: 'host',
      'example.com/x': 'y',
    };
    await stand.made('forged', { annotations, spec: { password: 'Forged-once-1' } });
    const stored = stand.cluster.objects.get('users', 'forged')?.metadata.annotations ?? {};
    expect(Object.keys(stored).sort()).toEqual([
      'example.com/x',
      `${PREFIX}/granted-clusters`,
      `${PREFIX}/last-password-change-time`,
    ]);
    expect(Object.values(stored)).not.toContain(far);
    const token = await stand.newToken('forged', 'Forged-once-1');
    expect((await stand.ask('GET', `${USERS}/forged`, { token })).status).toBe(200);
    await stand.made('forged-2', { annotations });
    const without = stand.cluster.objects.get('users', 'forged-2')?.metadata.annotations ?? {};
    expect(Object.keys(without).sort()).toEqual(['example.com/x', `${PREFIX}/granted-clusters`]);
  });

  test('AC-14 a name that is taken is 409, whoever has it', async () => {
    for (const name of ['mia', 'joe']) {
      const { status, body } = await stand.create(name);
      expect([status, body.reason, body.message]).toEqual([
        409,
        'AlreadyExists',
        `users.${PREFIX} "${name}" already exists`,
      ]);
    }
  });

  test('AC-37 a create takes no server-owned members: status, uid and finalizers are ours', async () => {
    const body = newUser('owned') as { metadata: object };
    Object.assign(body.metadata, {
      uid: 'mine',
      finalizers: ['x.example.com/y'],
      creationTimestamp: '2001-01-01T00:00:00Z',
      ownerReferences: [],
    });
    const made = await create({ ...body, status: { state: 'Active', lastLoginTime: '2001-01-01T00:00:00Z' } });
    expect(made.body.metadata).toMatchObject({ finalizers: ['finalizers.gatehouse.io/users'] });
    expect([made.body.metadata.uid === 'mine', made.body.status.lastLoginTime]).toEqual([false, undefined]);
  });

  test.each([
    ['POST', `${USERS}/mia`, 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['PATCH', `${USERS}/mia`, 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['PATCH', USERS, 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', USERS, 'GET, HEAD, POST, OPTIONS'],
    ['PUT', USERS, 'GET, HEAD, POST, OPTIONS'],
    ['GET', `${USERS}/mia/password`, 'PUT, OPTIONS'],
    ['POST', `${USERS}/mia/password`, 'PUT, OPTIONS'],
    ['PUT', `${USERS}/mia/loginrecords`, 'GET, HEAD, OPTIONS'],
    ['DELETE', `${USERS}/mia/globalroles`, 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and allows %s; OPTIONS says the same', async (method, path, allowed) => {
    const sorted = (text: string | undefined) => text?.split(', ').sort();
    const refused = await stand.ask(method, path);
    expect([refused.status, sorted(refused.headers['allow'])]).toEqual([405, sorted(allowed)]);
    const options = await stand.ask('OPTIONS', path);
    expect([options.status < 300, sorted(options.headers['allow'])]).toEqual([true, sorted(allowed)]);
  });

  test('AC-37 labels, annotations and status of others stay, and a body of another uid or time changes nothing of them', async () => {
    const before = await mia();
    stand.cluster.objects.patch('users', 'mia', {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }] },
    });
    const { resourceVersion } = stand.cluster.objects.get('users', 'mia')?.metadata ?? {};
    const metadata = {
      ...before.metadata,
      resourceVersion,
      uid: 'another',
      creationTimestamp: '2001-01-01T00:00:00Z',
      finalizers: [],
      ownerReferences: [],
    };
    const { status, body } = await stand.ask('PUT', `${USERS}/mia`, {
      body: { ...before, metadata, status: { lastLoginTime: 'x', state: 'Active' } },
    });
    expect(status).toBe(200);
    const { uid, creationTimestamp, finalizers } = before.metadata;
    expect(body.metadata).toMatchObject({ uid, creationTimestamp, finalizers, ownerReferences: [{ name: 'o' }] });
    expect(body.status.lastLoginTime).toBe(before.status.lastLoginTime);
  });

  test('AC-30 what GET answered is taken back unchanged, from a manager and from the user, and stays as it was', async () => {
    for (const asked of [{}, { token: miasToken }]) {
      await mia();
      const { body } = await stand.ask('GET', `${USERS}/mia`, asked);
      const put = await stand.ask('PUT', `${USERS}/mia`, { ...asked, body });
      expect(put.status).toBe(200);
      const { resourceVersion: _old, generation: _count, ...metadata } = body.metadata;
      expect(put.body).toMatchObject({ ...body, metadata });
    }
  });

  test('AC-32 of two updates at once one wins, and the other is told of the conflict', async () => {
    const body = await mia();
    const put = (lang: string) => stand.ask('PUT', `${USERS}/mia`, { body: { ...body, spec: { ...body.spec, lang } } });
    const [one, two] = await Promise.all([put('de'), put('fr')]);
    const [won, lost] = one.status === 200 ? [one, two] : [two, one];
    expect([won.status, lost.status, lost.body.reason]).toEqual([200, 409, 'Conflict']);
    expect((await mia()).spec.lang).toBe(won.body.spec.lang);
    const { resourceVersion: _, ...metadata } = body.metadata;
    const without = await stand.ask('PUT', `${USERS}/mia`, { body: { ...body, metadata } });
    expect([without.status, fieldsIn(without)]).toEqual([422, ['metadata.resourceVersion']]);
  });

  test.each([
    ['spec.groups', { spec: { groups: ['ops'] } }],
    ['metadata.labels', { metadata: { labels: { a: 'b' } } }],
    ['status.state', { status: { state: 'Disabled' } }],
    [`metadata.annotations[${ROLE}]`, { metadata: { annotations: { [ROLE]: 'platform-admin' } } }],
    ['metadata.annotations', { metadata: { annotations: { [`${PREFIX}/granted-clusters`]: 'all' } } }],
    ['metadata.annotations', { metadata: { annotations: { [`${PREFIX}/uninitialized`]: 'true' } } }],
  ])(
    'AC-34 the user may not change %s, and nothing else of the request is saved',
    async (field, change: { metadata?: object; spec?: object; status?: object }) => {
      const before = await mia();
      const body = {
        ...before,
        metadata: { ...before.metadata, ...change.metadata },
        spec: { ...before.spec, displayName: 'besides', ...change.spec },
        status: change.status ?? before.status,
      };
      const refused = await stand.ask('PUT', `${USERS}/mia`, { token: miasToken, body });
      expect([refused.status, refused.body.reason, fieldsIn(refused)]).toEqual([403, 'Forbidden', [field]]);
      expect((await mia()).spec.displayName).toBe(before.spec.displayName);
    },
  );

  const putMia = async (change: (body: { metadata: object; spec: object }) => object, name = 'mia') => {
    const body = await mia();
    return stand.ask('PUT', `${USERS}/${name}`, { body: { ...body, ...change(body) } });
  };

  test('AC-31 a body that names another user than the path is 400', async () => {
    const { status, body } = await putMia(({ metadata }) => ({ metadata: { ...metadata, name: 'joe' } }));
    expect([status, body.reason]).toEqual([400, 'BadRequest']);
  });

  test('AC-33 an update of an unknown user is 404', async () => {
    const { status, body } = await putMia(({ metadata }) => ({ metadata: { ...metadata, name: 'nobody' } }), 'nobody');
    expect([status, body.message]).toEqual([404, `users.${PREFIX} "nobody" not found`]);
  });

  test('AC-36 a state that is no word of ours is 400 and named', async () => {
    const refused = await putMia(() => ({ status: { state: 'Sleeping' } }));
    expect([refused.status, fieldsIn(refused)]).toEqual([400, ['status.state']]);
  });

  test('AC-38 a password in an update is 422, and not repeated', async () => {
    const refused = await putMia(({ spec }) => ({ spec: { ...spec, password: 'Not-this-way-1' } }));
    expect([refused.status, fieldsIn(refused)]).toEqual([422, ['spec.password']]);
    expect(refused.text).not.toContain('Not-this-way-1');
  });

  test('AC-39 an empty role annotation, or none, leaves the role, and the answer shows it', async () => {
    const { body } = await stand.made('roled', { annotations: { [ROLE]: 'platform-regular' } });
    for (const annotations of [{ [ROLE]: '' }, {}]) {
      const put = await stand.update('roled', ({ metadata: { resourceVersion } }) => ({
        ...body,
        metadata: { ...body.metadata, resourceVersion, annotations },
      }));
      expect([put.status, put.body.metadata.annotations[ROLE]]).toEqual([200, 'platform-regular']);
    }
  });

  test('AC-41 an e-mail address of another user is refused at update, without regard to case, and one’s own is not', async () => {
    const body = await mia();
    await stand.made('taker');
    const put = (email: string) =>
      stand.ask('PUT', `${USERS}/mia`, { body: { ...body, spec: { ...body.spec, email } } });
    expect((await put('Taker@Example.com')).status).toBe(409);
    expect((await put('not one')).status).toBe(400);
    const withOwn = (user: Reply['body']) => ({ ...user, spec: { ...user.spec, email: 'MIA@example.com' } });
    expect((await stand.update('mia', withOwn)).status).toBe(200);
  });
});

/** The answer's bytes; the connection is closed as soon as they are there. */
async function raw(stand: WriteStand, method: string, path: string, headers: string[], body: string): Promise<string> {
  const token = await stand.tokenOf('admin');
  const head = [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...headers];
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(stand.gatehouse.port, '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`),
    );
    socket.on('data', (data) => {
      text += data;
      if (text.includes('}')) socket.destroy();
    });
    socket.on('error', () => {}); // it may be reset while the body is still being sent
    socket.on('close', () => resolve(text));
  });
}
