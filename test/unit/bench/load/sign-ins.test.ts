import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { runSamples } from '../../../../bench/load/callers.ts';
import type { Target } from '../../../../bench/load/connection.ts';
import { runRefreshes, runSignIns } from '../../../../bench/load/sign-ins.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function serve(listener: RequestListener): Promise<Target> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return { port: (started.address() as AddressInfo).port, headers: {} };
}

const ask = (body: string) => ({ method: 'POST', path: '/token', body });

describe('a flood of sign-ins', () => {
  test('takes every answer, keeps refresh tokens, and has an address for each connection', async () => {
    const sources = new Set<unknown>();
    const target = await serve((request, response) => {
      sources.add(request.headers['x-forwarded-for']);
      void text(request).then((body) => {
        if (body === 'right') response.end('{"refresh_token":"r-1"}');
        else response.writeHead(body === 'wrong' ? 400 : 429).end('{}');
      });
    });
    const asks = [ask('right'), ask('wrong'), ask('too often')];
    const report = await runSignIns({ target, asks, connections: 3, measureMs: 50 });
    expect(Object.keys(report.statuses)).toEqual(['200', '400', '429']);
    expect(report.refreshTokens).toHaveLength(report.statuses['200'] ?? 0);
    expect([...sources].sort()).toEqual(['198.18.0.0', '198.18.0.1', '198.18.0.2']);
  });
});

describe('refreshes', () => {
  test('each use the token of the answer before, ten at most, and count from the second on', async () => {
    const seen: string[] = [];
    const target = await serve((request, response) => {
      void text(request).then((body) => {
        const token = new URLSearchParams(body).get('refresh_token') ?? '';
        seen.push(token);
        const [session = '', generation] = token.split('-');
        const next = `${session}-${Number(generation) + 1}`;
        response.end(JSON.stringify({ access_token: `access-${next}`, refresh_token: next }));
      });
    });
    const plan = { ask: ask('grant_type=refresh_token'), rotations: 10, connections: 2, measureMs: 60_000 };
    const report = await runRefreshes({ ...plan, target, refreshTokens: ['a-0', 'b-0', 'c-0'] });
    const expected = ['a', 'b', 'c'].flatMap((session) => Array.from({ length: 10 }, (_, nth) => `${session}-${nth}`));
    expect(seen.sort()).toEqual(expected);
    expect([report.accessTokens.length, report.accessTokens.includes('access-a-10')]).toEqual([30, true]);
    expect(report.refreshes).toBeGreaterThanOrEqual(27); // one connection may begin to count while the other warms up
  });

  test('fail on an answer other than 200', async () => {
    const target = await serve((_, response) => response.writeHead(429).end('{}'));
    const plan = { target, ask: ask(''), refreshTokens: ['a'], rotations: 10, connections: 1, measureMs: 60_000 };
    await expect(runRefreshes(plan)).rejects.toThrow('a refresh answered 429');
  });
});

describe('samples', () => {
  test('are sent one after the other in their order, each timed', async () => {
    const paths: unknown[] = [];
    const target = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(400).end('{}');
    });
    const asks = ['/1', '/2', '/3'].map((path) => ({ path }));
    const { latenciesMs } = await runSamples({ target, asks, status: 400 });
    expect([paths, latenciesMs.length]).toEqual([['/1', '/2', '/3'], 3]);
    await expect(runSamples({ target, asks, status: 200 })).rejects.toThrow('answered 400 instead of 200');
  });
});
