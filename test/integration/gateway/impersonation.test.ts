import { afterEach, describe, expect, test } from 'vitest';
import type { Authorizer, Subject } from '../../../src/authorization/authorizer.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { valuesOf } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { type GatewayUnderTest, HEAD, requestOf, startGateway, stopped } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

/** Who may impersonate whom, as `alice users bob`. */
let rights: Set<string>;
let asked: string[];
let running: { app: GatewayUnderTest; clock: FakeClock } | undefined;

afterEach(async () => {
  if (running) await stopped(running.app, running.clock);
  running = undefined;
});

async function start(impersonation: 'refuse' | 'honour' = 'honour'): Promise<GatewayUnderTest> {
  rights = new Set(['alice users bob', 'alice groups ops', 'bob pods']);
  asked = [];
  const authorizer: Authorizer = {
    authorize: ({ name, groups }: Subject, attributes) => {
      if (!('resource' in attributes)) throw new Error('nothing else is asked');
      const { verb, resource, name: whom } = attributes.resource;
      const question = verb === 'impersonate' ? `${name} ${resource} ${whom}` : `${name} ${resource}`;
      asked.push(verb === 'impersonate' ? question : `${question} as ${groups}`);
      return { allowed: rights.has(question), source: 'review' };
    },
  };
  const clock = new FakeClock();
  const app = await startGateway({ options: { impersonation }, authorizer, clock, drainMs: 30_000 });
  running = { app, clock };
  return app;
}

const ACCOUNT = 'system:serviceaccount:gatehouse-system:gatehouse';

