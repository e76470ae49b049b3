import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../support/default-limits.ts';
import { nextEvent } from '../../support/next-event.ts';
import { eventually, fakeAuthorizationServer, startApp } from './app-under-test.ts';
import { HEAD, LIST } from './raw-answer.ts';

describe('limits in number', () => {
  test('A-11 closes the oldest idle connection of an address beyond its cap', async () => {
    const capped = await startApp({ limits: { ...defaultLimits, maxConnectionsPerAddress: 2 } });
    try {
      const sockets = [];
      for (let index = 0; index < 3; index++) {
        const socket = connect(capped.port, '127.0.0.1');
        socket.on('error', () => {}); // the closed one may see a reset
        await once(socket, 'connect');
        sockets.push(socket);
      }
      const [first, second, third] = sockets as [Socket, Socket, Socket];
      await once(first, 'close');
      for (const socket of [second, third]) {
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
        await nextEvent(socket, 'data');
      }
      for (const socket of sockets) socket.destroy();
    } finally {
      await capped.stop();
    }
  });

  test('A-11 1,000 idle connections of one address leave the others as they were', async () => {
    const capped = await startApp({ limits: { ...defaultLimits, maxConnectionsPerAddress: 100 } });
    const sockets: Socket[] = [];
    let closed = 0;
    try {
      for (let index = 0; index < 1_000; index++) {
        const socket = connect({ host: '127.0.0.1', port: capped.port, localAddress: '127.0.0.2' });
        socket.on('error', () => {}).on('close', () => closed++);
        sockets.push(socket);
        await once(socket, 'connect');
      }
      await eventually(() => closed === 900);
      expect((await capped.get('/version')).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await capped.stop();
    }
  });

  test('HL-05 sign-ins beyond their places get 429, other requests and health do not', async () => {
    let finish: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const authorizationServer = {
      ...fakeAuthorizationServer,
      token: async (request: Parameters<typeof fakeAuthorizationServer.token>[0]) => {
        await held;
        return fakeAuthorizationServer.token(request);
      },
    };
    const full = await startApp({ authorizationServer, limits: { ...defaultLimits, maxSignInsInFlight: 1 } });
    try {
      const form = { method: 'POST', body: 'grant_type=password' };
      const first = full.get('/oauth/token', form);
      const inFlight = 'gatehouse_http_requests_in_flight{class="sign-in"} 1';
      for (let turn = 0; !(await full.parts.registry.metrics()).includes(inFlight) && turn < 10_000; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      const second = await full.get('/oauth/token', form);
      expect(second.status).toBe(429);
      expect(second.headers.get('retry-after')).toBe('1');
      expect(await second.text()).toBe(
        '{"error":"temporarily_unavailable","error_description":"too many sign-ins at once, please try again later"}',
      );
      expect((await full.get(LIST)).status).toBe(200);
      expect((await full.get('/healthz')).status).toBe(200);
      finish();
      expect((await first).status).toBe(200);
      expect((await full.get('/oauth/token', form)).status).toBe(200);
    } finally {
      finish();
      await full.stop();
    }
  });

  test.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/logout'])(
    'HL-05 forms of %s that do not arrive take no place',
    async (path) => {
      const limits = { ...defaultLimits, maxSignInsInFlight: 32, maxRequestsInFlight: 32 };
      const waited = await startApp({ limits });
      const sockets: Socket[] = [];
      try {
        for (let index = 0; index < 40; index++) {
          const socket = connect(waited.port, '127.0.0.1');
          sockets.push(socket);
          await once(socket, 'connect');
          socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`);
          await nextEvent(socket, 'data'); // the 100: from here on the body is waited for
        }
        const form = { method: 'POST', body: 'grant_type=password' };
        expect((await waited.get('/oauth/token', form)).status).toBe(200);
        expect((await waited.get('/oauth/logout', form)).status).toBe(200);
        expect((await waited.get(LIST)).status).toBe(200);
      } finally {
        for (const socket of sockets) socket.destroy();
        await waited.stop();
      }
    },
  );

  test('HL-05 gives pipelined requests one place, and takes it back when their client goes', async () => {
    const authorizer = { authorize: () => new Promise<never>(() => {}) };
    const stuck = await startApp({ authorizer, limits: { ...defaultLimits, maxRequestsInFlight: 2 } });
    try {
      const [socket, other] = [connect(stuck.port, '127.0.0.1'), connect(stuck.port, '127.0.0.1')];
      socket.write(`GET ${LIST} HTTP/1.1\r\n${HEAD}\r\n`.repeat(4));
      other.write(`GET ${LIST} HTTP/1.1\r\n${HEAD}\r\n`);
      const full = 'gatehouse_http_requests_in_flight{class="other"} 2';
      for (let turn = 0; !(await stuck.parts.registry.metrics()).includes(full) && turn < 10_000; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await stuck.get('/version')).status).toBe(429);
      socket.destroy();
      await eventually(() => stuck.lines.some((line) => line['aborted'] === true));
      expect((await stuck.get('/version')).status).toBe(200);
      expect(stuck.lines.filter((line) => line['aborted'] === true)).toHaveLength(1);
      other.destroy();
    } finally {
      await stuck.stop();
    }
  });
});
