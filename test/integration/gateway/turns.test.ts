import { expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { requestOf, startGateway, stopped } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

test('while the event loop is busy a call gives way to other requests, and is sent 10 ms later at the latest', async () => {
  const clock = new FakeClock();
  const app = await startGateway({ clock, loopLoad: () => 1 });
  const waiting = () => app.metric('gatehouse_gateway_requests_waiting');
  const client = await RawConnection.open(app.port);
  client.socket.write(requestOf('GET /api/v1/pods'));
  await expect.poll(() => app.upstream.requests.length).toBe(1); // nobody else had asked
  expect(await app.raw(requestOf('GET /version'))).toMatch(/^HTTP\/1.1 200/);
  const second = await RawConnection.open(app.port);
  second.socket.write(requestOf('GET /api/v1/services'));
  await expect.poll(() => waiting()).toBe(1);
  expect(app.upstream.requests.length).toBe(1);
  await clock.advance(10);
  await second.until(/HTTP\/1.1 200/);
  expect([app.upstream.requests.length, await waiting()]).toEqual([2, 0]);
  for (const { socket } of [client, second]) socket.destroy();
  await stopped(app, clock);
});