/** The cluster says that our account may not act as somebody. */
function refuse(app: GatewayUnderTest, resource: 'users' | 'groups', name: string): void {
  const message = `${resource} "${name}" is forbidden: User "${ACCOUNT}" cannot impersonate resource "${resource}" in API group "" at the cluster scope`;
  const body = JSON.stringify({ kind: 'Status', message, code: 403 });
  app.upstream.answer = () => `HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const refusals = (app: GatewayUnderTest, reason: string): Promise<number> =>
  app.metric('gatehouse_gateway_refusals_total', { reason });

/** A header is bytes: each octet of UTF-8 as a character of its own. */
const octets = (text: string): string => Buffer.from(text).toString('latin1');

const as = (...lines: string[]): string => lines.map((line) => `Impersonate-${line}\r\n`).join('');

describe('A-30 with gateway.impersonation: honour', () => {
  test('a call is made as the user and the groups that the caller may impersonate', async () => {
    const app = await start();
    const answer = parseAnswer(await app.raw(requestOf('GET /api/v1/pods', as('User: bob', 'Group: ops'))));
    expect([answer.status, asked]).toEqual([200, ['alice users bob', 'alice groups ops']]);
    const { headers } = app.upstream.last;
    expect(valuesOf(headers, 'impersonate-user')).toEqual(['bob']);
    expect(valuesOf(headers, 'impersonate-group')).toEqual(['ops', 'system:authenticated']);
    expect(valuesOf(headers, 'impersonate-extra-gatehouse.io%2fsession')).toEqual(['s-1']);
    expect(app.events.at(-1)?.fields).toMatchObject({ user: 'alice', impersonatedUser: 'bob', sid: 's-1' });
  });

  test('a call without such headers is the caller’s own, and nobody is asked', async () => {
    const app = await start();
    await app.raw(requestOf('GET /api/v1/pods'));
    expect([valuesOf(app.upstream.last.headers, 'impersonate-user'), asked]).toEqual([['alice'], []]);
  });

  test.each([
    [
      'another user',
      ['User: eve'],
      'users \\"eve\\" is forbidden: User \\"alice\\" cannot impersonate resource \\"users\\"',
    ],
    ['another group', ['User: bob', 'Group: admins'], 'groups \\"admins\\" is forbidden'],
  ])('a caller who may not gets the words of the cluster, and nothing is sent: %s', async (_, lines, words) => {
    const app = await start();
    const answer = parseAnswer(await app.raw(requestOf('GET /api/v1/pods', as(...lines))));
    expect([answer.status, app.upstream.requests.length]).toEqual([403, 0]);
    expect(answer.body).toContain(words);
  });

  test.each([
    ['users of the cluster’s own', ['User: system:admin'], 403],
    ['groups of the cluster’s own', ['User: bob', 'Group: system:masters'], 403],
    ['service accounts', ['User: system:serviceaccount:a:b'], 403],
    ['a uid', ['User: bob', 'Uid: 7'], 403],
    ['a session', ['User: bob', 'Extra-gatehouse.io%2Fsession: s-9'], 403],
    ['a group alone', ['Group: ops'], 400],
    ['two users', ['User: bob', 'User: bob'], 400],
  ])('nobody becomes %s, whatever the rights', async (_, lines, status) => {
    const app = await start();
    for (const whom of ['system:admin', 'system:serviceaccount:a:b']) rights.add(`alice users ${whom}`);
    rights.add('alice groups system:masters');
    const answer = parseAnswer(await app.raw(requestOf('GET /api/v1/pods', as(...lines))));
    expect([answer.status, app.upstream.requests.length]).toEqual([status, 0]);
    expect(app.events.filter(({ event }) => event === 'reserved_identity_refused')).toEqual([]);
  });

  test.each(['User: system:serviceaccount:a:b', 'User: system:admin', 'User: kubernetes-admin'])(
    'a caller who asks for "%s" is told that nobody becomes one of the cluster’s own, and the cluster is not asked',
    async (line) => {
      const app = await start();
      const answer = parseAnswer(await app.raw(requestOf('GET /api/v1/pods', as(line))));
      expect([answer.status, asked]).toEqual([403, []]);
      expect(answer.body).toContain(
        'service accounts, users and groups of the cluster itself cannot be impersonated through this server',
      );
    },
  );

  test.each([
    ['a user', 'users', 'bob'],
    ['a group', 'groups', 'ops'],
  ] as const)(
    'a wish to be %s whom we may not act as gives no alert, and a call of the caller’s own does',
    async (_, resource, name) => {
      const app = await start();
      refuse(app, resource, name);
      const answer = parseAnswer(await app.raw(requestOf('GET /api/v1/pods', as('User: bob', 'Group: ops'))));
      expect([answer.status, app.upstream.requests.length]).toEqual([403, 1]);
      expect(answer.body).toContain(`(gateway.${resource})`);
      expect([await refusals(app, 'impersonation'), await refusals(app, 'impersonate_header')]).toEqual([0, 1]);
      await app.raw(requestOf('GET /api/v1/pods'));
      expect([await refusals(app, 'impersonation'), await refusals(app, 'impersonate_header')]).toEqual([1, 1]);
    },
  );

  test.each([
    ['the right to impersonate', 'alice users bob'],
    ['the other’s right', 'bob pods'],
  ])('G-15 a watch ends within 60 s of the end of %s', async (_, right) => {
    const app = await start();
    app.upstream.answer = () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const head = `GET /api/v1/pods?watch=1 HTTP/1.1\r\n${HEAD}${as('User: bob', 'Group: ops')}\r\n`;
    const client = await RawConnection.open(app.port, head);
    await client.until(/\r\n\r\n/);
    await running?.clock.advance(60_000);
    expect([client.isEnded, asked.includes('bob pods as ops,system:authenticated')]).toEqual([false, true]);
    rights.delete(right);
    await running?.clock.advance(60_000);
    await client.until(/\r\n0\r\n\r\n$/);
    client.socket.destroy();
  });

  test('an exec by websocket is made as the other user', async () => {
    const app = await start();
    const upgrade = requestOf('GET /api/v1/namespaces/a/pods/p/exec', `Upgrade: websocket\r\n${as('User: bob')}`);
    await app.raw(upgrade.replace('Connection: close', 'Connection: Upgrade'));
    expect(valuesOf(app.upstream.last.headers, 'impersonate-user')).toEqual(['bob']);
  });
});

test('A-30 with gateway.impersonation: refuse the answer says that calls are made as the caller, and names the setting', async () => {
  const app = await start('refuse');
  const answer = parseAnswer(await app.raw(requestOf('GET /api/v1/pods', as('User: bob'))));
  expect([answer.status, asked, app.upstream.requests.length]).toEqual([403, [], 0]);
  expect(answer.body).toContain('(gateway.impersonation)');
});

describe.each(['refuse', 'honour'] as const)('A-30 with gateway.impersonation: %s the audit trail says', (setting) => {
  const lineOf = async (...lines: string[]) => {
    const app = await start(setting);
    await app.raw(requestOf('GET /api/v1/pods', as(...lines)));
    return app.events.find(({ event }) => event === 'cluster_call')?.fields;
  };

  test('whom a refused call asked for', async () => {
    expect(await lineOf('User: eve', 'Group: ops', `Group: ${octets('Entwickler-Süd')}`)).toMatchObject({
      ...{ result: 'refused', status: 403, user: 'alice' },
      ...{ asUser: 'eve', asGroups: ['ops', 'Entwickler-Süd'] },
    });
  });

  test.each([
    ['a uid beside it', ['User: eve', 'Uid: 7'], 'eve'],
    ['a service account', ['User: system:serviceaccount:a:b'], 'system:serviceaccount:a:b'],
    ['another spelling', ['User: bob', 'Extra-x: y'], 'bob'],
  ])('whom a call asked for that is refused as it stands: %s', async (_, lines, asUser) => {
    expect(await lineOf(...lines)).toMatchObject({ result: 'refused', asUser });
  });

  test('nothing of it for a call without such headers', async () => {
    const { asUser, asGroups } = (await lineOf()) ?? {};
    expect([asUser, asGroups]).toEqual([undefined, undefined]);
  });

  test('no more than 256 characters of a name and of all groups, and none that would change the line', async () => {
    const groups = Array.from({ length: 20 }, (_, at) => `Group: ${`${at}`.padStart(40, 'g')}`);
    const { asUser, asGroups, asGroupsLeftOut } =
      (await lineOf(`User: ${octets(`\u202e${'e'.repeat(300)}`)}`, ...groups)) ?? {};
    expect(asUser).toBe(`\\u202e${'e'.repeat(250)}`);
    expect(asGroups).toEqual(groups.slice(0, 6).map((line) => line.replace('Group: ', '')));
    expect(asGroupsLeftOut).toBe(14);
  });
});

test('A-30 the audit trail has user and groups of an impersonation that is granted', async () => {
  const app = await start();
  await app.raw(requestOf('GET /api/v1/pods', as('User: bob', 'Group: ops')));
  expect(app.events.at(-1)?.fields).toMatchObject({ result: 'ok', asUser: 'bob', asGroups: ['ops'] });
});

test('A-36 the audit trail bounds the name of whom a call is made as', async () => {
  const app = await start();
  const name = `bob${'b'.repeat(8_000)}\u009b`;
  rights.add(`alice users ${name}`);
  await app.raw(requestOf('GET /api/v1/pods', as(`User: ${octets(name)}`)));
  const { impersonatedUser, asUser } = app.events.at(-1)?.fields ?? {};
  expect(`${impersonatedUser}`).toMatch(/^bobb{200,252}/);
  expect([`${impersonatedUser}`.length, impersonatedUser]).toEqual([256, asUser]);
});
