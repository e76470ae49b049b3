import { once } from 'node:events';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../../src/http/app.ts';
import { createMetricsServer } from '../../../src/http/connection/metrics-server.ts';
import { createHttpServer } from '../../../src/http/connection/server.ts';
import { createMetricRegistry, createThreadpoolProbe } from '../../../src/observability/metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { nextEvent } from '../../support/next-event.ts';
import { appParts, eventually, type LogLine, rawExchange } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const OPTIONS = { address: '127.0.0.1', port: 0, shutdownDelayMs: 15_000, drainMs: 20_000 };

/** A server on a fake clock whose list waits for `finish`. */
async function startDraining(options = OPTIONS) {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  const log: string[] = [];
  let finish: () => void = () => {};
  const decided = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let asked = 0;
  const authorizer = {
    authorize: async () => {
      asked++;
      await decided;
      return { allowed: true, source: 'review' as const };
    },
  };
  const parts = appParts({ clock, authorizer, registry: new Registry() }, lines);
  const server = createHttpServer(options, createApp(parts), { ...parts, onDraining: () => log.push('not ready') });
  const { port } = await server.listen();
  const ending = new AbortController();
  const running = server.run(ending.signal).then(() => log.push('ended'));
  return { clock, log, port, ending, running, finish: () => finish(), asked: () => asked, lines };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`;

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

describe('R-07 the shutdown', () => {
  test('fails readiness, serves on, stops accepting, finishes what is in flight, ends', async () => {
    const { clock, log, port, ending, running, finish, asked, lines } = await startDraining();
    const inFlight = rawExchange(port, get(LIST));
    await eventually(() => asked() === 1);
    ending.abort();
    await clock.advance(14_999);
    expect(log).toEqual(['not ready']);
    expect(await rawExchange(port, get('/healthz'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
    await clock.advance(1);
    expect(await isRefused(port)).toBe(true);
    expect(log).toEqual(['not ready']);
    finish();
    expect(await inFlight).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
    await running;
    expect(log).toEqual(['not ready', 'ended']);
    const shutdown = lines.filter((line) => line.msg.startsWith('shutting down'));
    expect(shutdown.map((line) => line['server'])).toEqual(['api', 'api']);
  });

  test('closes connections that wait for a further request', async () => {
    const { clock, port, ending, running, finish } = await startDraining();
    finish();
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(get('/healthz'));
    await nextEvent(socket, 'data');
    const closed = once(socket, 'close');
    ending.abort();
    await clock.advance(15_000);
    await closed;
    await running;
  });

  test('gives a fresh connection a second for its first request', async () => {
    const { clock, port, ending, running, finish } = await startDraining();
    finish();
    const asking = connect(port, '127.0.0.1');
    const silent = connect(port, '127.0.0.1');
    await Promise.all([once(asking, 'connect'), once(silent, 'connect')]);
    await rawExchange(port, get('/healthz'), /ok$/); // the server has taken the two before it
    ending.abort();
    await clock.advance(15_000);
    const answered = nextEvent(asking, 'data');
    asking.write(get(LIST));
    expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 200 /);
    const closed = once(silent, 'close');
    await clock.advance(1_000);
    await closed;
    await running;
  });

  test('cuts what has not ended within the drain time', async () => {
    const { clock, port, ending, running, asked } = await startDraining({ ...OPTIONS, drainMs: 5_000 });
    const stuck = rawExchange(port, get(LIST));
    await eventually(() => asked() === 1);
    ending.abort();
    await clock.advance(15_000);
    await clock.advance(5_000);
    expect(await stuck).toBe('');
    await running;
  });

  test('needs no signal before it: an aborted one ends it at once', async () => {
    const { clock, ending, running, finish } = await startDraining({ ...OPTIONS, shutdownDelayMs: 0 });
    finish();
    ending.abort();
    await clock.advance(0);
    await running;
  });
});

describe('opening a port', () => {
  test('a taken port is one sentence', async () => {
    const first = await startDraining();
    const parts = appParts();
    const second = createHttpServer({ ...OPTIONS, port: first.port }, createApp(parts), {
      ...parts,
      onDraining: () => {},
    });
    await expect(second.listen()).rejects.toThrow(
      `cannot listen on port ${first.port} of 127.0.0.1: another program is using it`,
    );
    first.finish();
    first.ending.abort();
    await first.clock.advance(15_000);
    await first.running;
  });

  test('an address of another machine is one sentence', async () => {
    const parts = appParts();
    const server = createHttpServer({ ...OPTIONS, address: '192.0.2.1' }, createApp(parts), {
      ...parts,
      onDraining: () => {},
    });
    await expect(server.listen()).rejects.toThrow('this machine has no such address');
  });
});

describe('the metrics port', () => {
  async function withMetrics(use: (url: string) => Promise<void>): Promise<void> {
    const registry = createMetricRegistry({ version: '0.4.0', gitCommit: 'abc', nodeVersion: 'v26.1.0' });
    const parts = appParts({ registry });
    const server = createMetricsServer({ ...OPTIONS, shutdownDelayMs: 0 }, parts);
    const { port } = await server.listen();
    const ending = new AbortController();
    const running = server.run(ending.signal);
    try {
      await use(`http://127.0.0.1:${port}`);
    } finally {
      ending.abort();
      await running;
    }
  }

  test('serves Prometheus text, or OpenMetrics by Accept', async () => {
    await withMetrics(async (url) => {
      const plain = await fetch(`${url}/metrics`);
      expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      const text = await plain.text();
      expect(text).toContain('gatehouse_build_info{version="0.4.0",commit="abc",node_version="v26.1.0"} 1\n');
      expect(text).toContain('\n# TYPE process_cpu_user_seconds_total counter\n');
      const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3';
      const open = await fetch(`${url}/metrics`, { headers: { Accept: accept } });
      expect(open.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
      const openText = await open.text();
      expect(openText).toContain('\n# TYPE process_cpu_user_seconds counter\n');
      expect(openText).toMatch(/\n# EOF\n$/);
      expect(await (await fetch(`${url}/metrics`)).text()).toContain('# TYPE process_cpu_user_seconds_total counter');
    });
  });

  test('serves nothing else', async () => {
    await withMetrics(async (url) => {
      for (const path of ['/', '/healthz', '/version', LIST]) expect((await fetch(url + path)).status).toBe(404);
      const answer = await fetch(`${url}/metrics`, { method: 'POST' });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      const head = await fetch(`${url}/metrics`, { method: 'HEAD' });
      expect(await head.text()).toBe('');
    });
  });
});

describe('the thread pool probe', () => {
  test('measures once a second until it is told to stop', async () => {
    const clock = new FakeClock();
    const registry = new Registry();
    const stop = new AbortController();
    const running = createThreadpoolProbe(registry, clock).run(stop.signal);
    const count = async (): Promise<number> => {
      const text = await registry.getSingleMetricAsString('gatehouse_threadpool_delay_seconds');
      return Number(/_count (\d+)/.exec(text)?.[1]);
    };
    for (let measured = 1; measured <= 3; measured++) {
      await eventually(() => clock.pendingTimers === 1);
      expect(await count()).toBe(measured);
      await clock.advance(1_000);
    }
    stop.abort();
    await running;
  });
});
