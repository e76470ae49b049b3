import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { Watcher } from '../../support/watcher.ts';
import { startProgram } from './program.ts';
import { CLIENT, eventually, NODES, passwordOf, startCluster, startService } from './stand.ts';

async function start(server: object = {}) {
  const program = await startProgram(await startCluster({ isNew: true }), { config: { server } });
  return { program, service: await program.service() };
}

describe('the process', () => {
  test('R-07 serves, and at SIGTERM ends a watch cleanly, with the version to go on from, and itself with 0', async () => {
    const { program, service } = await start();
    const { access_token: token } = await service.signIn('ada');
    expect((await service.list(token)).status).toBe(200);
    const authorization = `Bearer ${token}`;
    const watcher = await Watcher.open(`${service.gatehouse.origin}${NODES}?watch=true`, { authorization });
    program.signal('SIGTERM');
    const { code, stdout, stderr } = await program.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ level: 'info', msg: 'ended' });
    await eventually(
      () => watcher.ending,
      (ending) => ending !== undefined,
    );
    expect([watcher.ending, watcher.story.at(-1)]).toEqual(['complete', 'BOOKMARK']);
    expect(stdout).toContain('"reason":"stopping"');
  });

  test('R-07 at SIGTERM is not ready any more, and serves on through the delay, which a second SIGTERM ends', async () => {
    const { program, service } = await start({ shutdownDelay: '60s' });
    const { access_token: token } = await service.signIn('ada');
    program.signal('SIGTERM');
    await program.logged('stopping');
    expect(await service.readiness()).toBe(503);
    expect((await service.list(token)).status).toBe(200);
    program.signal('SIGTERM');
    expect((await program.ended).code).toBe(143);
  });

  test('R-07 finishes a request that is under way at SIGTERM', async () => {
    const { program, service } = await start();
    const body = new URLSearchParams({
      grant_type: 'password',
      ...CLIENT,
      username: 'ada',
      password: passwordOf('ada'),
    });
    const socket = connect(service.gatehouse.port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      socket.on('close', () => resolve(text));
    });
    const form = String(body);
    const head = ['POST /oauth/token HTTP/1.1', 'Host: gatehouse', 'Content-Type: application/x-www-form-urlencoded'];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${form.length}\r\n\r\n${form.slice(0, 10)}`);
    await service.call('/livez'); // by then the first part has arrived
    program.signal('SIGTERM');
    await program.logged('shutting down: not accepting any more');
    socket.write(form.slice(10));
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n.*"access_token":/s);
    expect((await program.ended).code).toBe(0);
  });

  test('ends at once at SIGINT', async () => {
    const { program } = await start({ shutdownDelay: '60s' });
    program.signal('SIGINT');
    expect((await program.ended).code).toBe(130);
  });

  test('ends with 1 and one sentence when its port is taken', async () => {
    const cluster = await startCluster();
    const { port: taken } = (await startService(cluster)).gatehouse;
    const program = await startProgram(cluster, { config: { server: { port: taken } } });
    const { code, stderr } = await program.ended;
    expect(code).toBe(1);
    const place = `port ${taken} of 127.0.0.1`;
    expect(stderr.split('\n')[0]).toMatch(
      new RegExp(`^gatehouse: cannot listen on ${place}: another program is using it`),
    );
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('a service that finds a port taken', () => {
  test.each(['port', 'metricsPort'] as const)('its %s: rejects with one sentence and holds no port', async (which) => {
    const cluster = await startCluster();
    const other = await startService(cluster);
    const [port = 0, metricsPort = 0] = await freePorts(2);
    const server = { port, metricsPort, [which]: other.gatehouse[which] };
    await expect(startService(cluster, { config: { server } })).rejects.toThrow(
      `cannot listen on port ${other.gatehouse[which]} of 127.0.0.1: another program is using it`,
    );
    const again = await startService(cluster, { config: { server: { port, metricsPort } } });
    expect([again.gatehouse.port, again.gatehouse.metricsPort]).toEqual([port, metricsPort]);
  });
});
