import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ServerCalls } from '../../../src/cli/login/server/server-calls.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { startTlsFront } from '../../support/tls-front.ts';

const callsTo = (server: string, clock: Clock = systemClock, authority?: string, environment = {}) =>
  new ServerCalls(server, { clock, environment, authority });

async function listen(server: { listen(port: number, host: string): unknown; address(): unknown; close(): unknown }) {
  await once(server.listen(0, '127.0.0.1') as never, 'listening');
  atEnd(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const serve = (handler: RequestListener): Promise<number> => listen(createServer(handler));
/** Answers every connection with these bytes, or never. */
const serveRaw = (bytes?: string): Promise<number> =>
  listen(
    createTcpServer((socket) => {
      socket.on('error', () => {});
      atEnd(() => socket.destroy());
      if (bytes !== undefined) socket.end(bytes);
    }),
  );

describe('a call', () => {
  test('answers status, JSON object and the time to come back', async () => {
    const port = await serve((_, response) => response.writeHead(429, { 'Retry-After': '40' }).end('{"error":"x"}'));
    const answer = await callsTo(`http://127.0.0.1:${port}`).call({ path: '/' });
    expect(answer).toEqual({ status: 429, body: { error: 'x' }, retryAfterSeconds: 40 });
  });

  test.each(['', 'no', '<html>'])('answers no body for %j', async (text) => {
    const port = await serve((_, response) => void response.end(text));
    const answer = await callsTo(`http://127.0.0.1:${port}`).call({ path: '/' });
    expect(answer).toEqual({ status: 200, body: {}, retryAfterSeconds: undefined });
  });

  test('is repeated twice while the server is busy for seconds', async () => {
    const clock = new FakeClock();
    let seen = 0;
    const port = await serve((_, response) =>
      response.writeHead(++seen === 3 ? 200 : 503, { 'Retry-After': '2' }).end(),
    );
    const answered = callsTo(`http://127.0.0.1:${port}`, clock).call({ path: '/' });
    while (seen < 3) await clock.advance(100);
    expect((await answered).status).toBe(200);
    expect(clock.now()).toBeGreaterThanOrEqual(new FakeClock().now() + 4_000);
  });

  test.each(['-5', '1.5', '0x10', '1e1', '', 'soon', 'Thu, 26 Nov 2026 00:00:00 GMT'])(
    'is not repeated after a Retry-After of %j, which is ignored',
    async (value) => {
      const pauses: number[] = [];
      const clock: Clock = { ...systemClock, sleep: async (ms) => void pauses.push(ms) };
      const port = await serve((_, response) => response.writeHead(503, { 'Retry-After': value }).end());
      const answer = await callsTo(`http://127.0.0.1:${port}`, clock).call({ path: '/' });
      expect([answer.retryAfterSeconds, pauses]).toEqual([undefined, []]);
    },
  );

  test('follows no redirect: its secrets are for this server', async () => {
    let seen = 0;
    const port = await serve((_, response) => response.writeHead(308, { Location: `/${seen++}` }).end());
    expect((await callsTo(`http://127.0.0.1:${port}`).call({ path: '/', form: { a: 'b' } })).status).toBe(308);
    expect(seen).toBe(1);
  });

  test('goes through the proxy that the environment names, but not to loopback', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url);
      response.end();
    });
    const environment = { HTTP_PROXY: `http://127.0.0.1:${port}` };
    await callsTo('http://gatehouse.invalid', systemClock, undefined, environment).call({ path: '/x' });
    expect(seen).toEqual(['http://gatehouse.invalid/x']);
    const direct = await serve((_, response) => void response.end());
    await callsTo(`http://127.0.0.1:${direct}`, systemClock, undefined, environment).call({ path: '/y' });
    expect(seen).toHaveLength(1);
  });
});

describe('KC-07 the proxy of a call', () => {
  async function throughProxy(
    environment: (address: string) => Record<string, string>,
    server = 'http://gatehouse.invalid',
  ) {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url);
      response.end();
    });
    const calls = callsTo(server, systemClock, undefined, environment(`127.0.0.1:${port}`));
    const failed = await calls.call({ path: '/x' }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return { seen, failed };
  }

  test.each(['http://', ''])('is named with %j before its address', async (scheme) => {
    const { seen } = await throughProxy((address) => ({ HTTP_PROXY: `${scheme}${address}` }));
    expect(seen).toEqual(['http://gatehouse.invalid/x']);
  });

  test.each(['invalid', '.invalid', '*', 'other,gatehouse.invalid:80'])(
    'is not asked with NO_PROXY=%s',
    async (exceptions) => {
      const { seen, failed } = await throughProxy((address) => ({
        HTTP_PROXY: `http://${address}`,
        NO_PROXY: exceptions,
      }));
      expect([seen, failed]).toEqual([[], expect.stringContaining('gatehouse.invalid')]);
    },
  );

  test.each(['atehouse.invalid', '10.0.0.0/8', 'gatehouse.invalid:443'])(
    'is asked with NO_PROXY=%s',
    async (exceptions) => {
      const { seen } = await throughProxy((address) => ({ http_proxy: `http://${address}`, no_proxy: exceptions }));
      expect(seen).toEqual(['http://gatehouse.invalid/x']);
    },
  );

  test('is not asked for an address in a network that NO_PROXY names', async () => {
    // Nothing is at this address (RFC 5737), and no route leads there in most places: the proxy is not asked, whatever happens.
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url);
      response.end();
    });
    const environment = { HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '192.0.2.0/24' };
    const clock = new FakeClock();
    const failed = expect(
      callsTo('http://192.0.2.7', clock, undefined, environment).call({ path: '/' }),
    ).rejects.toThrow();
    await clock.advance(15_000);
    await failed;
    expect(seen).toEqual([]);
  });

  test.each([
    [
      'socks5://u:canary@p',
      /^the environment names a proxy with socks5:\/\/ in HTTP_PROXY; only http:\/\/ or https:\/\/ can be used$/,
    ],
    ['http://canary canary', /^the environment has no valid proxy address in HTTP_PROXY$/],
  ])('%s is refused in one sentence', async (address, sentence) => {
    const { failed } = await throughProxy(() => ({ HTTP_PROXY: address }));
    expect(failed).toMatch(sentence);
    expect(failed).not.toContain('canary');
  });
});

