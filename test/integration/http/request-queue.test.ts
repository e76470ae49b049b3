import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Identity } from '../../../src/oauth/tokens/identity.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { atEnd } from '../../support/at-end.ts';
import { nextEvent } from '../../support/next-event.ts';
import { startApp } from './app-under-test.ts';

const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const CONNECTIONS = 20;

test('R-26 in a busy loop a request is decided before those of a user who sent many, and all are answered', async () => {
  const decided: string[] = [];
  let ms = 0;
  const app = await startApp({
    clock: { ...systemClock, monotonic: () => (ms += 2) }, // every turn of the loop is a long one
    loopLoad: () => 1,
    verifier: {
      verify: (name) => ({ identity: { name, uid: name, groups: [] as string[] } as Identity, cached: true }),
    },
    authorizer: {
      authorize: ({ name }) => {
        decided.push(name);
        return { allowed: true, source: 'cache' };
      },
    },
  });
  atEnd(() => app.stop());
  const open = async (name: string) => {
    const socket = connect(app.port, '127.0.0.1');
    await once(socket, 'connect');
    const ask = () => void socket.write(`GET ${NODES} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${name}\r\n\r\n`);
    return { ask, answer: () => nextEvent(socket, 'data').finally(() => socket.destroy()) };
  };
  await app.get(NODES, { headers: { Authorization: 'Bearer ann' } }); // nobody is alone
  for (let turn = 0; turn < 6; turn++) await app.get(NODES);
  const clients = [];
  for (let index = 0; index < CONNECTIONS; index++) clients.push(await open('joe'));
  clients.push(await open('ann'));
  decided.length = 0;
  const answers = clients.map(({ answer }) => answer());
  for (const { ask } of clients) ask();
  // All requests are with the server's kernel before its event loop looks: a busy kernel delivers on loopback a moment later.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  for (const [bytes] of await Promise.all(answers)) expect(String(bytes)).toMatch(/^HTTP\/1.1 200 OK/);
  expect(decided).toEqual(['joe', 'ann', ...Array<string>(CONNECTIONS - 1).fill('joe')]);
});
