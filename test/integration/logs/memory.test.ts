import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { foundBody, hit } from '../../support/logs/canned-store.ts';
import { nextEvent } from '../../support/next-event.ts';
import { LOGS, type LogsUnderTest, startOwnLogs, startOwnStore } from './logs-under-test.ts';

const MIB = 2 ** 20;
/** Four of these have room beside each other, five have not; one alone is not too long. */
const LARGE = 14 * MIB;
const AT_ONCE = 5;
const MESSAGE = 'Too many large log queries at once, please try again later.';

test('refuses the answer that has no room beside those that come in from the store', async () => {
  const store = await startOwnStore(({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(' '.repeat(LARGE));
    return undefined;
  });
  const logs = await startOwnLogs({ logging: { host: store.url } });
  const early: number[] = [];
  const asked = Array.from({ length: AT_ONCE }, () => logs.ask().then(({ status }) => early.push(status)));
  await expect.poll(() => early).toEqual([429]);
  for (const { response } of store.asked) response.end(JSON.stringify(foundBody([])));
  await Promise.all(asked);
  expect(early).toEqual([429, ...Array(AT_ONCE - 1).fill(200)]);
});

test('refuses the answer that has no room beside those that clients have not taken', async () => {
  const store = await startOwnStore(() => ({ body: foundBody([hit(1, 'x'.repeat(LARGE))]) }));
  const logs = await startOwnLogs({ logging: { host: store.url } });
  const readers = [];
  for (let at = 1; at < AT_ONCE; at++) readers.push(await takeTheBeginning(logs));
  const { status, body, headers } = await logs.ask();
  expect([status, body.message, headers.get('retry-after')]).toEqual([429, MESSAGE, '1']);
  for (const reader of readers) reader.destroy();
  await expect.poll(async () => (await logs.ask()).status).toBe(200);
});

/** A client that reads the first bytes of the answer and then no more. */
async function takeTheBeginning({ service, token }: LogsUnderTest) {
  const socket = connect({ host: '127.0.0.1', port: service.gatehouse.port });
  atEnd(() => socket.destroy());
  socket.write(`GET ${LOGS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  const [beginning] = await nextEvent(socket, 'data');
  socket.pause();
  expect(String(beginning)).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}
