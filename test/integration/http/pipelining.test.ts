import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AppUnderTest, eventually, fakeAuthorizationServer, startApp } from './app-under-test.ts';

const LOGIN = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const CLOSING = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
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

describe('requests on one connection', () => {
  const nobodyWaits = async (): Promise<void> => {
    const statuses = (await Promise.all(Array.from({ length: 3 }, () => app.get('/healthz')))).map((one) => one.status);
    expect(statuses).toEqual([200, 200, 200]);
  };
  const refusals = async (): Promise<number> => {
    const counted = /rejections_total\{reason="pipelined"\} (\d+)/.exec(await app.parts.registry.metrics());
    return Number(counted?.[1] ?? 0);
  };

  const refusal = async (): Promise<void> => {
    for (let turn = 0; turn < 1_000 && (await refusals()) === 0; turn++) await nobodyWaits();
  };
  /** What was answered to this until the connection closed, by whom and how ever. */
  const flood = (text: string): Promise<string> =>
    new Promise((resolve) => {
      let received = '';
      const socket = connect(app.port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', () => {}); // what is sent after the close is reset
      socket.on('close', () => resolve(received));
    });

  test('are handled one at a time', async () => {
    const received = app.raw(LOGIN.repeat(3) + CLOSING);
    await eventually(() => logins === 1);
    await nobodyWaits();
    expect(logins).toBe(1);
    finish();
    expect(statuses(await received)).toEqual(['200', '200', '200', '200']);
    expect(await refusals()).toBe(0);
  });

  test('are as many as 193 at a time; what is more leaves no trace but a count, and the last answer closes', async () => {
    const received = app.raw(LOGIN + HEALTH.repeat(3_000));
    await eventually(() => logins === 1);
    finish();
    const text = await received;
    expect(statuses(text)).toEqual(Array(193).fill('200'));
    expect(text.match(/Connection: close/g)).toHaveLength(1);
    expect(text.lastIndexOf('HTTP/1.1 ')).toBeLessThan(text.indexOf('Connection: close'));
    expect(app.lines.filter((line) => line.msg === 'request')).toHaveLength(193);
    expect(await refusals()).toBe(1);
  });

  test('are cut off without an answer when those of all connections are too many, and others are served', async () => {
    const floods = Array.from({ length: 20 }, () => flood(LOGIN + HEALTH.repeat(3_000)));
    await eventually(() => app.lines.filter((line) => line['status'] === 499).length > 15);
    const few = app.raw(HEALTH.repeat(8) + CLOSING);
    expect(statuses(await few)).toEqual(Array(9).fill('200'));
    finish();
    const answers = (await Promise.all(floods)).map((text) => statuses(text).length);
    expect(answers.filter((count) => count === 0).length).toBeGreaterThan(15);
    expect(new Set(answers)).toEqual(new Set([0, 193]));
    expect(statuses(await app.raw(HEALTH.repeat(100) + CLOSING))).toHaveLength(101);
  });

  test('wait with their bodies as far as there is room for these', async () => {
    const form = `POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 16000\r\n\r\n${'x'.repeat(16_000)}`;
    const received = flood(LOGIN + form.repeat(100));
    await eventually(() => logins === 1);
    await refusal();
    finish();
    expect(await received).toMatch(/^HTTP\/1\.1 200 /);
    expect(logins).toBeLessThan(40);
  });

  test('leave nothing behind when their client goes before they are handled', async () => {
    const socket = connect(app.port, '127.0.0.1');
    socket.write(LOGIN.repeat(5));
    await eventually(() => logins === 1);
    socket.destroy();
    await eventually(() => app.lines.some((line) => line['status'] === 499));
    finish();
    await nobodyWaits();
    expect(logins).toBe(1);
    expect(app.lines.filter((line) => line['status'] === 499)).toHaveLength(1);
  });

  test('are not handled behind an answer that closes', async () => {
    const refused = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n';
    expect(statuses(await app.raw(`${refused}${'x'.repeat(20_000)}${LOGIN}`))).toEqual(['413']);
    expect(logins).toBe(0);
  });
});

describe('a client that does not read its answers', () => {
  test('has one answer made for it at a time', async () => {
    let lists = 0;
    const bytes = Buffer.alloc(32 * 1024 * 1024, ' ');
    const big = { etag: () => '"e"', body: () => [bytes], length: () => bytes.byteLength };
    const nodes = {
      list: () => {
        lists++;
        return big;
      },
      get: () => undefined,
    };
    const large = await startApp({ nodes });
    const socket = connect(large.port, '127.0.0.1');
    try {
      socket.pause();
      const list =
        'GET /kapis/resources.gatehouse.io/v1alpha3/nodes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n';
      socket.write(list.repeat(20));
      await eventually(() => lists > 0);
      for (let turn = 0; turn < 5; turn++) expect((await large.get('/healthz')).status).toBe(200);
      expect(lists).toBe(1);
      socket.resume();
      await eventually(() => lists > 1);
    } finally {
      socket.destroy();
      await large.stop();
    }
  });
});
