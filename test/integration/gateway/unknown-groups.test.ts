import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { answerOf, OK, type Recorded, valuesOf } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { ALICE, type GatewayUnderTest, HEAD, requestOf, startGateway, stopped } from './gateway-under-test.ts';

const ACCOUNT = 'system:serviceaccount:gatehouse:gatehouse';
const refusalOf = (resource: string, name: string): string =>
  answerOf(
    '403 Forbidden',
    JSON.stringify({
      message: `${resource} "${name}" is forbidden: User "${ACCOUNT}" cannot impersonate resource "${resource}" in API group "" at the cluster scope`,
      code: 403,
    }),
  );

let app: GatewayUnderTest;
let clock: FakeClock;
/** Whom the cluster lets us act as. */
let named: Set<string>;

/** Refuses as the API server does: the user first, then one group after the other. */
function judge({ headers }: Recorded): string {
  const [user = ''] = valuesOf(headers, 'impersonate-user');
  if (!named.has(user)) return refusalOf('users', user);
  const unknown = valuesOf(headers, 'impersonate-group').find((group) => !named.has(group));
  return unknown === undefined ? OK : refusalOf('groups', unknown);
}

const POST = requestOf('POST /api/v1/namespaces/a/configmaps', 'Content-Length: 2\r\n', '{}');
const GET = requestOf('GET /api/v1/namespaces/a/configmaps');
const EXEC = `GET /api/v1/namespaces/a/pods/p/exec HTTP/1.1\r\n${HEAD}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`;

const statusOf = async (text: string): Promise<number> => parseAnswer(await app.raw(text)).status;
const groupsSent = (): readonly string[] => valuesOf(app.upstream.last.headers, 'impersonate-group');
const linesSent = (): string[] => app.upstream.requests.map(({ line }) => line.split(' ').slice(0, 2).join(' '));

async function start(unknownGroups: 'refuse' | 'drop'): Promise<void> {
  clock = new FakeClock();
  app = await startGateway({ clock, options: { unknownGroups } });
  app.upstream.answer = judge;
}
beforeEach(() => {
  named = new Set(['alice', 'ops', 'system:authenticated']);
});
afterEach(() => stopped(app, clock));

describe('gateway.unknownGroups: refuse', () => {
  test('G-16 a caller in one group that the cluster does not know of gets 403 for every call', async () => {
    await start('refuse');
    for (const text of [GET, POST, EXEC]) expect(await statusOf(text)).toBe(403);
    expect(app.upstream.requests.length).toBe(3);
  });
});

describe('gateway.unknownGroups: drop', () => {
  beforeEach(() => start('drop'));

  test.each([
    ['a GET', GET],
    ['a POST with a body', POST],
    ['an exec', EXEC],
  ])('G-16 that group is left out, and nothing is sent twice, of %s', async (_, text) => {
    expect(await statusOf(text)).toBe(200);
    expect(groupsSent()).toEqual(['ops', 'system:authenticated']);
    expect(linesSent()).toEqual(['GET /version', 'GET /version', text.split(' ').slice(0, 2).join(' ')]);
  });

  test('what was found out holds for a minute, for calls at once too', async () => {
    await Promise.all([statusOf(GET), statusOf(GET), statusOf(POST)]);
    await statusOf(GET);
    expect(linesSent().filter((line) => line === 'GET /version').length).toBe(2);
    named.add('dev');
    await clock.advance(59_000);
    await statusOf(GET);
    expect(groupsSent()).toEqual(['ops', 'system:authenticated']);
    await clock.advance(1_000);
    await statusOf(GET);
    expect(groupsSent()).toEqual(['dev', 'ops', 'system:authenticated']);
  });

  test('each question to the cluster is counted by its answer', async () => {
    const asked = (decision: string) => app.metric('gatehouse_gateway_group_reviews_total', { decision });
    const counts = async () => [await asked('allow'), await asked('deny'), await asked('error')];
    await statusOf(GET);
    await statusOf(GET);
    expect(await counts()).toEqual([1, 1, 0]);
    await clock.advance(60_000);
    named.delete('alice');
    await statusOf(GET);
    expect(await counts()).toEqual([1, 2, 0]);
    app.upstream.answer = ({ socket }) => void socket.resetAndDestroy();
    await statusOf(GET);
    expect(await counts()).toEqual([1, 2, 1]);
  });

  test('a group that the cluster knows no more costs one call, which is 403', async () => {
    expect(await statusOf(GET)).toBe(200);
    named.delete('ops');
    expect(await statusOf(GET)).toBe(403);
    expect(await statusOf(GET)).toBe(200);
    expect(groupsSent()).toEqual(['system:authenticated']);
  });

  test('G-16 a user whom the cluster does not know of gets 403 all the same', async () => {
    named.delete('alice');
    expect(JSON.parse(parseAnswer(await app.raw(GET)).body).message).toContain('the user "alice"');
  });

  test('A-31 a reserved group is never left out: 403, and nothing is sent', async () => {
    app.bearers.set('good', { identity: { ...ALICE, groups: [...ALICE.groups, 'system:masters'] }, cached: true });
    expect(await statusOf(GET)).toBe(403);
    expect(app.upstream.requests).toEqual([]);
  });

  test('other callers have their own answers', async () => {
    await statusOf(GET);
    app.bearers.set('good', { identity: { ...ALICE, groups: ['ops', 'system:authenticated'] }, cached: true });
    await statusOf(GET);
    expect(groupsSent()).toEqual(['ops', 'system:authenticated']);
    expect(linesSent().filter((line) => line === 'GET /version').length).toBe(3);
  });

  test('a group that was refused to one caller is asked about for no other, and for none longer than two minutes', async () => {
    named.add('bob');
    await statusOf(GET);
    await clock.advance(59_000);
    named.add('dev');
    app.bearers.set('good', { identity: { ...ALICE, name: 'bob' }, cached: true });
    await statusOf(GET);
    expect(groupsSent()).toEqual(['ops', 'system:authenticated']);
    expect(linesSent().filter((line) => line === 'GET /version').length).toBe(3);
    await clock.advance(60_000);
    await statusOf(GET);
    expect(groupsSent()).toEqual(['dev', 'ops', 'system:authenticated']);
  });

  test('a call whose path is taken for a refusal of a group costs one question, however many groups are left out', async () => {
    const groups = [...Array.from({ length: 20 }, (_, i) => `team-${i}`), ...ALICE.groups];
    app.bearers.set('good', { identity: { ...ALICE, groups }, cached: true });
    app.upstream.answer = (call) => (call.line.startsWith('GET /version') ? judge(call) : refusalOf('groups', 'ops'));
    await statusOf(GET);
    const asked = app.upstream.requests.length;
    expect(asked).toBe(21 + 1 + 1);
    expect(await statusOf(GET)).toBe(403);
    expect(app.upstream.requests.length - asked).toBe(2);
  });

  test('a group that no header can carry is left out', async () => {
    app.bearers.set('good', {
      identity: { ...ALICE, groups: ['größe ', 'ops', 'system:authenticated'] },
      cached: true,
    });
    expect(await statusOf(GET)).toBe(200);
    expect(groupsSent()).toEqual(['ops', 'system:authenticated']);
  });

  test('while the cluster gives no answer, the call fails by itself', async () => {
    app.upstream.answer = ({ socket }) => void socket.resetAndDestroy();
    expect(await statusOf(GET)).toBe(502);
    app.upstream.answer = judge;
    expect(await statusOf(GET)).toBe(200);
  });
});