describe('a call without an answer is one sentence', () => {
  test('when nothing listens', async () => {
    const server = 'http://127.0.0.1:1';
    await expect(callsTo(server).call({ path: '/' })).rejects.toThrow(
      `nothing answers at ${server}: the connection is refused`,
    );
  });

  test('when the name is unknown', async () => {
    const calls = callsTo('http://gatehouse.invalid');
    await expect(calls.call({ path: '/' })).rejects.toThrow('the name in http://gatehouse.invalid cannot be resolved');
  });

  test('when the server is silent for 15 s', async () => {
    const clock = new FakeClock();
    const server = `http://127.0.0.1:${await serveRaw()}`;
    const answered = expect(callsTo(server, clock).call({ path: '/' })).rejects.toThrow(
      `${server} does not answer within 15 s`,
    );
    await clock.advance(15_000);
    await answered;
  });

  test('when the connection breaks', async () => {
    const server = `http://127.0.0.1:${await serveRaw('')}`;
    await expect(callsTo(server).call({ path: '/' })).rejects.toThrow(`the connection to ${server} broke`);
  });

  test('when the server speaks something else', async () => {
    const port = await serveRaw('220 mail.example.com ESMTP\r\n');
    await expect(callsTo(`http://127.0.0.1:${port}`).call({ path: '/' })).rejects.toThrow('does not speak HTTP');
    await expect(callsTo(`https://127.0.0.1:${port}`).call({ path: '/' })).rejects.toThrow('does not speak TLS');
  });

  test('when the answer is too long', async () => {
    const port = await serve((_, response) => {
      response.on('error', () => {});
      response.end('x'.repeat(1_000_000));
    });
    await expect(callsTo(`http://127.0.0.1:${port}`).call({ path: '/' })).rejects.toThrow(
      'sends an answer that is too large',
    );
  });
});

describe('the certificate of the server', () => {
  const certificate = selfSigned('gatehouse.test');
  const front = async (context = certificate) => {
    const { url, port, stop } = await startTlsFront(await serve((_, response) => void response.end()), context);
    atEnd(stop);
    return { url, port };
  };

  test('is checked with the given authority', async () => {
    const { url } = await front();
    expect((await callsTo(url, systemClock, certificate.cert).call({ path: '/' })).status).toBe(200);
  });

  test('K-07 is not trusted without', async () => {
    const { url } = await front();
    const sentence = `the certificate of ${url} is not trusted: name its authority with --certificate-authority FILE`;
    await expect(callsTo(url).call({ path: '/' })).rejects.toThrow(sentence);
    await expect(callsTo(url, systemClock, selfSigned('other').cert).call({ path: '/' })).rejects.toThrow(sentence);
  });

  test('K-07 is not trusted whatever the environment says, and is sent nothing', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    atEnd(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    });
    const seen: string[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url ?? '');
      response.end();
    });
    const { url, stop } = await startTlsFront(port, certificate);
    atEnd(stop);
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const call = { path: '/oauth/token', form: { password: 'made-up' } };
    await expect(callsTo(url).call(call)).rejects.toThrow('is not trusted');
    await expect(
      callsTo(url.replace('127.0.0.1', 'localhost'), systemClock, certificate.cert).call(call),
    ).rejects.toThrow('is for another name');
    expect(seen).toEqual([]);
  });

  test('K-07 is not trusted for another name, or when it has expired', async () => {
    const { port } = await front();
    await expect(
      callsTo(`https://localhost:${port}`, systemClock, certificate.cert).call({ path: '/' }),
    ).rejects.toThrow(`the certificate of https://localhost:${port} is for another name`);
    const old = selfSigned('gatehouse.test', { notAfter: new Date('2024-01-01') });
    const { url } = await front(old);
    await expect(callsTo(url, systemClock, old.cert).call({ path: '/' })).rejects.toThrow(`${url} has expired`);
  });
});
