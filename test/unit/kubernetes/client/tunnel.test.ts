import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { createTunnelConnector } from '../../../../src/kubernetes/client/connection-pool.ts';

const sockets: Socket[] = [];
const stops: (() => void)[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const stop of stops.splice(0)) stop();
});

/** A proxy that answers each connection with this text, or not at all. */
async function proxyThatSays(answer: string | undefined): Promise<{ proxy: URL; heard: () => string }> {
  let heard = '';
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (chunk) => {
      heard += chunk;
      if (answer !== undefined && heard.endsWith('\r\n\r\n')) socket.write(answer);
    });
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(() => server.close());
  return { proxy: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), heard: () => heard };
}

const neverTls: buildConnector.connector = () => {
  throw new Error('no TLS was asked for');
};

function open(proxy: URL, asked: Partial<buildConnector.Options> = {}, timeoutMs = 60_000): Promise<Socket> {
  const connector = createTunnelConnector({ proxy, timeoutMs, keepAliveProbeMs: 10_000, connectTls: neverTls });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  connector({ hostname: 'api', protocol: 'http:', port: '', ...asked }, (error, socket) => {
    if (error) reject(error);
    else resolve(socket);
  });
  return promise.then((socket) => {
    sockets.push(socket);
    return socket;
  });
}

const AGREED = 'HTTP/1.1 200 Connection established\r\n\r\n';

describe('a tunnel', () => {
  test.each([
    [{}, 'api:80'],
    [{ port: '6443' }, 'api:6443'],
    [{ hostname: 'fd00::1', port: '6443' }, '[fd00::1]:6443'],
  ])('to %j is asked for as %s', async (asked, target) => {
    const { proxy, heard } = await proxyThatSays(AGREED);
    await open(proxy, asked);
    expect(heard().split('\r\n').slice(0, 2)).toEqual([`CONNECT ${target} HTTP/1.1`, `host: ${target}`]);
  });

  test('to a server with TLS goes to its port 443, and is given to the maker of TLS', async () => {
    const { proxy, heard } = await proxyThatSays(AGREED);
    const asked = await new Promise<buildConnector.Options>((resolve) => {
      const options = { proxy, timeoutMs: 60_000, keepAliveProbeMs: 10_000, connectTls: resolve };
      createTunnelConnector(options)(
        { hostname: 'api', protocol: 'https:', port: '', servername: 'x' },
        () => undefined,
      );
    });
    sockets.push(asked.httpSocket as Socket);
    expect(asked).toMatchObject({ hostname: 'api', servername: 'x' });
    expect(heard()).toMatch(/^CONNECT api:443 /);
  });

  test('has whatever came with its answer', async () => {
    const { proxy } = await proxyThatSays(`${AGREED}early`);
    const socket = await open(proxy);
    const [first] = await once(socket, 'data');
    expect(String(first)).toBe('early');
  });

  test.each([
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'it answers 403'],
    ['HTTP/1.1 302 Found\r\n\r\n', 'it answers 302'],
    ['nonsense\r\n\r\n', 'Parse Error'],
  ])('is refused by %j', async (answer, detail) => {
    const { proxy } = await proxyThatSays(answer);
    await expect(open(proxy)).rejects.toThrow(`the proxy ${proxy.host} gives no tunnel: ${detail}`);
  });

  test('is given up when the proxy does not answer within its time', async () => {
    const { proxy } = await proxyThatSays(undefined);
    await expect(open(proxy, {}, 20)).rejects.toThrow(`the proxy ${proxy.host} gives no tunnel: it does not answer`);
  });

  test('is not ended by that time once it is open', async () => {
    const { proxy } = await proxyThatSays(AGREED);
    const socket = await open(proxy);
    expect(socket.timeout).toBe(0);
  });
});
