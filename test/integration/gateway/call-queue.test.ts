import { expect, test } from 'vitest';
import type { Verification } from '../../../src/oauth/tokens/identity.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { answerOf } from '../../support/recording-upstream.ts';
import { ALICE, type GatewayUnderTest, requestOf, startGateway, stopped } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

/** A gateway in a busy loop, in front of a cluster that answers when it is told to. */
async function startBusy() {
  const clock = new FakeClock();
  const app = await startGateway({ clock, loopLoad: () => 1 });
  const held: (() => boolean)[] = [];
  app.upstream.answer = ({ socket }) => {
    held.push(() => socket.write(answerOf('403 Forbidden', '')));
    return undefined;
  };
  for (const name of ['joe', 'eve', 'ann'])
    app.bearers.set(name, { identity: { ...ALICE, name, uid: name }, cached: true } satisfies Verification);
  const sent = (): string[] =>
    app.upstream.requests.map(({ line }) => line.split(' ')[1]?.replace('/api/v1/', '') ?? '');
  return { clock, app, held, sent, waiting: () => app.metric('gatehouse_gateway_requests_waiting') };
}

const callOf = (user: string, path: string): string =>
  requestOf(`GET /api/v1/${path}`).replace('Bearer good', `Bearer ${user}`);

async function open(app: GatewayUnderTest, request: string): Promise<RawConnection> {
  const connection = await RawConnection.open(app.port);
  connection.socket.write(request);
  return connection;
}

/** Something else is asked, as probes and lists do all the time. */
const ask = async (app: GatewayUnderTest): Promise<void> =>
  void expect(await app.raw(requestOf('GET /version'))).toMatch(/^HTTP\/1.1 200/);

test('while the event loop is busy a call waits for the one before it, and is sent 10 ms later at the latest', async () => {
  const { clock, app, sent, waiting } = await startBusy();
  const first = await open(app, callOf('joe', 'pods'));
  await expect.poll(() => sent()).toEqual(['pods']); // nobody else had asked
  await ask(app);
  const second = await open(app, callOf('joe', 'services'));
  await expect.poll(() => waiting()).toBe(1);
  expect(sent()).toEqual(['pods']);
  await clock.advance(10);
  await expect.poll(() => sent()).toEqual(['pods', 'services']);
  expect(await waiting()).toBe(0);
  for (const { socket } of [first, second]) socket.destroy();
  await stopped(app, clock);
});

test('G-22 a call is sent before those of users who have many, who take turns', async () => {
  const { clock, app, held, sent, waiting } = await startBusy();
  await ask(app);
  const clients: RawConnection[] = [];
  let asked = 0;
  const call = async (user: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time++) clients.push(await open(app, callOf(user, `${user}-${time}`)));
    asked += times;
    await expect.poll(async () => (await waiting()) + sent().length).toBe(asked);
  };
  await call('joe', 20);
  await call('eve', 3);
  await call('ann', 1);
  expect(sent()).toEqual(['joe-0', 'eve-0', 'ann-0']);
  for (let turn = 1; turn <= 4; turn++) {
    for (const ms of [4, 4, 2]) {
      await ask(app); // others never stop for 5 ms
      await clock.advance(ms);
    }
    await expect.poll(() => sent().length).toBe(3 + turn);
  }
  expect(sent().slice(3)).toEqual(['joe-1', 'eve-1', 'joe-2', 'eve-2']);
  held[2]?.(); // the cluster refuses Ann, which costs her no turn
  await expect.poll(() => app.events.length).toBe(1);
  clients.push(await open(app, callOf('ann', 'ann-1')));
  await expect.poll(() => sent().at(-1)).toBe('ann-1');
  for (const { socket } of clients) socket.destroy();
  await stopped(app, clock);
});

test('G-22 calls whose clients have gone are not sent, and nobody waits for them', async () => {
  const { clock, app, sent, waiting } = await startBusy();
  await ask(app);
  const clients: RawConnection[] = [];
  for (let time = 0; time < 5; time++) clients.push(await open(app, callOf('joe', `joe-${time}`)));
  await expect.poll(() => waiting()).toBe(4);
  for (const { socket } of clients.slice(1)) socket.destroy();
  await expect.poll(() => waiting()).toBe(0);
  const last = await open(app, callOf('joe', 'last'));
  await expect.poll(() => waiting()).toBe(1);
  await clock.advance(10);
  await expect.poll(() => sent()).toEqual(['joe-0', 'last']);
  for (const { socket } of [...clients, last]) socket.destroy();
  await stopped(app, clock);
});
