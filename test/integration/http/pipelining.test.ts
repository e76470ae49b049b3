import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AppUnderTest, eventually, fakeAuthorizationServer, listsWith, startApp } from './app-under-test.ts';

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

  const places = async (under: AppUnderTest, taken: number): Promise<void> => {
    const placesTaken = async (): Promise<string | undefined> =>
      /in_flight\{class="other"\} (\d+)/.exec(await under.parts.registry.metrics())?.[1];
    for (let turn = 0; turn < 10_000 && (await placesTaken()) !== String(taken); turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await placesTaken()).toBe(String(taken));
  };
  /** What was answered to this until the connection closed, also by a reset. */
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
    const received = app.raw(LOGIN + HEALTH.repeat(1_000));
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
    const floods = Array.from({ length: 8 }, () => flood(LOGIN + HEALTH.repeat(1_600)));
    await eventually(() => app.lines.filter((line) => line['status'] === 499).length > 2);
    const few = app.raw(HEALTH.repeat(8) + CLOSING);
    expect(statuses(await few)).toEqual(Array(9).fill('200'));
    finish();
    const answers = (await Promise.all(floods)).map((text) => statuses(text).length);
    expect(answers.filter((count) => count === 0).length).toBeGreaterThan(2);
    expect(new Set(answers)).toEqual(new Set([0, 193]));
    expect(statuses(await app.raw(HEALTH.repeat(100) + CLOSING))).toHaveLength(101);
  });

  test('are not read while many wait: as many as there are come in order', async () => {
    const padded = (index: number): string =>
      `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-${index}-\r\nX-Pad: ${'x'.repeat(600)}\r\n\r\n`;
    const received = app.raw(LOGIN + Array.from({ length: 2_000 }, (_, index) => padded(index)).join('') + CLOSING);
    await eventually(() => logins === 1);
    await nobodyWaits();
    finish();
    const text = await received;
    const ids = [...text.matchAll(/X-Request-Id: r-(\d+)-/g)].map((match) => Number(match[1]));
    expect(ids).toEqual(Array.from({ length: 2_000 }, (_, index) => index));
    expect(await refusals()).toBe(0);
  });

  test('take their bodies with them', async () => {
    const form = (bytes: number): string =>
      `POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;
    finish();
    const received = await app.raw(form(16_000) + form(1_000) + form(10) + HEALTH + form(16_000) + CLOSING);
    expect(statuses(received)).toEqual(Array(6).fill('200'));
    expect(logins).toBe(4);
  });

  test('are cut off when their client goes, also the one that waits for the cluster', async () => {
    const stuck = await startApp({ authorizer: { authorize: () => new Promise<never>(() => {}) } });
    try {
      const list =
        'GET /kapis/resources.gatehouse.io/v1alpha3/nodes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n';
      const socket = connect(stuck.port, '127.0.0.1', () => socket.write(list.repeat(12)));
      await places(stuck, 1);
      expect((await stuck.get('/healthz')).status).toBe(200);
      socket.destroy();
      await eventually(() => stuck.lines.some((line) => line['aborted'] === true));
      await places(stuck, 0);
    } finally {
      await stuck.stop();
    }
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
    const identityLength = bytes.byteLength;
    const body = { pieces: [bytes], length: identityLength };
    const big = { etag: () => '"e"', compose: () => undefined, body: () => body, identityLength };
    const nodes = {
      list: () => {
        lists++;
        return big;
      },
      get: () => undefined,
    };
    const large = await startApp({ lists: listsWith({ lister: nodes }) });
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
