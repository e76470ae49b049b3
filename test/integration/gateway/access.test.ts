import { afterEach, describe, expect, test } from 'vitest';
import { type AccessState, createGatewayAccess, type GatewayAccess } from '../../../src/gateway/access.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { ALICE, type GatewayUnderTest, requestOf, startGateway, stopped } from './gateway-under-test.ts';

const GET = requestOf('GET /api/v1/namespaces/a/configmaps');

let app: GatewayUnderTest;
let clock: FakeClock;
afterEach(() => stopped(app, clock));

async function start(access: GatewayAccess | undefined, options = {}): Promise<void> {
  clock = new FakeClock();
  app = await startGateway({ clock, options, access });
}

async function answer(request = GET) {
  const { status, headers, body } = parseAnswer(await app.raw(request));
  return { status, retryAfter: headers.get('retry-after'), message: JSON.parse(body).message as string | undefined };
}

const refused = (reason: string): Promise<number> => app.metric('gatehouse_gateway_refusals_total', { reason });

describe('gateway.users and gateway.accounts', () => {
  test.each<[string, readonly string[], AccessState | undefined]>([
    ['is named', ['alice'], undefined],
    ['is named and not chosen', ['alice'], 'not-chosen'],
    ['is chosen and in a role', [], 'granted'],
  ])('G-24 let a caller through who %s', async (_, named, state) => {
    await start(createGatewayAccess(named, state && (() => state)));
    expect((await answer()).status).toBe(200);
    expect(app.upstream.requests.length).toBe(1);
  });

  test.each<[string, AccessState | undefined, object, string]>([
    ['is neither named nor chosen', undefined, { status: 403 }, 'not_chosen'],
    ['is not chosen', 'not-chosen', { status: 403 }, 'not_chosen'],
    ['is chosen, and in a role within seconds', 'soon', { status: 503, retryAfter: '1' }, 'not_granted_yet'],
    ['is chosen, and in no role until an operator acts', 'stuck', { status: 403 }, 'not_granted'],
  ])('G-24 send nothing for a caller who %s', async (_, state, expected, reason) => {
    await start(createGatewayAccess([], state && (() => state)));
    expect(await answer()).toMatchObject({ ...expected, message: expect.stringContaining('"alice"') });
    expect([app.upstream.requests.length, await refused(reason)]).toEqual([0, 1]);
  });

  test('G-24 ask about the user and the groups of the call', async () => {
    const asked: unknown[] = [];
    const followed = (name: string, groups: readonly string[]): AccessState => {
      asked.push([name, groups]);
      return 'granted';
    };
    await start(createGatewayAccess([], followed));
    await answer();
    expect(asked).toEqual([['alice', ALICE.groups]]);
  });

  test('G-24 let nobody in as another user who may not come in, and nobody from outside as one who may', async () => {
    const as = (name: string): string =>
      requestOf('GET /api/v1/namespaces/a/configmaps', `Impersonate-User: ${name}\r\n`);
    await start(createGatewayAccess(['alice'], undefined), { impersonation: 'honour' });
    expect((await answer(as('bob'))).status).toBe(403);
    await stopped(app, clock);
    await start(createGatewayAccess(['bob'], undefined), { impersonation: 'honour' });
    expect((await answer(as('bob'))).status).toBe(403);
    expect(app.upstream.requests.length).toBe(0);
  });

  test('G-24 end an open stream of a user who is chosen no longer', async () => {
    let state: AccessState = 'granted';
    await start(createGatewayAccess([], () => state));
    app.upstream.answer = () =>
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const open = app.raw(requestOf('GET /api/v1/namespaces/a/configmaps?watch=1'));
    let isOver = false;
    void open.finally(() => {
      isOver = true;
    });
    while (app.upstream.requests.length === 0) await clock.advance(10);
    await clock.advance(60_000);
    expect(isOver).toBe(false);
    state = 'not-chosen';
    await clock.advance(60_000);
    expect((await open).includes('200 OK')).toBe(true);
  });
});
