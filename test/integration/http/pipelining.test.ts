import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AppUnderTest, eventually, fakeAuthorizationServer, startApp } from './app-under-test.ts';

const LOGIN = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const GARBAGE = 'GARBAGE\r\n\r\n';

let app: AppUnderTest;
let finish: () => void;
let logins: number;

beforeEach(async () => {
  logins = 0;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const authorizationServer: typeof fakeAuthorizationServer = {
    ...fakeAuthorizationServer,
    token: async (request) => {
      logins++;
      await held;
      return fakeAuthorizationServer.token(request);
    },
  };
  app = await startApp({ authorizationServer });
});
afterEach(async () => {
  finish();
  await app.stop();
});

const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status);

describe('bytes that are no request', () => {
  test.each([
    ['a sign-in', LOGIN + GARBAGE, ['200', '400']],
    ['a sign-in and a probe', LOGIN + HEALTH + GARBAGE, ['200', '200', '400']],
    ['a sign-in, and before more of them', LOGIN + GARBAGE + GARBAGE, ['200', '400']],
  ])('A-12 behind %s wait for its answer, then are 400', async (_, sent, expected) => {
    const received = app.raw(sent);
    await eventually(() => logins === 1);
    finish();
    expect(statuses(await received)).toEqual(expected);
    await eventually(() => app.lines.some((line) => line['rule'] === 'parser'));
    expect(app.lines.filter((line) => line['rule'] === 'parser')).toHaveLength(1);
  });

  test('behind an answer that closes are not answered', async () => {
    const closing = HEALTH.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect(statuses(await app.raw(closing + GARBAGE))).toEqual(['200']);
  });

  test('in the body of a request are its 400, behind the answers before it', async () => {
    const broken = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n';
    const received = app.raw(HEALTH + broken);
    expect(statuses(await received)).toEqual(['200', '400']);
    expect(logins).toBe(0);
  });

  test('are forgotten with their client', async () => {
    const socket = connect(app.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(LOGIN + GARBAGE);
    await eventually(() => logins === 1);
    socket.destroy();
    await eventually(() => app.lines.some((line) => line['status'] === 499));
    finish();
    expect(app.lines.some((line) => line['rule'] === 'parser')).toBe(false);
  });
});

describe('CONNECT behind a sign-in that is under way', () => {
  test('closes the connection, whatever becomes of its client', async () => {
    const socket = connect(app.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`${LOGIN}CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n`);
    await eventually(() => logins === 1);
    socket.resetAndDestroy();
    await eventually(() => app.lines.some((line) => line['status'] === 499));
    finish();
    expect((await app.get('/healthz')).status).toBe(200);
  });
});
