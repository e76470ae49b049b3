import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import type { Target } from '../../../../bench/load/connection.ts';
import { runArrivals, runStay } from '../../../../bench/load/people.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<Target> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, headers: {} };
}

const pair = (nth: number) => ({ access_token: `access-${nth}`, refresh_token: `refresh-${nth}` });
const PLAN = {
  pairs: [pair(0), pair(0)],
  refresh: { method: 'POST', path: '/token', body: 'grant_type=refresh_token' },
  watchPath: '/watch',
  listPath: '/list',
  callPath: '/call',
  everyMs: { list: 10, call: 10, refresh: 10 },
  stayMs: 60,
};

describe('people', () => {
  test('sign in again after a 429, each at the next replica', async () => {
    const seen: string[] = [];
    const replica = (name: string): Promise<Target> =>
      serve((_, response) => {
        seen.push(name);
        if (seen.length === 1) response.writeHead(429).end();
        else response.end(JSON.stringify(pair(seen.length)));
      });
    const replicas = [await replica('one'), await replica('two')];
    const signIn = { method: 'POST', path: '/token', body: 'grant_type=password' };
    const { pairs } = await runArrivals({ replicas, signIns: [signIn, signIn, signIn] });
    expect(pairs).toHaveLength(3);
    expect(seen.filter((name) => name === 'one').length).toBe(3); // one of its two people tried twice
  });

  test('reject when a sign-in is refused', async () => {
    const replicas = [await serve((_, response) => response.writeHead(401).end())];
    await expect(runArrivals({ replicas, signIns: [{ path: '/token' }] })).rejects.toThrow('a sign-in answered 401');
  });

  test('use the tokens of the last refresh, and report every status and the watches that ended early', async () => {
    let rotations = 0;
    const used = new Set<string | null>();
    const bearers = new Set<string | undefined>();
    const replica = (endsWatches: boolean): RequestListener => {
      return (request, response) => {
        if (request.url === '/watch') return endsWatches ? response.end() : response.write('{}');
        if (request.url === '/call') return response.writeHead(403).end();
        if (request.url === '/list') {
          bearers.add(request.headers.authorization);
          return response.end('{}');
        }
        return void text(request).then((body) => {
          used.add(new URLSearchParams(body).get('refresh_token'));
          response.end(JSON.stringify(pair(++rotations)));
        });
      };
    };
    const replicas = [await serve(replica(false)), await serve(replica(true))];
    const { statuses, lostWatches } = await runStay({ ...PLAN, replicas });
    expect(Object.keys(statuses)).toEqual(['200', '403']);
    expect(used.size).toBe(rotations - 1); // both begin with the same token, and use no other twice
    expect(bearers).toContain('Bearer access-1');
    expect(lostWatches).toBe(1);
  });
});
