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
